// Package app is what an application is: its document as the store keeps it, the changes
// that the management API makes to it, what of it people see and what authentication
// needs. It does no I/O; the time is an argument.
package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/visible"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// Bounds of an app.
const (
	MaxNameBytes         = 256
	MaxSecrets           = auth.MaxSecrets
	MaxKeys              = 32
	MaxOrigins           = 256
	MaxWebhooks          = 16
	MaxRevokedUsers      = 500
	MaxURLBytes          = 2048
	MaxDefaultBytes      = 16 << 10
	MaxCredentialIDBytes = 128
	MinSecretBytes       = auth.MinKeyBytes // of HS256 keys and webhooks
	MaxSecretBytes       = 1 << 10
)

// RevocationLifetime is how long it takes until no session token made before a revocation
// is good any more, with room for clocks that differ.
const RevocationLifetime = protocol.TokenLifetime + 10*time.Minute

// CheckStatsInterval reports whether clients may measure so often; 0 is the receiver's own.
func CheckStatsInterval(every time.Duration) bool {
	return every == 0 || every >= protocol.MinStatsInterval && every <= protocol.MaxStatsInterval
}

// MaxRetentionHours is 10 years.
const MaxRetentionHours = 10 * 365 * 24

// CheckRetention reports whether the conferences of an app may be kept so long; 0 is as long as the
// store keeps them.
func CheckRetention(hours int) bool { return hours >= 0 && hours <= MaxRetentionHours }

// version is that of the document. A higher one was written by a newer program.
const version = 1

// App is one application. Nothing in it gives a secret away: of AppSecrets there are
// verifiers, all others are sealed.
type App struct {
	Settings

	Version        int                  `json:"version"`
	Salt           []byte               `json:"salt"` // of all its secrets
	Iterations     int                  `json:"iterations"`
	Secrets        []Secret             `json:"secrets,omitempty"`
	Keys           []Key                `json:"keys,omitempty"`
	Webhooks       []Webhook            `json:"webhooks,omitempty"`
	WebhookRulesAt time.Time            `json:"webhookRulesAt,omitzero"` // when they were set or removed last; zero: never
	RevokedBefore  time.Time            `json:"revokedBefore,omitzero"`
	RevokedUsers   map[string]time.Time `json:"revokedUsers,omitempty"` // by userName, aliasName or the pseudonym of one
	UserIDKeys     []string             `json:"userIDKeys,omitempty"`   // sealed, of their pseudonyms, the newest first
	CreatedAt      time.Time            `json:"createdAt,omitzero"`
}

// Secret is the verifier of one AppSecret.
type Secret struct {
	SecretView

	StoredKey []byte `json:"storedKey"`
	ServerKey []byte `json:"serverKey"`
}

// Key verifies third-party tokens.
type Key struct {
	KeyView

	Sealed string `json:"sealed,omitempty"` // HS256: the secret
}

// Webhook is where notifications of the app are sent.
type Webhook struct {
	WebhookView

	Sealed   string `json:"sealed"`             // the secret that signs
	Previous string `json:"previous,omitempty"` // the secret before, which signs too until PreviousUntil; zero: always
}

// New returns an app without credentials. Its salt is that which an unknown app of this
// id would have.
func New(id string, keys *auth.Keys, now time.Time) *App {
	return &App{Version: version, Salt: keys.Salt(id), Iterations: auth.Iterations, CreatedAt: now.UTC().Truncate(time.Millisecond)}
}

// ErrNewer says that a newer program wrote a document.
var ErrNewer = errors.New("a newer version of this program wrote it")

// Decode reads a document.
func Decode(body []byte) (*App, error) {
	a := &App{}
	if err := json.Unmarshal(body, a); err != nil {
		return nil, fmt.Errorf("the document of an app is damaged: %w", err)
	}
	if a.Version > version {
		return nil, fmt.Errorf("the document of an app has version %d: %w", a.Version, ErrNewer)
	}
	if a.Version != version || len(a.Salt) == 0 || a.Iterations != auth.Iterations {
		return nil, fmt.Errorf("the document of an app is damaged: version %d, a salt of %d bytes, %d iterations", a.Version, len(a.Salt), a.Iterations)
	}
	return a, nil
}

// Encode writes a document.
func (a *App) Encode() ([]byte, error) { return json.Marshal(a) }

// Clone returns a copy that can be changed.
func (a *App) Clone() *App {
	b := *a
	b.Secrets, b.Keys, b.Webhooks = slices.Clone(a.Secrets), slices.Clone(a.Keys), slices.Clone(a.Webhooks)
	b.Origins, b.RevokedUsers = slices.Clone(a.Origins), maps.Clone(a.RevokedUsers)
	b.UserIDKeys = slices.Clone(a.UserIDKeys)
	return &b
}

// CheckID reports what is wrong with an AppID.
func CheckID(id string) error {
	switch {
	case !visible.ID(id):
		return &jsonobject.Fault{Field: "id", Limit: visible.IDLimit, Got: strconv.QuoteToASCII(jsonobject.Clip(id))}
	case id == "." || id == "..":
		return &jsonobject.Fault{Field: "id", Limit: "have a place in a path", Got: strconv.Quote(id)}
	}
	return checkLength("id", id, 1, protocol.MaxIDBytes)
}

// CheckName reports what is wrong with the name of an app, which may be empty.
func CheckName(name string) error {
	if !visible.Name(name) {
		return &jsonobject.Fault{Field: "name", Limit: visible.NameLimit, Got: strconv.QuoteToASCII(jsonobject.Clip(name))}
	}
	return checkLength("name", name, 0, MaxNameBytes)
}
