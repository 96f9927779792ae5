package accessextension

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/serve/loopback"
)

// OIDCConfig is an OpenID provider at which users sign in.
type OIDCConfig struct {
	// Issuer is the URL of the provider, as it names itself.
	Issuer string `mapstructure:"issuer"`

	// ClientID and ClientSecret are those that the provider has for the dashboard. A public client has no secret.
	ClientID     string              `mapstructure:"client_id"`
	ClientSecret configopaque.String `mapstructure:"client_secret"`

	// RedirectURL is the URL of the dashboard with the path /signin/provider/callback. The provider has the same.
	RedirectURL string `mapstructure:"redirect_url"`

	// Label names the provider on the sign-in page: "Sign in with Label".
	Label string `mapstructure:"label"`

	// Scopes are those that the dashboard requests: openid, and others by which the provider adds claims.
	Scopes []string `mapstructure:"scopes"`

	// NameClaim is the claim that names a user on pages. Without it the subject does.
	NameClaim string `mapstructure:"name_claim"`

	// Roles decides the roles of a user at each sign-in.
	Roles OIDCRoles `mapstructure:"roles"`

	// Apps decides the apps of a user at each sign-in.
	Apps OIDCApps `mapstructure:"apps"`

	// HTTP has TLS, timeout and proxy of requests to the provider. Its endpoint is empty.
	HTTP confighttp.ClientConfig `mapstructure:"http"`

	_ struct{}
}

// OIDCRoles decides roles by a claim.
type OIDCRoles struct {
	// Claim is a text or a list of texts, by name or by a path with dots.
	Claim string `mapstructure:"claim"`

	// Map has the roles of each value. Other values give none.
	Map map[string][]access.Role `mapstructure:"map"`

	_ struct{}
}

// OIDCApps decides which apps a user may read or manage: one of its members is set.
type OIDCApps struct {
	// All is true for all apps.
	All bool `mapstructure:"all"`

	// List has the AppIDs.
	List []string `mapstructure:"list"`

	// Claim is a claim with the AppID or a list of them. The value * is all apps.
	Claim string `mapstructure:"claim"`

	_ struct{}
}

// Bounds of the provider's configuration.
const (
	providerTimeout    = 5 * time.Second // default
	maxProviderTimeout = 30 * time.Second
	maxLabel           = 40
	callbackPath       = "/signin/provider/callback"
)

func defaultOIDC() OIDCConfig {
	client := confighttp.NewDefaultClientConfig()
	client.Timeout = providerTimeout
	return OIDCConfig{Label: "single sign-on", Scopes: []string{"openid", "profile"}, NameClaim: "name", HTTP: client}
}

// Validate implements xconfmap.Validator.
func (c *OIDCConfig) Validate() error {
	var errs []error
	fault := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !plainURL(c.Issuer) {
		fault("issuer must be an https URL without query and fragment, or http on this machine")
	}
	if u, err := url.Parse(c.RedirectURL); !plainURL(c.RedirectURL) || err != nil || u.Path != callbackPath {
		fault("redirect_url must be the https URL of the dashboard with the path %s, or http on this machine", callbackPath)
	}
	if c.ClientID == "" {
		fault("client_id must not be empty")
	}
	if n := utf8.RuneCountInString(c.Label); n == 0 || n > maxLabel || access.ShownName(c.Label) != c.Label {
		fault("label must have 1 to %d characters, in one line and without control characters (got %d)", maxLabel, n)
	}
	if !slices.Contains(c.Scopes, "openid") {
		fault("scopes must contain openid")
	}
	if c.NameClaim == "" {
		fault("name_claim must not be empty")
	}
	if c.HTTP.Endpoint != "" {
		fault("http::endpoint must be empty: the provider's metadata have the endpoints")
	}
	if c.HTTP.Timeout <= 0 || c.HTTP.Timeout > maxProviderTimeout {
		fault("http::timeout must be more than 0s and at most %s (got %s)", maxProviderTimeout, c.HTTP.Timeout)
	}
	return errors.Join(append(errs, c.Roles.check(), c.Apps.check())...)
}

// plainURL reports whether a text is a URL with TLS, or one of this machine, that has nothing after its path.
func plainURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		(u.Scheme == "https" || u.Scheme == "http" && loopback.Host(u.Hostname()))
}

func (c *OIDCRoles) check() error {
	if c.Claim == "" || len(c.Map) == 0 {
		return errors.New("roles must have a claim and a map of its values to roles")
	}
	for _, value := range slices.Sorted(maps.Keys(c.Map)) {
		u := access.User{Roles: c.Map[value], Scope: access.Scope{All: true}}
		if err := u.Check(); err != nil {
			return fmt.Errorf("roles::map::%s: %w", value, err)
		}
	}
	return nil
}

func (c *OIDCApps) check() error {
	set := 0
	for _, one := range []bool{c.All, len(c.List) > 0, c.Claim != ""} {
		if one {
			set++
		}
	}
	if set != 1 {
		return errors.New("apps must have one of all, list and claim")
	}
	if len(c.List) == 0 {
		return nil
	}
	u := access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{Apps: c.List}}
	if err := u.Check(); err != nil {
		return fmt.Errorf("apps::list: %w", err)
	}
	return nil
}
