package app

import (
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/auth"
)

// Built is what authentication needs of an app at a time.
type Built struct {
	Auth  auth.App
	Until time.Time     // when it changes by itself: a secret ends; zero: never
	Hooks []notice.Hook // with the secrets that sign
	App   *App          // of which it was made
	// Unusable are the keys that cannot be used: their seal was made by a master key that
	// is gone, or they are damaged.
	Unusable []string
	// UserIDKeyUnusable says that a key of pseudonyms cannot be used, for the same reasons. If it is the
	// newest, and records must have pseudonyms, the app is disabled.
	UserIDKeyUnusable bool
}

// Build returns what authentication needs.
func (a *App) Build(id string, vault Sealer, now time.Time) *Built {
	b := &Built{App: a, Auth: auth.App{
		ID: id, Salt: a.Salt, Iterations: a.Iterations, Origins: a.Origins, SingleUse: a.SingleUse, Disabled: a.Disabled,
		RevokedBefore: a.RevokedBefore, RevokedUsers: a.RevokedUsers, Limits: a.Limits,
		StatsInterval: time.Duration(a.StatsIntervalMs) * time.Millisecond,
	}}
	a.buildUserIDs(id, vault, b)
	for _, s := range a.Secrets {
		if s.ended(now) {
			continue
		}
		if !s.NotAfter.IsZero() && (b.Until.IsZero() || s.NotAfter.Before(b.Until)) {
			b.Until = s.NotAfter
		}
		b.Auth.Verifiers = append(b.Auth.Verifiers, auth.Verifier{ID: s.ID, StoredKey: s.StoredKey, ServerKey: s.ServerKey})
	}
	for i := range a.Keys {
		key, err := a.Keys[i].build(id, vault)
		switch {
		case err != nil:
			b.Unusable = append(b.Unusable, a.Keys[i].ID)
		case !a.Keys[i].Disabled:
			b.Auth.Keys = append(b.Auth.Keys, key)
		}
	}
	for i := range a.Webhooks {
		w := &a.Webhooks[i]
		if now.Before(w.PreviousUntil) && (b.Until.IsZero() || w.PreviousUntil.Before(b.Until)) {
			b.Until = w.PreviousUntil
		}
		b.Hooks = append(b.Hooks, notice.Hook{
			ID: w.ID, URL: w.URL, Format: notice.Format(w.Format), Secrets: w.Secrets(id, vault, now), CreatedAt: w.CreatedAt,
		})
	}
	return b
}

func (k *Key) build(appID string, vault Sealer) (auth.VerificationKey, error) {
	out := auth.VerificationKey{ID: k.ID, Algorithm: k.Algorithm}
	var err error
	switch k.Algorithm {
	case auth.AlgorithmES256:
		out.Public, err = ParsePEM(k.PublicKey)
	case auth.AlgorithmHS256:
		out.Secret, _, err = vault.Open(keyPurpose(appID, k.ID), k.Sealed)
		if err == nil && len(out.Secret) < MinSecretBytes {
			err = limitError("be longer")
		}
	default:
		err = limitError("be of an algorithm that is known")
	}
	return out, err
}

// Reseal seals all secrets with the newest master key, and reports whether one was sealed
// with an older. What cannot be opened stays as it is.
func (a *App) Reseal(id string, vault Sealer) (changed bool) {
	for i := range a.Keys {
		changed = reseal(vault, keyPurpose(id, a.Keys[i].ID), &a.Keys[i].Sealed) || changed
	}
	for i := range a.UserIDKeys {
		changed = reseal(vault, userIDPurpose(id), &a.UserIDKeys[i]) || changed
	}
	for i := range a.Webhooks {
		changed = reseal(vault, webhookPurpose(id, a.Webhooks[i].ID), &a.Webhooks[i].Sealed) || changed
		changed = reseal(vault, webhookPurpose(id, a.Webhooks[i].ID), &a.Webhooks[i].Previous) || changed
	}
	return changed
}

func reseal(vault Sealer, purpose string, sealed *string) bool {
	if *sealed == "" {
		return false
	}
	secret, newest, err := vault.Open(purpose, *sealed)
	if err != nil || newest {
		return false
	}
	*sealed = vault.Seal(purpose, secret)
	return true
}
