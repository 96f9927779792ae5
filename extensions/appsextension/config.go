package appsextension

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/identity/auth"
)

// Config of the apps extension.
type Config struct {
	// Apps are the applications that the configuration declares. They go before those of
	// the store that have the same ids.
	Apps []AppConfig `mapstructure:"apps"`

	// Key is the installation's master key: base64 of at least 32 random bytes.
	Key configopaque.String `mapstructure:"key"`

	// KeyFile holds the same. It is made (mode 0600, its directory 0700) with a random
	// key where it does not exist.
	KeyFile string `mapstructure:"key_file"`

	// Keys are several master keys in place of one, the newest first: it signs and seals,
	// the others verify and open.
	Keys []MasterKeyConfig `mapstructure:"keys"`

	// Storage is the id of the storage extension that keeps the applications that the
	// configuration does not declare; none: there are no others.
	Storage component.ID `mapstructure:"storage"`

	// Management is the API that edits what the store keeps; it is off unless it is there.
	Management configoptional.Optional[ManagementConfig] `mapstructure:"management"`

	// PrivateSuffixes permits origins with a wildcard below a public suffix that a company owns, such as
	// https://*.github.io. Below those of registries, such as https://*.com, no wildcard is permitted.
	PrivateSuffixes bool `mapstructure:"private_suffixes"`

	// Access is the id of the access extension, which gets an audit entry for each change. Empty: none.
	Access component.ID `mapstructure:"access"`

	_ struct{}
}

// MasterKeyConfig is one master key, or one key of an app's pseudonyms: base64 of at least 32 random
// bytes, or a file that holds the same.
type MasterKeyConfig struct {
	Key  configopaque.String `mapstructure:"key"`
	File string              `mapstructure:"key_file"`

	_ struct{}
}

// ManagementConfig is the listener of the management API.
type ManagementConfig struct {
	confighttp.ServerConfig `mapstructure:",squash"`

	// Tokens are the bearer tokens that may manage, at least one.
	Tokens []TokenConfig `mapstructure:"tokens"`

	_ struct{}
}

// TokenConfig is a bearer token of at least 32 bytes, itself or in a file, which is made
// (mode 0600) with a random token where it does not exist.
type TokenConfig struct {
	Name  string              `mapstructure:"name"` // in the audit log
	Token configopaque.String `mapstructure:"token"`
	File  string              `mapstructure:"token_file"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	errs := []error{c.validateKeys()}
	if len(c.Apps) == 0 && !c.stored() {
		errs = append(errs, errors.New("apps: at least one app is required, or storage, where others keep them"))
	}
	if c.Management.HasValue() && !c.stored() {
		errs = append(errs, errors.New("management: needs storage, for what it edits is kept there"))
	}
	seen := make(map[string]int, len(c.Apps))
	for i, app := range c.Apps {
		at := fmt.Sprintf("apps[%d]", i)
		if first, twice := seen[app.ID]; twice {
			errs = append(errs, fmt.Errorf("%s.id %q is that of apps[%d] too", at, app.ID, first))
		} else {
			seen[app.ID] = i
		}
		errs = append(errs, app.validate(at, c.PrivateSuffixes))
		if app.Retention > 0 && !c.stored() {
			errs = append(errs, fmt.Errorf("%s.retention needs storage, whose conferences it deletes", at))
		}
	}
	return errors.Join(errs...)
}

// stored reports whether there are apps in a store too.
func (c *Config) stored() bool { return c.Storage != (component.ID{}) }

func (c *Config) validateKeys() error {
	given := 0
	for _, is := range []bool{c.Key != "", c.KeyFile != "", len(c.Keys) > 0} {
		if is {
			given++
		}
	}
	switch {
	case given == 0:
		return errors.New("key or key_file is required, or keys where there are several")
	case given > 1:
		return errors.New("key and key_file exclude each other, and keys both")
	}
	var errs []error
	for i, key := range c.masterKeys() {
		at := "key"
		if len(c.Keys) > 0 {
			at = fmt.Sprintf("keys[%d]", i)
		}
		errs = append(errs, key.validate(at))
	}
	return errors.Join(errs...)
}

// masterKeys returns the master keys in whatever way they are given.
func (c *Config) masterKeys() []MasterKeyConfig {
	if len(c.Keys) > 0 {
		return c.Keys
	}
	return []MasterKeyConfig{{Key: c.Key, File: c.KeyFile}}
}

func (c *MasterKeyConfig) validate(at string) error {
	switch {
	case (c.Key == "") == (c.File == ""):
		return fmt.Errorf("%s: a key or a key_file is required, and not both", at)
	case c.File != "":
		return nil
	}
	if _, err := parseKey(string(c.Key)); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// parseKey reads a master key. Its errors tell nothing of it.
func parseKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("must be base64")
	}
	if len(key) < auth.MinKeyBytes {
		return nil, fmt.Errorf("must be at least %d bytes in base64 (got %d)", auth.MinKeyBytes, len(key))
	}
	return key, nil
}
