package auth

import (
	"cmp"
	"time"

	"github.com/qosrtc/qos/protocol"
)

// Method is how the user of a decision authenticates.
type Method string

// The methods.
const (
	MethodScram Method = "scram" // the second POST of a handshake with an app secret
	MethodJWT   Method = "jwt"   // the POST with a third-party token
	MethodToken Method = "token" // a session token in hello or in a request of the configuration
	MethodOpen  Method = "open"  // the session token of an open connection, verified again after the registry changed
)

// Reason says why a decision fell. Clients get its Code only.
type Reason string

// The reasons.
const (
	Granted Reason = "granted"

	ReasonAppUnknown     Reason = "app_unknown"
	ReasonAppDisabled    Reason = "app_disabled"
	ReasonOriginDenied   Reason = "origin_denied"   // not on the app's list
	ReasonOriginChanged  Reason = "origin_changed"  // not that of the token
	ReasonCredentialGone Reason = "credential_gone" //nolint:gosec // a word: the secret or key is not registered any more
	ReasonAppRevoked     Reason = "app_revoked"     // older than App.RevokedBefore
	ReasonUserRevoked    Reason = "user_revoked"    // older than App.RevokedUsers says
	ReasonExpired        Reason = "expired"

	ReasonStateBroken   Reason = "state_broken"
	ReasonStateOrigin   Reason = "state_origin" // the second POST came from another origin
	ReasonStateStale    Reason = "state_stale"
	ReasonStateReplayed Reason = "state_replayed"
	ReasonProofWrong    Reason = "proof_wrong"

	ReasonMalformed    Reason = "malformed" // no token, or not in the one form that is taken
	ReasonAlgorithm    Reason = "algorithm" // not that of the key
	ReasonKeyUnknown   Reason = "key_unknown"
	ReasonSignature    Reason = "signature"
	ReasonIssuer       Reason = "issuer" // signed by the installation, but no session token
	ReasonClaimApp     Reason = "claim_app"
	ReasonClaimUser    Reason = "claim_user"
	ReasonExpiredJWT   Reason = "jwt_expired"
	ReasonNotYet       Reason = "not_yet"  // before nbf or iat
	ReasonLifetime     Reason = "lifetime" // good once, but without an end or with one too far away
	ReasonJTIMissing   Reason = "jti_missing"
	ReasonJTIReplayed  Reason = "jti_replayed"
	ReasonSessionWrong Reason = "session_wrong" // the session id is not one of this token's identity
	ReasonInternal     Reason = "internal"

	// Any other reason is the code of a Check's refusal.
)

// Code is the part of a reason that a client gets.
func (r Reason) Code() protocol.Code {
	switch r {
	case ReasonOriginDenied, ReasonOriginChanged:
		return protocol.CodeOriginDenied
	case ReasonExpired, ReasonStateStale, ReasonStateReplayed: // a new handshake is all it takes
		return protocol.CodeTokenExpired
	case ReasonInternal:
		return protocol.CodeInternal
	}
	return protocol.CodeAuthFailed
}

// Decision is one line of the audit log. It holds no token, secret or proof. AppID, User
// and Origin are what was claimed; they are proved only as far as the reason says.
type Decision struct {
	Method     Method
	Reason     Reason
	AppID      string
	User       protocol.UserID
	Origin     string
	Credential Credential // empty where none was proved or claimed
	TokenID    string     // jti of the session token; empty where there is none
	JTI        string     // of the third-party token; empty where there is none

	scram  string    // the server's proof
	issued time.Time // of the token that is granted
	once   string    // what was used up of the third-party token
}

// messages are the texts of refusals. There is one for each code, so that none tells
// more than its code.
var messages = map[protocol.Code]string{
	protocol.CodeAuthFailed:   "the AppID or the secret is wrong, or the handshake or token is not valid any more",
	protocol.CodeOriginDenied: "this origin may not speak for this AppID",
	protocol.CodeTokenExpired: "the session token or the handshake has expired, authenticate again",
	protocol.CodeInternal:     "the server failed; its log says why",
}

func refused(code protocol.Code) *protocol.Error {
	return &protocol.Error{Code: code, Message: messages[code]}
}

// tell reports the decision and returns what the client gets of it; nil: granted.
func (a *Authenticator) tell(d Decision) *protocol.Error {
	a.audit(d)
	if d.Reason == Granted {
		return nil
	}
	return refused(d.Reason.Code())
}

// Check is asked last, about somebody who would be let in: what else speaks against it
// (there are too many, say); nil: nothing. It may take a place for them, which is theirs then.
type Check func(Identity) *protocol.Error

// ask asks the checks. A refusal of theirs is sent to the client as it is.
func (d *Decision) ask(checks []Check, id Identity) *protocol.Error {
	if d.Reason != Granted {
		return nil
	}
	for _, check := range checks {
		if refusal := check(id); refusal != nil {
			d.Reason = Reason(refusal.Code)
			return refusal
		}
	}
	return nil
}

// answer tells the decision of a handshake and makes the token of one that is granted.
func (a *Authenticator) answer(d Decision, now time.Time, checks []Check) (protocol.TokenReply, Identity, *protocol.Error) {
	identity := Identity{
		AppID: d.AppID, User: d.User, Origin: d.Origin, Credential: d.Credential, TokenID: newTokenID(),
		IssuedAt: d.issued, ExpiresAt: now.Add(protocol.TokenLifetime).Truncate(time.Second),
	}
	var token string
	if d.Reason == Granted {
		var err error
		d.TokenID = identity.TokenID
		if token, err = a.issue(identity); err != nil {
			d.Reason = ReasonInternal
		}
	}
	other := d.ask(checks, identity)
	if other != nil && d.once != "" {
		a.jtis.giveBack(d.AppID, d.once) // who has to wait comes again with the same token
	}
	if d.Reason != Granted {
		d.TokenID = "" // nobody gets it
	}
	if refusal := a.tell(d); refusal != nil {
		return protocol.TokenReply{}, Identity{}, cmp.Or(other, refusal)
	}
	return protocol.TokenReply{
		Scram: d.scram, Token: token, Session: a.keys.MintSession(identity, now),
		ExpiresInMs: protocol.TokenLifetime.Milliseconds(), At: now.UnixMilli(),
	}, identity, nil
}
