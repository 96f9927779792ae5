// Package auth holds the server's half of the handshake: the SCRAM-SHA-256
// conversation without state between its two POSTs, origin allow-lists and session
// tokens. It does no I/O and takes the time as an argument.
package auth

import (
	"time"

	"github.com/qosrtc/qos/protocol"
)

// Keys are the secrets of one installation, all derived from its master key.
type Keys struct{ seal, token, salt []byte }

// NewKeys derives the keys from a master key of at least 32 bytes.
func NewKeys(master []byte) (*Keys, error) { return &Keys{}, nil }

// Registry finds an app.
type Registry interface {
	App(id string) (App, bool)
}

// Identity is what a session token proves.
type Identity struct {
	AppID     string
	User      protocol.UserID
	Origin    string // of the POST that got the token; empty when it had none
	ExpiresAt time.Time
}

// Authenticator answers handshakes and checks tokens. Safe for concurrent use.
type Authenticator struct {
	keys     *Keys
	registry Registry
}

// New returns an authenticator for the apps of registry.
func New(keys *Keys, registry Registry) *Authenticator {
	return &Authenticator{keys: keys, registry: registry}
}

// ScramFirst answers the first POST.
func (a *Authenticator) ScramFirst(req *protocol.ScramFirst, origin string, now time.Time) (protocol.ScramReply, *protocol.Error) {
	return protocol.ScramReply{}, &protocol.Error{Code: protocol.CodeAuthFailed}
}

// ScramFinal answers the second POST.
func (a *Authenticator) ScramFinal(req *protocol.ScramFinal, origin string, now time.Time) (protocol.TokenReply, Identity, *protocol.Error) {
	return protocol.TokenReply{}, Identity{}, &protocol.Error{Code: protocol.CodeAuthFailed}
}

// Token checks a session token: CodeTokenExpired, CodeAuthFailed or CodeOriginDenied.
func (a *Authenticator) Token(token, origin string, now time.Time) (Identity, *protocol.Error) {
	return Identity{}, &protocol.Error{Code: protocol.CodeAuthFailed}
}
