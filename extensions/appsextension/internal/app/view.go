package app

import (
	"encoding/json"
	"time"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/internal/notice"
)

// View is an app as people see it. It has no secret, and nothing that one could be made
// from.
type View struct {
	ID                   string               `json:"id"`
	Name                 string               `json:"name"`
	Declared             bool                 `json:"declared"` // in the configuration: read-only here
	Disabled             bool                 `json:"disabled"`
	SingleUse            bool                 `json:"singleUse"`
	Origins              []string             `json:"origins"`
	Limits               auth.Limits          `json:"limits"`
	BytesToday           int64                `json:"bytesToday,omitempty"` // of limits.dailyMiB, as far as this collector knows
	StatsIntervalMs      int                  `json:"statsIntervalMs"`      // 0: the receiver's own
	RetentionHours       int                  `json:"retentionHours"`       // 0: the store's own
	DefaultConfiguration json.RawMessage      `json:"defaultConfiguration,omitempty"`
	Webhooks             []WebhookView        `json:"webhooks"`
	WebhookRules         *notice.Override     `json:"webhookRules,omitempty"`
	Secrets              []SecretView         `json:"secrets"`
	Keys                 []KeyView            `json:"keys"`
	RevokedBefore        time.Time            `json:"revokedBefore,omitzero"`
	RevokedUsers         map[string]time.Time `json:"revokedUsers,omitempty"`
	UserIDs              string               `json:"userIDs"` // plain, or hash: records have pseudonyms
	CreatedAt            time.Time            `json:"createdAt,omitzero"`
	ChangedAt            time.Time            `json:"changedAt,omitzero"`
	Revision             int64                `json:"revision,omitempty"`
}

// WebhookView is a webhook without its secret.
type WebhookView struct {
	ID            string    `json:"id"`
	URL           string    `json:"url"`
	Format        string    `json:"format,omitempty"`
	CreatedAt     time.Time `json:"createdAt,omitzero"`
	PreviousUntil time.Time `json:"previousUntil,omitzero"` // until when the secret before signs too
}

// SecretView is an AppSecret without anything of it.
type SecretView struct {
	ID         string    `json:"id"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
	NotAfter   time.Time `json:"notAfter,omitzero"`
}

// KeyView is a verification key; of HS256 without the secret.
type KeyView struct {
	ID         string    `json:"keyID"`
	Algorithm  string    `json:"algorithm"`
	PublicKey  string    `json:"publicKey,omitempty"` // PEM
	Disabled   bool      `json:"disabled"`
	CreatedAt  time.Time `json:"createdAt,omitzero"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero"`
}

// LastUse tells when a credential was last used; zero: never, as far as is known.
type LastUse map[string]time.Time

// View returns what people see of an app.
func (a *App) View(id string, used LastUse) View {
	v := View{
		ID: id, Name: a.Name, Disabled: a.Disabled, SingleUse: a.SingleUse, Origins: []string{}, Limits: a.Limits, StatsIntervalMs: a.StatsIntervalMs, RetentionHours: a.RetentionHours,
		DefaultConfiguration: a.DefaultConfiguration, Webhooks: []WebhookView{}, WebhookRules: a.WebhookRules, Secrets: []SecretView{}, Keys: []KeyView{},
		RevokedBefore: a.RevokedBefore, RevokedUsers: a.RevokedUsers, UserIDs: a.userIDMode(), CreatedAt: a.CreatedAt,
	}
	v.Origins = append(v.Origins, a.Origins...)
	for _, w := range a.Webhooks {
		v.Webhooks = append(v.Webhooks, WebhookView{ID: w.ID, URL: w.URL, Format: w.Format, CreatedAt: w.CreatedAt, PreviousUntil: w.PreviousUntil})
	}
	for _, s := range a.Secrets {
		v.Secrets = append(v.Secrets, SecretView{ID: s.ID, CreatedAt: s.CreatedAt, LastUsedAt: used[s.ID], NotAfter: s.NotAfter})
	}
	for _, k := range a.Keys {
		view := KeyView{ID: k.ID, Algorithm: k.Algorithm, Disabled: k.Disabled, CreatedAt: k.CreatedAt, LastUsedAt: used[k.ID]}
		if len(k.PublicKey) > 0 {
			view.PublicKey = pemOf(k.PublicKey)
		}
		v.Keys = append(v.Keys, view)
	}
	return v
}

// Brief is an app as a listing has it.
type Brief struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Declared  bool      `json:"declared"`
	Disabled  bool      `json:"disabled"`
	Origins   int       `json:"origins"`
	Secrets   int       `json:"secrets"`
	Keys      int       `json:"keys"`
	CreatedAt time.Time `json:"createdAt,omitzero"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	Revision  int64     `json:"revision,omitempty"`
}

// Brief returns what a listing has of an app.
func (a *App) Brief(id string) Brief {
	return Brief{
		ID: id, Name: a.Name, Disabled: a.Disabled, Origins: len(a.Origins), Secrets: len(a.Secrets), Keys: len(a.Keys),
		CreatedAt: a.CreatedAt,
	}
}

// Has reports whether a credential is one of the app's, good or not.
func (a *App) Has(credentialID string) bool {
	for i := range a.Secrets {
		if a.Secrets[i].ID == credentialID {
			return true
		}
	}
	for i := range a.Keys {
		if a.Keys[i].ID == credentialID {
			return true
		}
	}
	return false
}
