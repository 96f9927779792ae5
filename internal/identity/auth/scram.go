package auth

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/xdg-go/scram"

	"github.com/qosrtc/qos/protocol"
)

// MaxSecrets is how many secrets an app may have. A wrong proof is held against as many
// verifiers, whatever the app has, so that the time does not tell whether there is one.
const MaxSecrets = 8

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
	conversation, serverFirst, err := begin(app, a.nobody, &state)
	if err != nil {
		return protocol.ScramReply{}, badScram("must be a SCRAM client-first message")
	}
	if conversation.Username() != req.AppID {
		return protocol.ScramReply{}, badScram("must have the AppID as its user name")
	}
	return protocol.ScramReply{Scram: serverFirst, State: a.keys.sealText(purposeScram, state.marshal())}, nil
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
// same to the client, but for a handshake that was too slow or whose answer was lost
// (CodeTokenExpired): nothing of the secret was compared then. The checks are asked last.
func (a *Authenticator) ScramFinal(req *protocol.ScramFinal, origin string, now time.Time, checks ...Check) (protocol.TokenReply, Identity, *protocol.Error) {
	d := Decision{Method: MethodScram, Origin: origin}
	d.Reason = a.scramFinal(req, &d, now)
	return a.answer(d, now, checks)
}

// scramFinal fills in the decision and its answer.
func (a *Authenticator) scramFinal(req *protocol.ScramFinal, d *Decision, now time.Time) Reason {
	var state scramState
	text, err := a.keys.openText(purposeScram, req.State)
	if err != nil || !state.unmarshal(text) {
		return ReasonStateBroken
	}
	d.AppID, d.User = state.appID, state.user
	switch {
	case state.origin != d.Origin:
		return ReasonStateOrigin
	case now.Sub(state.at).Abs() > protocol.SealedStateLifetime: // another collector's clock may be ahead of ours
		return ReasonStateStale
	case !a.states.use(state.nonce, now):
		return ReasonStateReplayed
	}
	app, reason := a.app(state.appID)
	if reason == ReasonAppUnknown {
		a.invented.do(kindScram, func() { prove(app, a.candidates(app), &state, req.Scram) })
		return reason
	}
	serverFinal, verifier := prove(app, a.candidates(app), &state, req.Scram)
	switch {
	case reason != Granted:
		return reason
	case verifier == nil:
		return ReasonProofWrong
	case !a.proved.use(app.ID, state.nonce, now): // forgotten among the others
		return ReasonStateReplayed
	}
	d.Credential = verifier.credential()
	if !app.OriginAllowed(d.Origin) {
		return ReasonOriginDenied
	}
	d.scram, d.issued = serverFinal, app.issueTime(d.User, now)
	return Granted
}

// candidates are the verifiers to hold a proof against: always MaxSecrets, or as many as
// an app has that has more.
func (a *Authenticator) candidates(app App) []Verifier {
	all := make([]Verifier, max(MaxSecrets, len(app.Verifiers)))
	for i := range all[copy(all, app.Verifiers):] {
		all[len(app.Verifiers)+i] = a.nobody
	}
	return all
}

// prove looks for the verifier that the client's proof fits. All are tried whatever
// comes, so that the time tells nothing.
func prove(app App, verifiers []Verifier, state *scramState, clientFinal string) (serverFinal string, proved *Verifier) {
	for i, v := range verifiers {
		conversation, _, err := begin(app, v, state)
		if err != nil {
			return "", nil
		}
		if answer, err := conversation.Step(clientFinal); err == nil && conversation.Valid() {
			serverFinal, proved = answer, &verifiers[i]
		}
	}
	return serverFinal, proved
}

func badScram(message string) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeFieldValue, Field: "scram", Message: "scram " + message}
}
