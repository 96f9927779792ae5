package app

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrNoWebhook says that an app has no webhook of an id.
var ErrNoWebhook = errors.New("the app has no such webhook")

// maxRotation bounds the time for which the secret before signs too.
const maxRotation = 30 * 24 * time.Hour

// RotateWebhook gives a webhook another secret. The body may have secret; without it one is made.
// The secret before signs too until previousUntil, for 24 h where the body has none.
func (a *App) RotateWebhook(appID, id string, raw []byte, vault Sealer, now time.Time) (Shown, error) {
	o := body(raw, "secret", "previousUntil")
	secret, until := o.webhookSecret("secret"), o.Time("previousUntil")
	if until.After(now.Add(maxRotation)) {
		o.Refuse("previousUntil", fmt.Sprintf("be at most %d days ahead", maxRotation/(24*time.Hour)), until.Format(time.RFC3339))
	}
	if err := o.Fault(); err != nil {
		return Shown{}, err
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
