package turnextension

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/internal/serve/publicaddr"
)

// Config of the TURN extension.
type Config struct {
	// Server is the embedded server. It is off without an endpoint.
	Server ServerConfig `mapstructure:"server"`

	// Outside are TURN servers of other processes. Credentials are made with the secret that each shares.
	Outside []OutsideConfig `mapstructure:"outside"`

	// Test is about credentials for pre-call tests.
	Test TestConfig `mapstructure:"test"`

	// Call is about credentials for calls.
	Call CallConfig `mapstructure:"call"`

	_ struct{}
}

// ServerConfig is the embedded server.
type ServerConfig struct {
	// Label names the server in results of pre-call tests.
	Label string `mapstructure:"label"`

	// Host is what clients reach the server by: a name or an address without a port. Empty: relay_address.
	// TLS needs the name of its certificate.
	Host string `mapstructure:"host"`

	// URLs replace those that follow from host and endpoints, where clients see other ports.
	URLs []string `mapstructure:"urls"`

	// UDP, TCP and TLS are the listeners. One that is absent is off.
	UDP EndpointConfig                     `mapstructure:"udp"`
	TCP EndpointConfig                     `mapstructure:"tcp"`
	TLS configoptional.Optional[TLSConfig] `mapstructure:"tls"`

	// RelayAddress is the IPv4 address of relays as peers see it. RelayBind is the one of this machine where
	// the sockets for calls listen; empty: relay_address.
	RelayAddress string `mapstructure:"relay_address"`
	RelayBind    string `mapstructure:"relay_bind"`

	// MinPort and MaxPort are the ports of relays, inclusive.
	MinPort uint16 `mapstructure:"min_port"`
	MaxPort uint16 `mapstructure:"max_port"`

	// AllowedNetworks are CIDR prefixes that calls may reach although they are not public.
	AllowedNetworks []string `mapstructure:"allowed_networks"`

	// SecretFile has the secret of the credentials, at least 32 bytes, for servers behind one name. Empty: a
	// random one, so that this process alone makes credentials.
	SecretFile string `mapstructure:"secret_file"`

	// Realm of the server.
	Realm string `mapstructure:"realm"`

	// Requests a second, of one client address and of all, that have no allocation. Addresses of IPv6 count
	// by their /64.
	AddressRequestsPerSecond float64 `mapstructure:"address_requests_per_second"`
	RequestsPerSecond        float64 `mapstructure:"requests_per_second"`

	// TCP connections at one time, of one client address and of all.
	AddressConnections int `mapstructure:"address_connections"`
	Connections        int `mapstructure:"connections"`

	_ struct{}
}

// EndpointConfig is where a listener listens: host:port.
type EndpointConfig struct {
	Endpoint string `mapstructure:"endpoint"`

	_ struct{}
}

// TLSConfig is the listener for TLS.
type TLSConfig struct {
	Endpoint               string `mapstructure:"endpoint"`
	configtls.ServerConfig `mapstructure:",squash"`

	_ struct{}
}

// OutsideConfig is a TURN server of another process.
type OutsideConfig struct {
	// Label names the server in results of pre-call tests.
	Label string `mapstructure:"label"`

	// URLs of the schemes turn and turns.
	URLs []string `mapstructure:"urls"`

	// SecretFile has the secret that the server shares, at least 32 bytes.
	SecretFile string `mapstructure:"secret_file"`

	// Kinds are what credentials are made for: test, call or both. Empty: both.
	Kinds []turnrest.Kind `mapstructure:"kinds"`

	_ struct{}
}

// TestConfig is about credentials for pre-call tests.
type TestConfig struct {
	// MaxDuration, MaxBytes and MaxThroughputBps (bits per second) are what a test keeps to. On a path of short round
	// trips it ends after some 15 s by itself.
	MaxDuration      time.Duration `mapstructure:"max_duration"`
	MaxBytes         int64         `mapstructure:"max_bytes"`
	MaxThroughputBps int64         `mapstructure:"max_throughput_bps"`

	LimitsConfig `mapstructure:",squash"`

	_ struct{}
}

// CallConfig is about credentials for calls.
type CallConfig struct {
	// Enabled hands out credentials for calls.
	Enabled bool `mapstructure:"enabled"`

	LimitsConfig `mapstructure:",squash"`

	_ struct{}
}

// LimitsConfig are the limits of one kind of credentials. Those of allocations and bytes are of the embedded
// server.
type LimitsConfig struct {
	// CredentialTTL is how long a credential makes allocations. Allocations outlive it.
	CredentialTTL time.Duration `mapstructure:"credential_ttl"`

	// AllocationLifetime ends an allocation, however often it is refreshed.
	AllocationLifetime time.Duration `mapstructure:"allocation_lifetime"`

	// PerUser and Overall bound allocations and relayed bytes.
	PerUser QuotaConfig `mapstructure:"per_user"`
	Overall QuotaConfig `mapstructure:"overall"`
}

// QuotaConfig bounds allocations at one time, and the bytes that they relay, both directions together.
type QuotaConfig struct {
	Allocations    int   `mapstructure:"allocations"`
	BytesPerSecond int64 `mapstructure:"bytes_per_second"` // 0: unlimited
	BytesPerHour   int64 `mapstructure:"bytes_per_hour"`   // 0: unlimited

	_ struct{}
}

const (
	maxLabelBytes = 128
	maxURLs       = 16
	maxOutside    = 31 // with the embedded one as many as a result has
	maxTTL        = 24 * time.Hour
	minTTL        = time.Minute
)

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.Server.on() {
		errs = append(errs, c.Server.check())
	}
	if len(c.Outside) > maxOutside {
		errs = append(errs, fmt.Errorf("outside must have at most %d servers (got %d)", maxOutside, len(c.Outside)))
	}
	labels := []string{c.Server.Label}
	for i := range c.Outside {
		at := fmt.Sprintf("outside[%d]", i)
		errs = append(errs, c.Outside[i].check(at))
		if slices.Contains(labels, c.Outside[i].Label) {
			errs = append(errs, fmt.Errorf("%s.label %q is that of another server too", at, c.Outside[i].Label))
		}
		labels = append(labels, c.Outside[i].Label)
	}
	if c.Test.MaxDuration < time.Second || c.Test.MaxDuration > time.Minute {
		errs = append(errs, fmt.Errorf("test.max_duration must be 1s to 1m (got %s)", c.Test.MaxDuration))
	}
	if c.Test.MaxBytes < 1 || c.Test.MaxThroughputBps < 1 {
		errs = append(errs, fmt.Errorf("test.max_bytes and test.max_throughput_bps must be positive (got %d and %d)", c.Test.MaxBytes, c.Test.MaxThroughputBps))
	}
	return errors.Join(append(errs, c.Test.check("test"), c.Call.check("call"))...)
}

// secureEndpoint is the one of TLS, empty where it is off.
func (c *ServerConfig) secureEndpoint() string {
	if !c.TLS.HasValue() {
		return ""
	}
	return c.TLS.Get().Endpoint
}

// on reports whether there is an embedded server.
func (c *ServerConfig) on() bool {
	return c.UDP.Endpoint != "" || c.TCP.Endpoint != "" || c.TLS.HasValue()
}

func (c *ServerConfig) check() error {
	errs := []error{checkLabel("server.label", c.Label), checkURLs("server.urls", c.URLs)}
	for _, listener := range []struct {
		name, endpoint string
		on             bool
	}{{"udp", c.UDP.Endpoint, c.UDP.Endpoint != ""}, {"tcp", c.TCP.Endpoint, c.TCP.Endpoint != ""}, {"tls", c.secureEndpoint(), c.TLS.HasValue()}} {
		if _, _, err := net.SplitHostPort(listener.endpoint); listener.on && err != nil {
			errs = append(errs, fmt.Errorf("server.%s.endpoint must be host:port (got %q)", listener.name, listener.endpoint))
		}
	}
	if strings.ContainsAny(c.Host, "/?#@ ") {
		errs = append(errs, fmt.Errorf("server.host must be a name or an address (got %q)", c.Host))
	}
	_, _, err := c.relayAddresses()
	_, bad := publicaddr.Networks("server.allowed_networks", c.AllowedNetworks)
	errs = append(errs, err, bad)
	if c.MinPort < 1024 || c.MaxPort < c.MinPort {
		errs = append(errs, fmt.Errorf("server.min_port must be at least 1024 and at most max_port (got %d and %d)", c.MinPort, c.MaxPort))
	}
	if c.Realm == "" || len(c.Realm) > maxLabelBytes {
		errs = append(errs, fmt.Errorf("server.realm must have 1 to %d bytes (got %d)", maxLabelBytes, len(c.Realm)))
	}
	if c.AddressRequestsPerSecond <= 0 || c.RequestsPerSecond <= 0 {
		errs = append(errs, fmt.Errorf("server.address_requests_per_second and server.requests_per_second must be positive (got %g and %g)",
			c.AddressRequestsPerSecond, c.RequestsPerSecond))
	}
	if c.AddressConnections < 1 || c.Connections < 1 {
		errs = append(errs, fmt.Errorf("server.address_connections and server.connections must be positive (got %d and %d)", c.AddressConnections, c.Connections))
	}
	return errors.Join(errs...)
}

// relayAddresses returns what relays have as peers see them, and where their sockets for calls listen.
func (c *ServerConfig) relayAddresses() (address, bind netip.Addr, err error) {
	address, err = netip.ParseAddr(c.RelayAddress)
	if err != nil || !address.Is4() || address.IsUnspecified() || address.IsMulticast() {
		return address, bind, fmt.Errorf("server.relay_address must be an IPv4 address (got %q)", c.RelayAddress)
	}
	if c.RelayBind == "" {
		return address, address, nil
	}
	if bind, err = netip.ParseAddr(c.RelayBind); err != nil || !bind.Is4() || bind.IsMulticast() {
		return address, bind, fmt.Errorf("server.relay_bind must be an IPv4 address (got %q)", c.RelayBind)
	}
	return address, bind, nil
}

func (c *OutsideConfig) check(at string) error {
	errs := []error{checkLabel(at+".label", c.Label), checkURLs(at+".urls", c.URLs)}
	if len(c.URLs) == 0 {
		errs = append(errs, fmt.Errorf("%s.urls must not be empty", at))
	}
	if c.SecretFile == "" {
		errs = append(errs, fmt.Errorf("%s.secret_file must not be empty", at))
	}
	for _, kind := range c.Kinds {
		if kind != turnrest.Test && kind != turnrest.Call {
			errs = append(errs, fmt.Errorf("%s.kinds must be test or call (got %q)", at, kind))
		}
	}
	return errors.Join(errs...)
}

// makes reports whether credentials of a kind are made for the server.
func (c *OutsideConfig) makes(kind turnrest.Kind) bool {
	return len(c.Kinds) == 0 || slices.Contains(c.Kinds, kind)
}

func checkLabel(at, label string) error {
	if label == "" || len(label) > maxLabelBytes {
		return fmt.Errorf("%s must have 1 to %d bytes (got %d)", at, maxLabelBytes, len(label))
	}
	return nil
}

func checkURLs(at string, urls []string) error {
	if len(urls) > maxURLs {
		return fmt.Errorf("%s must have at most %d URLs (got %d)", at, maxURLs, len(urls))
	}
	for i, url := range urls {
		scheme, rest, _ := strings.Cut(url, ":")
		if scheme != "turn" && scheme != "turns" || rest == "" || strings.ContainsAny(rest, "/@ #") {
			return fmt.Errorf("%s[%d] must be turn:host:port or turns:host:port, with ?transport=udp or tcp (got %q)", at, i, url)
		}
	}
	return nil
}

func (c *LimitsConfig) check(at string) error {
	var errs []error
	if c.CredentialTTL < minTTL || c.CredentialTTL > maxTTL {
		errs = append(errs, fmt.Errorf("%s.credential_ttl must be %s to %s (got %s)", at, minTTL, maxTTL, c.CredentialTTL))
	}
	if c.AllocationLifetime < time.Second {
		errs = append(errs, fmt.Errorf("%s.allocation_lifetime must be at least 1s (got %s)", at, c.AllocationLifetime))
	}
	return errors.Join(append(errs, c.PerUser.check(at+".per_user"), c.Overall.check(at+".overall"))...)
}

func (c *QuotaConfig) check(at string) error {
	var errs []error
	if c.Allocations < 1 {
		errs = append(errs, fmt.Errorf("%s.allocations must be positive (got %d)", at, c.Allocations))
	}
	if c.BytesPerSecond < 0 || c.BytesPerHour < 0 {
		errs = append(errs, fmt.Errorf("%s.bytes_per_second and bytes_per_hour must not be negative (got %d and %d)", at, c.BytesPerSecond, c.BytesPerHour))
	}
	return errors.Join(errs...)
}
