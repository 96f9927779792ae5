package app

import (
	"slices"
	"time"
)

// View is an app as people see it. It has no secret, and nothing that one could be made
// from.
type View struct {
	Settings

	ID            string               `json:"id"`
	Declared      bool                 `json:"declared"`             // in the configuration: read-only here
	BytesToday    int64                `json:"bytesToday,omitempty"` // of limits.dailyMiB, as far as this collector knows
	Webhooks      []WebhookView        `json:"webhooks"`
	Secrets       []SecretView         `json:"secrets"`
	Keys          []KeyView            `json:"keys"`
	RevokedBefore time.Time            `json:"revokedBefore,omitzero"`
	RevokedUsers  map[string]time.Time `json:"revokedUsers,omitempty"`
	CreatedAt     time.Time            `json:"createdAt,omitzero"`
	ChangedAt     time.Time            `json:"changedAt,omitzero"`
	Revision      int64                `json:"revision,omitempty"`
}

// WebhookView is the part of a webhook that people see.
type WebhookView struct {
	Hook

	CreatedAt     time.Time `json:"createdAt,omitzero"`
	PreviousUntil time.Time `json:"previousUntil,omitzero"` // until when the secret before signs too
}

// SecretView is the part of an AppSecret that people see.
type SecretView struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"` // zero in the document
	NotAfter   time.Time `json:"notAfter,omitzero"`   // zero: for good
}

// KeyView is the part of a verification key that people see.
type KeyView struct {
	ID         string    `json:"keyID"`
	Algorithm  string    `json:"algorithm"`           // auth.AlgorithmES256 or auth.AlgorithmHS256
	PublicKey  string    `json:"publicKey,omitempty"` // ES256: PEM
	Disabled   bool      `json:"disabled"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"` // zero in the document
}

// LastUse tells when a credential was last used; zero: never, as far as is known.
type LastUse map[string]time.Time

// View returns what people see of an app.
func (a *App) View(id string, used LastUse) View {
	v := View{
		Settings: a.Settings, ID: id, Webhooks: []WebhookView{}, Secrets: []SecretView{}, Keys: []KeyView{},
		RevokedBefore: a.RevokedBefore, RevokedUsers: a.RevokedUsers, CreatedAt: a.CreatedAt,
	}
	v.UserIDs, v.Origins = a.userIDMode(), append([]string{}, a.Origins...)
	for i := range a.Webhooks {
		v.Webhooks = append(v.Webhooks, a.Webhooks[i].WebhookView)
	}
	for _, s := range a.Secrets {
		s.LastUsedAt = used[s.ID]
		v.Secrets = append(v.Secrets, s.SecretView)
	}
	for _, k := range a.Keys {
		k.LastUsedAt = used[k.ID]
		v.Keys = append(v.Keys, k.KeyView)
	}
	return v
}

// Has reports whether a credential is one of the app's, good or not.
func (a *App) Has(credentialID string) bool {
	return slices.ContainsFunc(a.Secrets, func(s Secret) bool { return s.ID == credentialID }) ||
		slices.ContainsFunc(a.Keys, func(k Key) bool { return k.ID == credentialID })
}
