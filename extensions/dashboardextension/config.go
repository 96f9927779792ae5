package dashboardextension

import (
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/serve/loopback"
)

// Config of the dashboard extension.
type Config struct {
	// ServerConfig is the endpoint of the pages and the read API.
	confighttp.ServerConfig `mapstructure:",squash"`

	// Storage is the id of the storage extension whose conferences are shown.
	Storage component.ID `mapstructure:"storage"`

	// Access is the id of the access extension. With it, readers sign in, and see what their roles
	// permit. Empty: none.
	Access component.ID `mapstructure:"access"`

	// Apps is the id of the apps extension. By it users of apps that hash user IDs are found by the IDs
	// that they were given. With Access, its management API is served here, too, for administrators.
	// Empty: none.
	Apps component.ID `mapstructure:"apps"`

	// BehindTLSProxy says that a proxy in front ends TLS, so that plain HTTP may be served on other
	// addresses than loopback, with Access.
	BehindTLSProxy bool `mapstructure:"behind_tls_proxy"`

	// AllowUnauthenticated lets anyone who reaches the endpoint read every conference. An
	// endpoint that is not loopback needs it, or an `auth` block.
	AllowUnauthenticated bool `mapstructure:"allow_unauthenticated"`

	// AllowedHosts are host names, without a port, that the dashboard answers to besides
	// loopback and the endpoint's own: a page of another origin must not read it by
	// pointing its own name here (DNS rebinding).
	AllowedHosts []string `mapstructure:"allowed_hosts"`

	// ShowUserNames shows userName beside aliasName.
	ShowUserNames bool `mapstructure:"show_user_names"`

	// MCP serves tools for language models at /mcp, read-only (Model Context Protocol). With Access, they take
	// API tokens only.
	MCP bool `mapstructure:"mcp"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.NetAddr.Endpoint == "" {
		errs = append(errs, errors.New("endpoint must not be empty"))
	} else if !c.private() {
		errs = append(errs, c.validatePublic())
	}
	errs = append(errs, c.validateAccess())
	if c.Storage == (component.ID{}) {
		errs = append(errs, errors.New("storage must name a storage extension"))
	}
	if c.CORS.HasValue() {
		errs = append(errs, errors.New("cors is not supported: no other origin may read the dashboard"))
	}
	errs = append(errs, loopback.ValidateHosts(c.AllowedHosts))
	return errors.Join(errs...)
}

// validatePublic checks an endpoint that other machines reach.
func (c *Config) validatePublic() error {
	if c.signIn() {
		if c.TLS.HasValue() || c.BehindTLSProxy {
			return nil
		}
		return fmt.Errorf("tls: passwords need TLS and endpoint is %q: configure tls, or set behind_tls_proxy: true when a proxy in front ends TLS", c.NetAddr.Endpoint)
	}
	if c.AllowUnauthenticated || c.Auth.HasValue() {
		return nil
	}
	return fmt.Errorf("endpoint %q is not loopback: set access, auth, or allow_unauthenticated to let anyone read", c.NetAddr.Endpoint)
}

// signIn reports whether readers sign in.
func (c *Config) signIn() bool { return c.Access != (component.ID{}) }

func (c *Config) validateAccess() error {
	if c.signIn() && (c.AllowUnauthenticated || c.ShowUserNames) {
		return errors.New("access decides who reads what: leave out allow_unauthenticated and show_user_names")
	}
	return nil
}

// private reports whether only this machine reaches the endpoint.
func (c *Config) private() bool {
	if strings.HasPrefix(string(c.NetAddr.Transport), "unix") {
		return true
	}
	return loopback.Endpoint(c.NetAddr.Endpoint)
}
