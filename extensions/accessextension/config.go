package accessextension

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/identity/access"
)

// Config of the access extension.
type Config struct {
	// Storage is the id of the storage extension that has the users, logins and audit entries.
	Storage component.ID `mapstructure:"storage"`

	// AbsoluteTimeout is the time after sign-in when a login ends.
	AbsoluteTimeout time.Duration `mapstructure:"absolute_timeout"`

	// IdleTimeout is the time after its last request when a login ends.
	IdleTimeout time.Duration `mapstructure:"idle_timeout"`

	// FirstAdmin is the name of the user that the first start makes.
	FirstAdmin string `mapstructure:"first_admin"`

	// SignInURL is the base URL of the dashboard. Where it is set, each start prints a link that
	// signs in as FirstAdmin, once. Empty: none.
	SignInURL string `mapstructure:"sign_in_url"`

	// TrustedProxies are addresses and networks of proxies in front, whose X-Forwarded-For is used.
	TrustedProxies []string `mapstructure:"trusted_proxies"`

	// AuditRetention is how long audit entries are kept.
	AuditRetention time.Duration `mapstructure:"audit_retention"`

	// OIDC is an OpenID provider at which users sign in, beside the users of the store.
	OIDC configoptional.Optional[OIDCConfig] `mapstructure:"oidc"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Bounds of the configuration.
const (
	minTimeout     = time.Minute
	maxTimeout     = 30 * 24 * time.Hour
	minRetention   = 24 * time.Hour
	maxAuditNumber = 1_000_000
)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.Storage == (component.ID{}) {
		errs = append(errs, errors.New("storage must name a storage extension"))
	}
	for name, timeout := range map[string]time.Duration{"absolute_timeout": c.AbsoluteTimeout, "idle_timeout": c.IdleTimeout} {
		if timeout < minTimeout || timeout > maxTimeout {
			errs = append(errs, fmt.Errorf("%s must be %s to %s (got %s)", name, minTimeout, maxTimeout, timeout))
		}
	}
	if c.AuditRetention < minRetention {
		errs = append(errs, fmt.Errorf("audit_retention must be at least %s (got %s)", minRetention, c.AuditRetention))
	}
	if err := access.CheckUserName(c.FirstAdmin); err != nil {
		errs = append(errs, fmt.Errorf("first_admin: %w", err))
	}
	if u, err := url.Parse(c.SignInURL); c.SignInURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "") {
		errs = append(errs, errors.New("sign_in_url must be the http or https URL of the dashboard"))
	}
	_, err := c.proxies()
	return errors.Join(append(errs, err)...)
}

// proxies returns the networks of TrustedProxies.
func (c *Config) proxies() (networks []netip.Prefix, err error) {
	for i, text := range c.TrustedProxies {
		network, err := netip.ParsePrefix(text)
		if addr, fault := netip.ParseAddr(text); fault == nil {
			network, err = addr.Prefix(addr.BitLen())
		}
		if err != nil {
			return nil, fmt.Errorf("trusted_proxies[%d] must be an address or a network (got %q)", i, text)
		}
		networks = append(networks, network.Masked())
	}
	return networks, nil
}
