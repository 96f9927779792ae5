package app

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/serve/jsonobject"
)

// ErrNoWebhook says that an app has no webhook of an id.
var ErrNoWebhook = errors.New("the app has no such webhook")

// maxRotation bounds the time for which the secret before signs too.
const maxRotation = 30 * 24 * time.Hour

// RotateWebhook gives a webhook another secret. The body may have secret; without it one is made.
// The secret before signs too until previousUntil, for 24 h where the body has none.
func (a *App) RotateWebhook(appID, id string, raw []byte, vault Sealer, now time.Time) (Shown, error) {
	var in struct {
		Secret        *string   `json:"secret"`
		PreviousUntil time.Time `json:"previousUntil"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return Shown{}, err
	}
	secret, err := webhookSecret("secret", in.Secret)
	if err != nil {
		return Shown{}, err
	}
	until := in.PreviousUntil
	if until.After(now.Add(maxRotation)) {
		return Shown{}, &jsonobject.Fault{Field: "previousUntil", Limit: fmt.Sprintf("be at most %d days ahead", maxRotation/(24*time.Hour)), Got: until.Format(time.RFC3339)}
	}
	i := slices.IndexFunc(a.Webhooks, func(w Webhook) bool { return w.ID == id })
	if i < 0 {
		return Shown{}, ErrNoWebhook
	}
	shown := Shown{ID: id}
	if secret == "" {
		secret = NewWebhookSecret()
		shown.Secret = secret
	}
	a.Webhooks = slices.Clone(a.Webhooks)
	w := &a.Webhooks[i]
	w.follow(&a.Webhooks[i], !w.signsWith(appID, secret, vault), now)
	if !until.IsZero() {
		w.PreviousUntil = until
	}
	w.SetSecret(appID, secret, vault)
	return shown, nil
}

// signsWith reports whether a webhook has a secret already.
func (w *Webhook) signsWith(appID, secret string, vault Sealer) bool {
	have, _, err := vault.Open(webhookPurpose(appID, w.ID), w.Sealed)
	return err == nil && string(have) == secret
}
