package timeseriesexporter

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/loopback"
)

// Config of the time-series exporter.
type Config struct {
	// ServerConfig is the scrape endpoint; the metrics stand under /metrics.
	confighttp.ServerConfig `mapstructure:",squash"`

	// AllowedHosts are host names, without a port, that an endpoint on loopback answers to
	// besides loopback: a page in a browser of this machine must not read it by pointing its
	// own name here (DNS rebinding). An endpoint that others reach answers to every name.
	AllowedHosts []string `mapstructure:"allowed_hosts"`

	// MaxApps bounds the label "app": records of further apps are counted under "other".
	MaxApps int `mapstructure:"max_apps"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New(`endpoint must not be empty`))
	}
	if c.MaxApps < 1 {
		errs = append(errs, fmt.Errorf("max_apps must be positive (got %d)", c.MaxApps))
	}
	errs = append(errs, loopback.ValidateHosts(c.AllowedHosts))
	return errors.Join(errs...)
}
