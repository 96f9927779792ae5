package seriesconnector

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/metrics/series"
)

// Config of the series connector.
type Config struct {
	// Config bounds the series.
	series.Config `mapstructure:",squash"`

	// Interval is the time between two data points of a series.
	Interval time.Duration `mapstructure:"interval"`

	_ struct{}
}

const (
	defaultInterval = 15 * time.Second
	minInterval     = 100 * time.Millisecond
)

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	err := c.Config.Validate()
	if c.Interval < minInterval {
		err = errors.Join(err, fmt.Errorf("interval must be at least %v (got %v)", minInterval, c.Interval))
	}
	return err
}
