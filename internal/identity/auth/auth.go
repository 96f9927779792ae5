// Package auth holds the server's half of the handshake (docs/protocol.md, section 3):
// the SCRAM-SHA-256 conversation without state between its two POSTs, tokens that origin
// servers sign, origin allow-lists, session tokens and session ids. It does no I/O and
// takes the time as an argument.
//
// Nothing tells from outside whether an AppID exists. An unknown one gets a salt of the
// same kind and the same iteration count, and fails after the same work as a known one
// whose secret or signature is wrong, or after the same time when too many do so at once. For
// that reason origins are looked at only when the secret was proved: before, a refusal would
// say that the app exists. What was really wrong stands in the Decision, which clients never see.
package auth

import (
	"crypto/rand"
	"crypto/sha256"
)

// Registry finds an app, of which nothing changes any more. Its revision is another one
// after each change of any app, once App shows it.
type Registry interface {
	App(id string) (App, bool)
	Revision() uint64
}

// Authenticator answers handshakes and checks tokens. Safe for concurrent use.
type Authenticator struct {
	keys     *Keys
	registry Registry
	audit    func(Decision)
	nobody   Verifier // of a secret that does not exist
	decoys   decoyKeys
	invented *decoyWork // for AppIDs that do not exist
	states   usedNames  // handshakes that were tried to finish, by anybody
	proved   usedByApp  // those of them that were, so that nobody else can have them forgotten
	jtis     usedByApp  // third-party tokens that were used, of apps that want them used once
}

// New returns an authenticator for the apps of registry. Each decision is reported to audit
// by the goroutine that waits for it; nil: to nobody.
func New(keys *Keys, registry Registry, audit func(Decision)) *Authenticator {
	if audit == nil {
		audit = func(Decision) {}
	}
	return &Authenticator{
		keys: keys, registry: registry, audit: audit,
		nobody: Verifier{StoredKey: randomBytes(sha256.Size), ServerKey: randomBytes(sha256.Size)},
		decoys: newDecoyKeys(), invented: newDecoyWork(),
		states: usedNames{keep: stateMemory, most: maxUsedStates},
		proved: usedByApp{keep: stateMemory, most: maxOfAnApp, all: maxOfAll},
		jtis:   usedByApp{keep: jtiMemory, most: maxOfAnApp, all: maxOfAll},
	}
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

// app returns the app, or one that looks the same and admits nobody, after the same work.
func (a *Authenticator) app(id string) (app App, reason Reason) {
	salt := a.keys.Salt(id)
	app, known := a.registry.App(id)
	switch {
	case !known:
		return App{ID: id, Salt: salt, Iterations: Iterations}, ReasonAppUnknown
	case app.Disabled:
		return App{ID: id, Salt: app.Salt, Iterations: app.Iterations}, ReasonAppDisabled
	}
	return app, Granted
}

// ForgottenStates tells how many handshakes that had admitted somebody were forgotten, for
// want of room, while they could still have been good.
func (a *Authenticator) ForgottenStates() uint64 { return a.proved.forgottenNames() }

// ForgottenJTIs tells the same of tokens that are good once.
func (a *Authenticator) ForgottenJTIs() uint64 { return a.jtis.forgottenNames() }
