// Package auth holds the server's half of the handshake (docs/protocol.md, section 3):
// the SCRAM-SHA-256 conversation without state between its two POSTs, origin allow-lists
// and session tokens. It does no I/O and takes the time as an argument.
//
// Nothing tells from outside whether an AppID exists. An unknown one gets a salt of the
// same kind and the same iteration count, and fails at the second POST after the same
// work. For that reason origins are looked at only when the secret was proved: before,
// a refusal would say that the app exists.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"time"

	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/protocol"
)

// Registry finds an app. Its revision is another one after each change of any app.
type Registry interface {
	App(id string) (App, bool)
	Revision() uint64
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
	nobody   Verifier // of a secret that does not exist, for unknown apps
	used     usedStates
}

// New returns an authenticator for the apps of registry.
func New(keys *Keys, registry Registry) *Authenticator {
	return &Authenticator{
		keys: keys, registry: registry,
		nobody: Verifier{StoredKey: randomBytes(sha256.Size), ServerKey: randomBytes(sha256.Size)},
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// purposeScram is the additional data of sealed states.
const purposeScram = "qos 1 scram state"

// noBinding is how a client-first message without channel binding and authzid starts.
const noBinding = "n,,"

// ScramFirst answers the first POST. It refuses only what is no SCRAM message.
func (a *Authenticator) ScramFirst(req *protocol.ScramFirst, origin string, now time.Time) (protocol.ScramReply, *protocol.Error) {
	if len(origin) > MaxOriginBytes {
		return protocol.ScramReply{}, refused(protocol.CodeOriginDenied)
	}
	if !strings.HasPrefix(req.Scram, noBinding) {
		return protocol.ScramReply{}, badScram("must start with " + noBinding + " (no channel binding, no authzid)")
	}
	state := scramState{
		appID: req.AppID, user: req.UserID, origin: origin, clientFirst: req.Scram,
		nonce: base64.RawStdEncoding.EncodeToString(randomBytes(18)), at: now,
	}
	app, _ := a.app(req.AppID)
	conversation, serverFirst, err := begin(app, app.Verifiers[0], &state)
	if err != nil {
		return protocol.ScramReply{}, badScram("must be a SCRAM client-first message")
	}
	if conversation.Username() != req.AppID {
		return protocol.ScramReply{}, badScram("must have the AppID as its user name")
	}
	return protocol.ScramReply{Scram: serverFirst, State: a.keys.sealText(purposeScram, state.marshal())}, nil
}

// app returns the app, or one that looks the same and admits nobody. It has at least
// one verifier.
func (a *Authenticator) app(id string) (app App, known bool) {
	app, known = a.registry.App(id)
	if !known {
		app = App{ID: id, Salt: a.keys.Salt(id), Iterations: Iterations}
	}
	if len(app.Verifiers) == 0 {
		app.Verifiers = []Verifier{a.nobody}
	}
	return app, known
}

// begin starts a conversation and brings it to where the first POST left it.
func begin(app App, v Verifier, state *scramState) (*scram.ServerConversation, string, error) {
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) {
		return scram.StoredCredentials{
			KeyFactors: scram.KeyFactors{Salt: string(app.Salt), Iters: app.Iterations},
			StoredKey:  v.StoredKey, ServerKey: v.ServerKey,
		}, nil
	})
	if err != nil {
		return nil, "", err
	}
	conversation := server.WithNonceGenerator(func() string { return state.nonce }).NewConversation()
	serverFirst, err := conversation.Step(state.clientFirst)
	return conversation, serverFirst, err
}

// ScramFinal answers the second POST. Every failure before the secret is proved is the
// same to the client.
func (a *Authenticator) ScramFinal(req *protocol.ScramFinal, origin string, now time.Time) (protocol.TokenReply, Identity, *protocol.Error) {
	var state scramState
	text, err := a.keys.openText(purposeScram, req.State)
	if err != nil || !state.unmarshal(text) || state.origin != origin || !a.fresh(&state, now) {
		return protocol.TokenReply{}, Identity{}, refused(protocol.CodeAuthFailed)
	}
	app, known := a.app(state.appID)
	serverFinal, proved := prove(app, &state, req.Scram)
	if !known || !proved {
		return protocol.TokenReply{}, Identity{}, refused(protocol.CodeAuthFailed)
	}
	if !app.OriginAllowed(origin) {
		return protocol.TokenReply{}, Identity{}, refused(protocol.CodeOriginDenied)
	}
	identity := Identity{AppID: app.ID, User: state.user, Origin: origin, ExpiresAt: now.Add(protocol.TokenLifetime).Truncate(time.Second)}
	token, err := a.issue(identity, now)
	if err != nil {
		return protocol.TokenReply{}, Identity{}, refused(protocol.CodeInternal)
	}
	return protocol.TokenReply{
		Scram: serverFinal, Token: token,
		ExpiresInMs: protocol.TokenLifetime.Milliseconds(), At: now.UnixMilli(),
	}, identity, nil
}

// fresh reports whether a state is young enough and was not used before. Another
// collector may have made it, whose clock may be ahead of ours.
func (a *Authenticator) fresh(state *scramState, now time.Time) bool {
	return now.Sub(state.at).Abs() <= protocol.SealedStateLifetime && a.used.use(state.nonce, now)
}

// prove looks for the verifier that the client's proof fits. All are tried whatever
// comes, so that the time tells nothing.
func prove(app App, state *scramState, clientFinal string) (serverFinal string, proved bool) {
	for _, v := range app.Verifiers {
		conversation, _, err := begin(app, v, state)
		if err != nil {
			return "", false
		}
		if answer, err := conversation.Step(clientFinal); err == nil && conversation.Valid() {
			serverFinal, proved = answer, true
		}
	}
	return serverFinal, proved
}

// ForgottenStates tells how many used states were forgotten while they could still have
// been good, for want of room.
func (a *Authenticator) ForgottenStates() uint64 {
	a.used.mu.Lock()
	defer a.used.mu.Unlock()
	return a.used.forgotten
}

// messages are the texts of refusals. There is one for each code, so that none tells
// more than its code.
var messages = map[protocol.Code]string{
	protocol.CodeAuthFailed:   "the AppID or the secret is wrong, or the handshake or token is not valid any more",
	protocol.CodeOriginDenied: "this origin may not speak for this AppID",
	protocol.CodeTokenExpired: "the session token has expired, authenticate again",
	protocol.CodeInternal:     "the server failed; its log says why",
}

func refused(code protocol.Code) *protocol.Error {
	return &protocol.Error{Code: code, Message: messages[code]}
}

func badScram(message string) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeFieldValue, Field: "scram", Message: "scram " + message}
}
