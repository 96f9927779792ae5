package timeseriesexporter

import (
	"errors"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/serve/loopback"
)

// Config of the time-series exporter.
type Config struct {
	// ServerConfig is the scrape endpoint; it serves the metrics at /metrics.
	confighttp.ServerConfig `mapstructure:",squash"`

	// Config bounds the series.
	series.Config `mapstructure:",squash"`

	// AllowedHosts are host names, without a port, that an endpoint on loopback answers to
	// besides loopback: a page in a browser of this machine must not read it by pointing its
	// own name here (DNS rebinding). An endpoint that others reach answers to every name.
	AllowedHosts []string `mapstructure:"allowed_hosts"`

	// Push sends the series to a store, besides the scrape endpoint.
	Push configoptional.Optional[PushConfig] `mapstructure:"push"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New(`endpoint must not be empty`))
	}
	errs = append(errs, c.Config.Validate(), loopback.ValidateHosts(c.AllowedHosts))
	return errors.Join(errs...)
}
