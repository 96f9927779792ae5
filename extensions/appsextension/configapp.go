package appsextension

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// maxSecretBytes is the longest AppSecret.
const maxSecretBytes = 1 << 10

// AppConfig is one application.
type AppConfig struct {
	app.Settings `mapstructure:",squash"`

	// ID is the AppID.
	ID string `mapstructure:"id"`

	// Secrets are its AppSecrets; each of them admits, so that one can follow another.
	Secrets []configopaque.String `mapstructure:"secrets"`

	// NamedSecrets are more of them, with what belongs to each.
	NamedSecrets []SecretConfig `mapstructure:"named_secrets"`

	// Keys verify the tokens of third-party mode.
	Keys []KeyConfig `mapstructure:"keys"`

	// StatsInterval is how often its clients measure, 2 s to 20 s; 0: the receiver's own.
	StatsInterval time.Duration `mapstructure:"stats_interval"`

	// Retention is how long after their end its conferences are kept, in whole hours; 0: as long
	// as the store keeps all.
	Retention time.Duration `mapstructure:"retention"`

	// DefaultConfiguration is what pages get as their default: peerConnection and media.
	DefaultConfiguration map[string]any `mapstructure:"default_configuration"`

	// Webhooks are where notifications are to go.
	Webhooks []WebhookConfig `mapstructure:"webhooks"`

	// UserIDKeys are the keys of the pseudonyms, the newest first: it makes them, all are searched by.
	UserIDKeys []MasterKeyConfig `mapstructure:"user_id_keys"`

	// RevokedBefore: what was issued before it is not good any more.
	RevokedBefore time.Time `mapstructure:"revoked_before"`

	_ struct{}
}

// SecretConfig is an AppSecret, itself or in a file.
type SecretConfig struct {
	ID       string              `mapstructure:"id"` // for the audit log; empty: follows from the secret
	Secret   configopaque.String `mapstructure:"secret"`
	File     string              `mapstructure:"secret_file"` // holds the secret, without the line's end
	NotAfter time.Time           `mapstructure:"not_after"`   // zero: for good

	_ struct{}
}

// KeyConfig is a verification key.
type KeyConfig struct {
	ID            string              `mapstructure:"key_id"`    // empty, ES256: the JWK's, or the thumbprint
	Algorithm     string              `mapstructure:"algorithm"` // ES256 (the default) or HS256
	PublicKey     string              `mapstructure:"public_key"`
	PublicKeyFile string              `mapstructure:"public_key_file"` // PEM or a JWK
	Secret        configopaque.String `mapstructure:"secret"`
	SecretFile    string              `mapstructure:"secret_file"`
	Disabled      bool                `mapstructure:"disabled"`

	_ struct{}
}

// WebhookConfig is where notifications are sent.
type WebhookConfig struct {
	app.Hook `mapstructure:",squash"`

	Secret     configopaque.String `mapstructure:"secret"`
	SecretFile string              `mapstructure:"secret_file"`

	// PreviousSecret signs beside the secret, while receivers change to that.
	PreviousSecret configopaque.String `mapstructure:"previous_secret"`

	_ struct{}
}

func (a *AppConfig) validate(at string, privateSuffixes bool) error {
	var errs []error
	faults := a.Faults("mapstructure", privateSuffixes)
	if err := app.CheckID(a.ID); err != nil {
		faults = append(faults, err)
	}
	for _, fault := range faults {
		errs = append(errs, fmt.Errorf("%s.%w", at, fault))
	}
	if len(a.Secrets)+len(a.NamedSecrets)+len(a.Keys) == 0 {
		errs = append(errs, fmt.Errorf("%s.secrets: at least one secret is required, or one of named_secrets or keys", at))
	}
	if n := len(a.Secrets) + len(a.NamedSecrets); n > app.MaxSecrets {
		errs = append(errs, fmt.Errorf("%s: secrets and named_secrets must have at most %d entries together (got %d)", at, app.MaxSecrets, n))
	}
	for i, secret := range a.Secrets {
		errs = append(errs, checkSecret(fmt.Sprintf("%s.secrets[%d]", at, i), string(secret)))
	}
	for i := range a.NamedSecrets {
		errs = append(errs, a.NamedSecrets[i].validate(fmt.Sprintf("%s.named_secrets[%d]", at, i)))
	}
	for i := range a.Keys {
		errs = append(errs, a.Keys[i].validate(fmt.Sprintf("%s.keys[%d]", at, i)))
	}
	if !app.CheckStatsInterval(a.StatsInterval) {
		errs = append(errs, fmt.Errorf("%s.stats_interval must be %v to %v (got %v)", at, protocol.MinStatsInterval, protocol.MaxStatsInterval, a.StatsInterval))
	}
	if a.Retention%time.Hour != 0 || !app.CheckRetention(int(a.Retention/time.Hour)) {
		errs = append(errs, fmt.Errorf("%s.retention must be 0 or 1 to %d whole hours (got %v)", at, app.MaxRetentionHours, a.Retention))
	}
	for i := range a.Webhooks {
		errs = append(errs, a.Webhooks[i].validate(fmt.Sprintf("%s.webhooks[%d]", at, i)))
	}
	return errors.Join(append(errs, a.validateDefaults(at), a.validateUserIDs(at))...)
}

func (a *AppConfig) validateDefaults(at string) error {
	_, err := a.defaults()
	if fault := new(jsonobject.Fault); errors.As(err, &fault) {
		return fmt.Errorf("%s.%w", at, fault)
	} else if err != nil {
		return fmt.Errorf("%s.default_configuration: %w", at, err)
	}
	return nil
}

// defaults is the default configuration in JSON; nil where there is none.
func (a *AppConfig) defaults() (json.RawMessage, error) {
	if a.DefaultConfiguration == nil {
		return nil, nil
	}
	raw, err := json.Marshal(a.DefaultConfiguration)
	if err != nil {
		return nil, err
	}
	return app.CheckDefaults("default_configuration", raw)
}

func (c *SecretConfig) validate(at string) error {
	switch {
	case c.ID != "" && !app.ValidIdentifier(c.ID):
		return fmt.Errorf("%s.id must %s", at, app.IdentifierLimit)
	case c.File != "" && c.Secret != "":
		return fmt.Errorf("%s: secret and secret_file exclude each other", at)
	case c.File != "":
		return nil
	}
	return checkSecret(at, string(c.Secret))
}

func checkSecret(at, secret string) error {
	if n := len(secret); n == 0 || n > maxSecretBytes {
		return fmt.Errorf("%s must have 1 to %d bytes (got %d)", at, maxSecretBytes, n)
	}
	return nil
}

// checkStrong is checkSecret for those that no person types.
func checkStrong(at, secret string) error {
	if n := len(secret); n < app.MinSecretBytes || n > app.MaxSecretBytes {
		return fmt.Errorf("%s must have %d to %d bytes (got %d)", at, app.MinSecretBytes, app.MaxSecretBytes, n)
	}
	return nil
}

// algorithm is ES256 unless another is named.
func (c *KeyConfig) algorithm() string {
	if c.Algorithm == "" {
		return auth.AlgorithmES256
	}
	return c.Algorithm
}

func (c *KeyConfig) validate(at string) error {
	public, shared := c.PublicKey != "" || c.PublicKeyFile != "", c.Secret != "" || c.SecretFile != ""
	switch c.algorithm() {
	case auth.AlgorithmES256:
		if !public || shared || (c.PublicKey != "" && c.PublicKeyFile != "") {
			return fmt.Errorf("%s: an ES256 key has public_key or public_key_file, and no secret", at)
		}
		if c.PublicKey != "" {
			_, err := c.public(at, c.PublicKey)
			return err
		}
		return nil
	case auth.AlgorithmHS256:
		if public || !shared || c.ID == "" || (c.Secret != "" && c.SecretFile != "") {
			return fmt.Errorf("%s: an HS256 key has key_id and secret or secret_file, and no public key", at)
		}
		if !app.ValidIdentifier(c.ID) {
			return fmt.Errorf("%s.key_id must %s", at, app.IdentifierLimit)
		}
		if c.Secret != "" {
			return checkStrong(at+".secret", string(c.Secret))
		}
		return nil
	}
	return fmt.Errorf("%s.algorithm must be ES256 or HS256 (got %q)", at, c.Algorithm)
}

// public makes the key of what a public key's text says.
func (c *KeyConfig) public(at, text string) (app.Key, error) {
	key := app.Key{KeyView: app.KeyView{ID: c.ID, Algorithm: auth.AlgorithmES256, Disabled: c.Disabled}}
	parsed, kid, err := app.ParseKeyText(text)
	if err == nil {
		err = key.SetPublic(parsed, kid)
	}
	if err != nil {
		return key, fmt.Errorf("%s.public_key must %w", at, err)
	}
	return key, nil
}

func (c *WebhookConfig) validate(at string) error {
	errs := []error{c.Check(at + ".")}
	switch has := c.Secret != "" || c.SecretFile != ""; {
	case c.Secret != "" && c.SecretFile != "":
		errs = append(errs, fmt.Errorf("%s: secret and secret_file must not be there both", at))
	case !has && notice.Format(c.Format).NeedsSecret():
		errs = append(errs, fmt.Errorf("%s: secret or secret_file is required for this format", at))
	}
	if c.Secret != "" {
		errs = append(errs, checkStrong(at+".secret", string(c.Secret)))
	}
	if c.PreviousSecret != "" {
		errs = append(errs, checkStrong(at+".previous_secret", string(c.PreviousSecret)))
	}
	if err := app.CheckWebhookSecret(string(c.PreviousSecret)); err != nil {
		errs = append(errs, fmt.Errorf("%s.previous_secret must %w", at, err))
	}
	return errors.Join(errs...)
}
