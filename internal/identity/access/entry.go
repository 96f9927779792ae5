package access

import (
	"net/http"
	"time"
)

// Actions of the audit log.
const (
	ActionSignIn     = "signIn"
	ActionSignInFail = "signInFailed"
	ActionSignOut    = "signOut"
	ActionPassword   = "password"
	ActionConference = "readConference"
	ActionSearch     = "search"
	ActionUnattached = "readUnattached"
	ActionApp        = "changeApp"
	ActionUser       = "changeUser"
	ActionToken      = "changeToken"
	ActionRefused    = "refused"
)

// Entry is one line of the audit log.
type Entry struct {
	At     time.Time
	Actor  string
	Action string
	AppID  string
	Target string
	Body   map[string]any // further members
}

// RequestTarget names a request in the audit log: its method and path, without the query, which may have names of users.
func RequestTarget(r *http.Request) string { return r.Method + " " + r.URL.Path }
