package qoswssreceiver

import (
	"errors"
	"fmt"
	"net/http"
	"runtime"

	"github.com/qosrtc/qos/internal/serve/throttle"
)

// throttleConfig limits the requests of applications, addresses and users.
type throttleConfig struct {
	// Handshakes are POSTs to auth that begin a handshake.
	Handshakes endpointRates `mapstructure:"handshakes"`
	// Failures are handshakes that were refused for a wrong secret or token. They are counted for an
	// application at an address and for its users there.
	Failures failureRates `mapstructure:"failures"`
	// Posts are POSTs to frames.
	Posts endpointRates `mapstructure:"posts"`
	// Configurations are POSTs to configuration.
	Configurations endpointRates `mapstructure:"configurations"`
	// Sockets are new WebSockets.
	Sockets endpointRates `mapstructure:"sockets"`
	// Bytes are those of open connections and POSTs, in KiB.
	Bytes byteRates `mapstructure:"bytes"`
	// Tracked is the number of apps, addresses or users that each of these limits holds.
	Tracked int `mapstructure:"tracked"`
	// ProofsAtOnce is the number of handshakes that are verified at once.
	ProofsAtOnce int `mapstructure:"proofs_at_once"`
	// ProofsWaiting is the number of further handshakes that may wait.
	ProofsWaiting int `mapstructure:"proofs_waiting"`

	_ struct{}
}

// endpointRates are the limits of one endpoint.
type endpointRates struct {
	PerApp     rateConfig `mapstructure:"per_app"`
	PerAddress rateConfig `mapstructure:"per_address"`
	PerUser    rateConfig `mapstructure:"per_user"` // at one address

	_ struct{}
}

// failureRates are the limits of failures.
type failureRates struct {
	PerAddress rateConfig `mapstructure:"per_address"`
	PerUser    rateConfig `mapstructure:"per_user"`

	_ struct{}
}

// byteRates are the limits of bytes, in KiB.
type byteRates struct {
	PerApp        rateConfig `mapstructure:"per_app"`
	PerAddress    rateConfig `mapstructure:"per_address"`
	PerUser       rateConfig `mapstructure:"per_user"` // at one address
	PerConnection rateConfig `mapstructure:"per_connection"`

	_ struct{}
}

// rateConfig is a token bucket.
type rateConfig struct {
	PerSecond float64 `mapstructure:"per_second"`
	Burst     int     `mapstructure:"burst"`

	_ struct{}
}

func perSecond(n float64, burst int) rateConfig { return rateConfig{PerSecond: n, Burst: burst} }

func (c rateConfig) rate() throttle.Rate { return throttle.PerSecond(c.PerSecond, c.Burst) }

// defaultThrottle returns the defaults, for which README.md has the reasons.
func defaultThrottle() throttleConfig {
	return throttleConfig{
		Handshakes:     endpointRates{PerApp: perSecond(1000, 10_000), PerAddress: perSecond(20, 2000), PerUser: perSecond(1, 100)},
		Failures:       failureRates{PerAddress: perSecond(1, 200), PerUser: perSecond(0.1, 10)},
		Posts:          endpointRates{PerApp: perSecond(5000, 50_000), PerAddress: perSecond(200, 5000), PerUser: perSecond(5, 100)},
		Configurations: endpointRates{PerApp: perSecond(1000, 10_000), PerAddress: perSecond(20, 2000), PerUser: perSecond(1, 100)},
		Sockets:        endpointRates{PerApp: perSecond(2000, 50_000), PerAddress: perSecond(50, 5000), PerUser: perSecond(1, 60)},
		Bytes: byteRates{
			PerApp: perSecond(32<<10, throttle.MaxBurst), PerAddress: perSecond(8<<10, 256<<10),
			PerUser: perSecond(512, 16<<10), PerConnection: perSecond(128, 4<<10),
		},
		Tracked:       65_536,
		ProofsAtOnce:  2 * runtime.GOMAXPROCS(0),
		ProofsWaiting: 1024,
	}
}

func (cfg *Config) validateThrottle() error {
	t := &cfg.Throttle
	return errors.Join(
		cfg.validateProxies(),
		requirePositive("max_connections_per_address", cfg.MaxConnectionsPerAddress),
		t.Handshakes.validate("throttle::handshakes"),
		t.Failures.PerAddress.validate("throttle::failures::per_address"),
		t.Failures.PerUser.validate("throttle::failures::per_user"),
		t.Posts.validate("throttle::posts"),
		t.Configurations.validate("throttle::configurations"),
		t.Sockets.validate("throttle::sockets"),
		t.Bytes.validate("throttle::bytes"),
		requirePositive("throttle::tracked", t.Tracked),
		requireRange("throttle::proofs_at_once", t.ProofsAtOnce, 2, 1<<16),
		requirePositive("throttle::proofs_waiting", t.ProofsWaiting),
	)
}

func (cfg *Config) validateProxies() error {
	_, err := newAddresses(cfg)
	switch http.CanonicalHeaderKey(cfg.ForwardedHeader) {
	case headerXForwardedFor, headerForwarded:
	default:
		err = errors.Join(err, fmt.Errorf("forwarded_header: must be %s or %s (got %q)", headerXForwardedFor, headerForwarded, cfg.ForwardedHeader))
	}
	return err
}

func (d endpointRates) validate(key string) error {
	return errors.Join(
		d.PerApp.validate(key+"::per_app"),
		d.PerAddress.validate(key+"::per_address"),
		d.PerUser.validate(key+"::per_user"),
	)
}

func (r byteRates) validate(key string) error {
	return errors.Join(
		endpointRates{PerApp: r.PerApp, PerAddress: r.PerAddress, PerUser: r.PerUser}.validate(key),
		r.PerConnection.validate(key+"::per_connection"),
	)
}

func (c rateConfig) validate(key string) error {
	return errors.Join(
		requireRange(key+"::per_second", c.PerSecond, throttle.MinPerSecond, throttle.MaxPerSecond),
		requireRange(key+"::burst", c.Burst, throttle.MinBurst, throttle.MaxBurst),
	)
}

// requireRange refuses a number out of range, and NaN.
func requireRange[N int | float64](key string, n, least, most N) error {
	if n >= least && n <= most {
		return nil
	}
	return fmt.Errorf("%s: must be %v to %v (got %v)", key, least, most, n)
}
