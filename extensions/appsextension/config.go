package appsextension

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/auth"
	"github.com/qosrtc/qos/protocol"
)

// maxSecretBytes is the longest AppSecret.
const maxSecretBytes = 1 << 10

// Config of the apps extension.
type Config struct {
	// Apps are the applications that may send.
	Apps []AppConfig `mapstructure:"apps"`

	// Key is the installation's master key: base64 of at least 32 random bytes.
	Key configopaque.String `mapstructure:"key"`

	// KeyFile holds the same. It is made (mode 0600, its directory 0700) with a random
	// key where it does not exist.
	KeyFile string `mapstructure:"key_file"`

	_ struct{}
}

// AppConfig is one application.
type AppConfig struct {
	// ID is the AppID.
	ID string `mapstructure:"id"`

	// Secrets are its AppSecrets; each of them admits, so that one can follow another.
	Secrets []configopaque.String `mapstructure:"secrets"`

	// Origins are the origins whose pages may use it; empty: all.
	Origins []string `mapstructure:"origins"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	errs := []error{c.validateKey()}
	if len(c.Apps) == 0 {
		errs = append(errs, errors.New("apps: at least one app is required"))
	}
	seen := make(map[string]int, len(c.Apps))
	for i, app := range c.Apps {
		at := fmt.Sprintf("apps[%d]", i)
		if first, twice := seen[app.ID]; twice {
			errs = append(errs, fmt.Errorf("%s.id %q is that of apps[%d] too", at, app.ID, first))
		} else {
			seen[app.ID] = i
		}
		errs = append(errs, app.validate(at))
	}
	return errors.Join(errs...)
}

func (c *Config) validateKey() error {
	switch {
	case c.Key == "" && c.KeyFile == "":
		return errors.New("key or key_file is required")
	case c.Key != "" && c.KeyFile != "":
		return errors.New("key and key_file exclude each other")
	case c.KeyFile != "":
		return nil
	}
	if _, err := parseKey(string(c.Key)); err != nil {
		return fmt.Errorf("key: %w", err)
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

func (a *AppConfig) validate(at string) error {
	var errs []error
	if n := len(a.ID); n == 0 || n > protocol.MaxIDBytes {
		errs = append(errs, fmt.Errorf("%s.id must have 1 to %d bytes (got %d)", at, protocol.MaxIDBytes, n))
	}
	if len(a.Secrets) == 0 {
		errs = append(errs, fmt.Errorf("%s.secrets: at least one secret is required", at))
	}
	for i, secret := range a.Secrets {
		if n := len(secret); n == 0 || n > maxSecretBytes {
			errs = append(errs, fmt.Errorf("%s.secrets[%d] must have 1 to %d bytes (got %d)", at, i, maxSecretBytes, n))
		}
	}
	for i, origin := range a.Origins {
		if err := auth.CheckOrigin(origin); err != nil {
			errs = append(errs, fmt.Errorf("%s.origins[%d] %w (got %q)", at, i, err, origin))
		}
	}
	return errors.Join(errs...)
}
