package agent

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxAge is how long a browser keeps the answer to a preflight, in seconds.
const maxAge = "600"

// CheckOrigin reports what keeps a text from being a web origin as browsers write it.
func CheckOrigin(origin string) error {
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Host == "" || u.Scheme == "":
		return errors.New("must be scheme://host, with :port unless it is the scheme's own")
	case u.Scheme+"://"+u.Host != origin || u.Host != strings.ToLower(u.Host):
		return errors.New("must be no more than scheme://host:port, in lower case")
	case u.Scheme == "https" && u.Port() == "443", u.Scheme == "http" && u.Port() == "80":
		return fmt.Errorf("must leave out :%s, as browsers do", u.Port())
	case strings.Contains(u.Host, "*"):
		return errors.New("must be exact; there are no wildcards")
	}
	return nil
}

// admit checks method and origin. Browsers send Origin with each POST, so a request
// without one is no page's, and what another site's page sends is refused before anybody is
// asked who is logged in.
func (h *Handler) admit(w http.ResponseWriter, r *http.Request) *problem {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", h.methods())
		return &problem{http.StatusMethodNotAllowed, ReasonMethod, "POST only", nil}
	}
	if len(h.options.Origins) == 0 {
		return nil
	}
	w.Header().Set("Vary", "Origin")
	if !h.allowed(r) {
		return &problem{http.StatusForbidden, ReasonOrigin, "this origin may not ask for tokens", nil}
	}
	allowOrigin(w, r)
	return nil
}

// allowed reports whether the request has one Origin header, and of the list.
func (h *Handler) allowed(r *http.Request) bool {
	origin := r.Header["Origin"]
	return len(origin) == 1 && slices.Contains(h.options.Origins, origin[0])
}

// allowOrigin lets the page read the answer, cookies included.
func allowOrigin(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
	w.Header().Set("Access-Control-Allow-Credentials", "true")
}

func (h *Handler) methods() string {
	if len(h.options.Origins) == 0 {
		return http.MethodPost
	}
	return http.MethodPost + ", " + http.MethodOptions
}

// preflight answers a CORS preflight from a known origin and reports whether it did.
func (h *Handler) preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || len(h.options.Origins) == 0 {
		return false
	}
	w.Header().Set("Vary", "Origin")
	if !h.allowed(r) {
		return false
	}
	allowOrigin(w, r)
	w.Header().Set("Access-Control-Allow-Methods", http.MethodPost)
	w.Header().Set("Access-Control-Allow-Headers", "Content-Type, Authorization")
	w.Header().Set("Access-Control-Max-Age", maxAge)
	w.WriteHeader(http.StatusNoContent)
	return true
}
