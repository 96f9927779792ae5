package openid

import "fmt"

// Kind says what somebody can do about a failure.
type Kind string

// The kinds of failures.
const (
	// Away: the provider does not answer, or too slowly, or with an error of its own. It may pass.
	Away Kind = "away"
	// Setup: provider and collector are not configured for each other.
	Setup Kind = "setup"
	// Denied: the provider did not sign the user in.
	Denied Kind = "denied"
	// Stale: the code was used or is too old. The user begins again.
	Stale Kind = "stale"
	// Clock: the ID token is too old, or of the future.
	Clock Kind = "clock"
	// Invalid: the answer is not one that the provider gives to this sign-in.
	Invalid Kind = "invalid"
)

// Failure is an error of a sign-in. Its text has no secret: no code, no token and no state.
type Failure struct {
	Kind  Kind
	Stage string // discovery, authorization, exchange, token or userinfo
	Err   error
}

// Error implements error.
func (f *Failure) Error() string { return f.Stage + ": " + f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func failure(kind Kind, stage, format string, args ...any) *Failure {
	return &Failure{Kind: kind, Stage: stage, Err: fmt.Errorf(format, args...)}
}

// quoted returns a text of the provider for an error: bounded and in quotes.
func quoted(text string) string {
	const most = 200
	if len(text) > most {
		text = text[:most]
	}
	return fmt.Sprintf("%q", text)
}
