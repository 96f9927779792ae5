package agent

import "net/http"

// Reason says in one word why a request was answered as it was.
type Reason string

// The reasons, with the status that each goes with.
const (
	ReasonOK          Reason = "ok"             // 200
	ReasonMethod      Reason = "method"         // 405
	ReasonOrigin      Reason = "origin"         // 403, no Origin header of the list
	ReasonBody        Reason = "body"           // 400, not the JSON it may be
	ReasonType        Reason = "content_type"   // 415
	ReasonTooLarge    Reason = "too_large"      // 413
	ReasonNotLoggedIn Reason = "not_logged_in"  // 403
	ReasonOtherUser   Reason = "other_user"     // 403, the page asks for somebody else
	ReasonWho         Reason = "who"            // 500, Who failed
	ReasonUserID      Reason = "invalid_userid" // 500, Who named nobody that can be named
	ReasonSign        Reason = "sign"           // 500
	ReasonOverloaded  Reason = "overloaded"     // 503
)

// Reasons returns every Reason, so that metrics can start at zero.
func Reasons() []Reason {
	return []Reason{
		ReasonOK, ReasonMethod, ReasonOrigin, ReasonBody, ReasonType, ReasonTooLarge, ReasonNotLoggedIn,
		ReasonOtherUser, ReasonWho, ReasonUserID, ReasonSign, ReasonOverloaded,
	}
}

// problem is an answer without a token. text goes to the page and holds nothing that came
// from elsewhere; err goes to Options.Report.
type problem struct {
	status int
	reason Reason
	text   string
	err    error
}

// failed is a token that could not be made.
func failed(reason Reason, err error) *problem {
	return &problem{http.StatusInternalServerError, reason, "cannot make a token", err}
}
