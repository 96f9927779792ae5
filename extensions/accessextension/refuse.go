package accessextension

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/jsonapi"
)

// Refuse answers a request whose need the visitor does not meet: pages lead to sign-in, APIs get
// 401 or 403. A nil visitor is nobody. It records the refusal of a user or of a valid token.
func (k *keeper) Refuse(w http.ResponseWriter, r *http.Request, v *access.Visitor) {
	page := r.URL.Path != "/mcp" && !strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/assets/") && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case v == nil:
		k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("no_login"))
		if page {
			http.Redirect(w, r, "/signin?"+url.Values{"to": {local(r.URL.RequestURI())}}.Encode(), http.StatusSeeOther)
			return
		}
		refuse(w, r, http.StatusUnauthorized, "Sign in first: there is no login, or it has ended.")
	case v.Token:
		k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("role"))
		k.Refused(r.Context(), v, "", access.RequestTarget(r), "token")
		refuse(w, r, http.StatusForbidden, "An API token is for the read API only.")
	case v.MustChange:
		k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("must_change"))
		if page {
			http.Redirect(w, r, "/password", http.StatusSeeOther)
			return
		}
		refuse(w, r, http.StatusForbidden, "The password must be changed first.")
	default:
		k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("role"))
		k.Refused(r.Context(), v, "", access.RequestTarget(r), "role")
		if page {
			k.show(w, http.StatusForbidden, "denied", denied(r, v))
			return
		}
		refuse(w, r, http.StatusForbidden, "Your roles do not permit this.")
	}
}

func denied(r *http.Request, v *access.Visitor) page {
	return page{
		Title: "Not permitted", User: v.ShownName(), Form: access.FormToken(access.ReadCookie(r, access.LoginCookie)),
		Error: "Your roles do not permit this page. " + needText(r.URL.Path), Settings: access.Settings.Allows(v),
	}
}

// needText names the roles that a page is for.
func needText(path string) string {
	need, _ := access.NeedOf("GET " + path)
	switch need {
	case access.Settings:
		return "Settings are for the role admin."
	case access.Installation:
		return "This page is for the role admin with all apps in scope."
	}
	return "Calls are for the roles support and engineering."
}

// CrossSite answers a request that another site's page sent.
func (k *keeper) CrossSite(w http.ResponseWriter, r *http.Request) {
	k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("cross_site"))
	refuse(w, r, http.StatusForbidden, "The request comes from a page of another site.")
}

// RefuseError answers a request for which Visitor returned an error: the login cannot be read, or the
// token is refused.
func (k *keeper) RefuseError(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *access.Refusal
	w.Header().Set("Cache-Control", "no-store")
	if !errors.As(err, &refusal) {
		refuse(w, r, http.StatusServiceUnavailable, textStore)
		return
	}
	k.telemetry.QosaccessRejectedRequests.Add(r.Context(), 1, reason("token"))
	if refusal.Wait > 0 {
		retryAfter(w, refusal.Wait)
	}
	if refusal.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`) // RFC 6750, section 3
	}
	refuse(w, r, refusal.Status, refusal.Text)
}

// refuse writes a refusal in the form of the read API, or of the management API.
func refuse(w http.ResponseWriter, r *http.Request, status int, text string) {
	if strings.HasPrefix(r.URL.Path, "/api/v1/") {
		jsonapi.NewProblem(status, "%s", text).Write(w)
		return
	}
	body, _ := json.Marshal(map[string]any{"error": map[string]string{"message": text}}) // texts only: it does not fail
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client has left
}

// session answers who is signed in, and with what the forms of the pages are sent.
func (k *keeper) session(w http.ResponseWriter, r *http.Request) {
	v := access.From(r.Context())
	body, _ := json.Marshal(map[string]any{ // texts only: it does not fail
		"user": v.Name, "name": v.ShownName(), "roles": v.Roles, "scope": v.Scope, "mustChange": v.MustChange,
		"form": access.FormToken(access.ReadCookie(r, access.LoginCookie)),
	})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(body) // the client has left
}
