package storageextension

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/storage/sqlite"
)

// Config of the storage extension.
type Config struct {
	// Directory holds the store's files. It is made (mode 0700) where it does not exist.
	Directory string `mapstructure:"directory"`

	// Retention is how long after its end a conference is kept; 0 keeps all.
	Retention time.Duration `mapstructure:"retention"`

	// Synchronous is normal (an acknowledged record survives a crash of the process) or
	// full (also a power cut).
	Synchronous string `mapstructure:"synchronous"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.Directory == "" {
		errs = append(errs, errors.New("directory is required"))
	}
	if c.Retention < 0 {
		errs = append(errs, fmt.Errorf("retention must not be negative (got %s)", c.Retention))
	}
	switch sqlite.Synchronous(c.Synchronous) {
	case sqlite.SynchronousNormal, sqlite.SynchronousFull:
	default:
		errs = append(errs, fmt.Errorf("synchronous must be normal or full (got %q)", c.Synchronous))
	}
	return errors.Join(errs...)
}
