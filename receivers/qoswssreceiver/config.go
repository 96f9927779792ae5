package qoswssreceiver

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/serve/loopback"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/address"
)

// Config is the receiver's configuration.
type Config struct {
	confighttp.ServerConfig `mapstructure:",squash"`

	// Apps names the extension of the applications.
	Apps component.ID `mapstructure:"apps"`
	// TURN names the extension that provides TURN servers for pre-call tests and calls. Empty: no servers.
	TURN component.ID `mapstructure:"turn"`
	// Storage names the storage extension whose past calls and tests recommendations use. Empty: none.
	Storage component.ID `mapstructure:"storage"`
	// PathPrefix precedes all paths, "/qos" for example. Empty: no prefix.
	PathPrefix string `mapstructure:"path_prefix"`
	// BehindTLSProxy permits plain HTTP on addresses other than loopback, because a proxy in front
	// terminates TLS.
	BehindTLSProxy bool `mapstructure:"behind_tls_proxy"`
	// TrustedProxies are addresses and networks of proxies in front that are trusted to report the
	// address of a client.
	TrustedProxies []string `mapstructure:"trusted_proxies"`
	// ForwardedHeader is the header in which they report it: X-Forwarded-For or Forwarded.
	ForwardedHeader string `mapstructure:"forwarded_header"`
	// DashboardURL is the dashboard's URL for people; clients build links to conferences from it.
	// Empty: no links.
	DashboardURL string `mapstructure:"dashboard_url"`
	// StatsInterval is the measurement interval of clients whose application sets none.
	StatsInterval time.Duration `mapstructure:"stats_interval"`
	// MaxConnections limits the open WebSocket connections.
	MaxConnections int `mapstructure:"max_connections"`
	// MaxConnectionsPerApp limits the open WebSocket connections of one application.
	MaxConnectionsPerApp int `mapstructure:"max_connections_per_app"`
	// MaxConnectionsPerAddress limits the open WebSocket connections of one client address.
	MaxConnectionsPerAddress int `mapstructure:"max_connections_per_address"`
	// Throttle limits the requests of applications, addresses and users.
	Throttle throttleConfig `mapstructure:"throttle"`
	// Memory limits the bytes that clients make the receiver hold.
	Memory memoryConfig `mapstructure:"memory"`
	// MaxFramesPerSecond limits the messages of one connection; a faster client has to slow down.
	MaxFramesPerSecond int `mapstructure:"max_frames_per_second"`
	// Addresses is the treatment of network addresses in texts of clients, before any other component
	// receives them: truncate (IPv4 to /24, IPv6 to /48), drop or keep.
	Addresses address.Mode `mapstructure:"addresses"`
	// KeepNetworks are addresses and networks that are never truncated: the operator's TURN servers.
	KeepNetworks []string `mapstructure:"keep_networks"`
	// PipelineTimeout limits one call of the pipeline. Clients send frames again after a timeout.
	PipelineTimeout time.Duration `mapstructure:"pipeline_timeout"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

func createDefaultConfig() component.Config {
	server := tlsserver.DefaultConfig("localhost:8480")
	server.ReadTimeout = 20 * time.Second
	server.MaxRequestBodySize = protocol.MaxFrameBytes + maxDrainBytes // the endpoints accept MaxFrameBytes
	server.CompressionAlgorithms = []string{""}                        // bodies are small, and a decoder is one more target of attacks
	return &Config{
		ServerConfig:             server,
		Apps:                     component.MustNewID("qosapps"),
		StatsInterval:            10 * time.Second,
		MaxConnections:           50_000,
		MaxConnectionsPerApp:     50_000,
		MaxConnectionsPerAddress: 5000,
		ForwardedHeader:          headerXForwardedFor,
		Throttle:                 defaultThrottle(),
		Memory:                   defaultMemory(),
		MaxFramesPerSecond:       200,
		Addresses:                address.Truncate,
		PipelineTimeout:          10 * time.Second,
	}
}

// Validate reports all errors at once, each with its key.
func (cfg *Config) Validate() error {
	return errors.Join(
		cfg.validateTransport(),
		cfg.validatePaths(),
		cfg.validateStats(),
		cfg.validateThrottle(),
		cfg.Memory.validate(),
		cfg.validateAddresses(),
		requirePositive("max_connections", cfg.MaxConnections),
		requirePositive("max_connections_per_app", cfg.MaxConnectionsPerApp),
		requirePositive("max_frames_per_second", cfg.MaxFramesPerSecond),
		requirePositive("pipeline_timeout", cfg.PipelineTimeout),
	)
}

func (cfg *Config) validateAddresses() error {
	_, err := address.New(cfg.Addresses, cfg.KeepNetworks)
	return err
}

// requirePositive refuses a limit that would admit nothing.
func requirePositive[N int | time.Duration](key string, n N) error {
	if n > 0 {
		return nil
	}
	return fmt.Errorf("%s: must be positive (got %v)", key, n)
}

func (cfg *Config) validateTransport() error {
	if cfg.NetAddr.Endpoint == "" {
		return errors.New("endpoint: must not be empty")
	}
	if cfg.CORS.HasValue() {
		return errors.New("cors: must not be set, the receiver answers CORS itself; list origins at the application (key origins of the apps extension)")
	}
	if cfg.TLS.HasValue() || cfg.BehindTLSProxy || cfg.NetAddr.Transport == confignet.TransportTypeUnix {
		return nil
	}
	if !loopback.Endpoint(cfg.NetAddr.Endpoint) {
		return fmt.Errorf("tls: plain HTTP is served on loopback only and endpoint is %q: configure tls, "+
			"or set behind_tls_proxy: true when a proxy in front ends TLS", cfg.NetAddr.Endpoint)
	}
	return nil
}

func (cfg *Config) validatePaths() error {
	var errs []error
	if p := cfg.PathPrefix; p != "" && !validPrefix(p) {
		errs = append(errs, fmt.Errorf("path_prefix: must look like /qos or /a/b, without a slash at the end (got %q)", p))
	}
	if cfg.DashboardURL != "" {
		u, err := url.Parse(cfg.DashboardURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
			errs = append(errs, fmt.Errorf("dashboard_url: must be an http or https URL without query (got %q)", cfg.DashboardURL))
		}
	}
	return errors.Join(errs...)
}

// validPrefix accepts letters, digits and "-._~" between single slashes.
func validPrefix(p string) bool {
	rest, ok := strings.CutPrefix(p, "/")
	if !ok {
		return false
	}
	for segment := range strings.SplitSeq(rest, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.ContainsFunc(segment, notUnreserved) {
			return false
		}
	}
	return true
}

func notUnreserved(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	digit := '0' <= r && r <= '9'
	return !letter && !digit && !strings.ContainsRune("-._~", r)
}

func (cfg *Config) validateStats() error {
	var errs []error
	if cfg.StatsInterval < protocol.MinStatsInterval || cfg.StatsInterval > protocol.MaxStatsInterval {
		errs = append(errs, fmt.Errorf("stats_interval: must be %v to %v (got %v)", protocol.MinStatsInterval, protocol.MaxStatsInterval, cfg.StatsInterval))
	}
	return errors.Join(errs...)
}

// conferenceURL returns the URL template of conferences for clients, empty without a dashboard.
func (cfg *Config) conferenceURL() string {
	if cfg.DashboardURL == "" {
		return ""
	}
	return strings.TrimRight(cfg.DashboardURL, "/") + "/conference?app={appID}&id={conferenceID}&at={at}"
}
