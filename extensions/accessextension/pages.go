package accessextension

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/identity/access"
)

//go:embed web
var web embed.FS

var (
	pages    = template.Must(template.ParseFS(web, "web/*.html"))
	style, _ = web.ReadFile("web/style.css") // embedded: it is there
)

// page is what the templates show.
type page struct {
	Title      string
	Error      string // of the last attempt
	ErrorID    string // of the error in the log
	Field      string // that the error is about
	Note       string
	Form       string // token
	Start      string // token of the link to the provider
	Provider   string // label of the identity provider; empty: none
	SignOutURL string // of the identity provider, after sign-out
	To         string // where to go after sign-in
	User       string
	Token      string // of a link
	First      bool   // the password must be changed
	Current    bool   // the present password is asked for
	Min        int    // characters of a new password
	Settings   bool   // a link to the settings is shown
}

// show writes a page.
func (k *keeper) show(w http.ResponseWriter, status int, name string, p page) {
	var body bytes.Buffer
	if err := pages.ExecuteTemplate(&body, name, p); err != nil {
		k.log.Error("a page cannot be written", zap.String("page", name), zap.Error(err))
		http.Error(w, "The page cannot be written.", http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(body.Bytes()) // the client has left
}

func showStyle(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(style) // the client has left
}

// formCookie returns the cookie of which the tokens of a page before sign-in are made. It gives the
// browser one.
func formCookie(w http.ResponseWriter, r *http.Request) string {
	cookie := access.ReadCookie(r, access.FormCookie)
	if access.Digest(cookie) == nil {
		cookie = access.NewToken()
		access.WriteCookie(w, r, access.FormCookie, cookie)
	}
	return cookie
}

// local returns where a sign-in leads to: a path of this server, else the start.
func local(to string) string {
	if !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n\t") || len(to) > 2000 || strings.HasPrefix(to, "/sign") {
		return "/"
	}
	return to
}

// retryAfter sets the header of an answer to an attempt that has to wait, and returns its text. An attempt after the
// time that both have is let in.
func retryAfter(w http.ResponseWriter, wait time.Duration) string {
	seconds := int((wait + time.Second - 1) / time.Second)
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	return fmt.Sprintf("There were too many failed attempts. Try again in %d seconds.", seconds)
}
