package accessextension

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/identity/access"
)

// readme returns the configurations that the README shows.
func readme(t *testing.T) (shown []*Config) {
	t.Helper()
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		shown = append(shown, load(t, string(block[1])))
	}
	return shown
}

// load reads a configuration of the extension.
func load(t *testing.T, text string) *Config {
	t.Helper()
	retrieved, err := confmap.NewRetrievedFromYAML([]byte(text))
	require.NoError(t, err)
	conf, err := retrieved.AsConf()
	require.NoError(t, err)
	sub, err := conf.Sub("extensions::qosaccess")
	require.NoError(t, err)
	cfg := createDefaultConfig().(*Config)
	require.NoError(t, sub.Unmarshal(cfg))
	return cfg
}

// The configurations that the README shows are valid, and the first one is the default.
func TestReadmeLoads(t *testing.T) {
	shown := readme(t)
	require.Len(t, shown, 2)
	for _, cfg := range shown {
		require.NoError(t, xconfmap.Validate(cfg))
	}
	shown[0].TrustedProxies = nil
	require.Equal(t, createDefaultConfig(), shown[0])
	require.False(t, shown[0].OIDC.HasValue())
	o := shown[1].OIDC.Get()
	require.Equal(t, map[string][]access.Role{"qos-support": {access.Support}, "qos-engineering": {access.Engineering}, "qos-admins": {access.Admin, access.Support}}, o.Roles.Map)
	want := defaultOIDC()
	require.Equal(t, []any{want.Label, want.Scopes, want.NameClaim, want.HTTP.Timeout}, []any{o.Label, o.Scopes, o.NameClaim, o.HTTP.Timeout}, "what the README calls the default")
}

func TestValidateOIDC(t *testing.T) {
	f := func(change func(*OIDCConfig), want string) {
		t.Helper()
		cfg := defaultOIDC()
		cfg.Issuer, cfg.ClientID, cfg.RedirectURL = "https://id.example.org", "qos", "https://dash.example.org/signin/provider/callback"
		cfg.Roles.Claim, cfg.Roles.Map, cfg.Apps.All = "groups", map[string][]access.Role{"a": {access.Support}}, true
		change(&cfg)
		whole := createDefaultConfig().(*Config)
		whole.OIDC = configoptional.Some(cfg)
		err := xconfmap.Validate(whole)
		if want == "" {
			require.NoError(t, err)
			return
		}
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "oidc")
	}
	f(func(*OIDCConfig) {}, "")
	for _, bad := range []string{"", "id.example.org", "http://id.example.org", "https://", "https://a@id.example.org", "https://id.example.org?x=1", "https://id.example.org#x", ":"} {
		f(func(c *OIDCConfig) { c.Issuer = bad }, "issuer must be an https URL")
	}
	f(func(c *OIDCConfig) { c.Issuer = "http://localhost:9000/realms/a" }, "")
	for _, bad := range []string{"", "https://dash.example.org", "https://dash.example.org/x", "http://dash.example.org" + callbackPath, "https://dash.example.org" + callbackPath + "?a"} {
		f(func(c *OIDCConfig) { c.RedirectURL = bad }, "redirect_url must be the https URL of the dashboard with the path /signin/provider/callback")
	}
	f(func(c *OIDCConfig) { c.RedirectURL = "http://127.0.0.1:8481" + callbackPath }, "")
	f(func(c *OIDCConfig) { c.ClientID = "" }, "client_id must not be empty")
	for _, bad := range []string{"", strings.Repeat("x", 41), "a\nb", "\u202ea"} {
		f(func(c *OIDCConfig) { c.Label = bad }, "label must have 1 to 40 characters")
	}
	f(func(c *OIDCConfig) { c.Scopes = []string{"profile"} }, "scopes must contain openid")
	f(func(c *OIDCConfig) { c.NameClaim = "" }, "name_claim must not be empty")
	f(func(c *OIDCConfig) { c.HTTP.Endpoint = "https://a.example" }, "http::endpoint must be empty")
	for _, bad := range []time.Duration{0, -1, time.Minute} {
		f(func(c *OIDCConfig) { c.HTTP.Timeout = bad }, "http::timeout must be more than 0s and at most 30s")
	}
	f(func(c *OIDCConfig) { c.Roles.Claim = "" }, "roles must have a claim and a map")
	f(func(c *OIDCConfig) { c.Roles.Map = nil }, "roles must have a claim and a map")
	f(func(c *OIDCConfig) { c.Roles.Map["a"] = nil }, "roles::map::a: roles must have at least one role")
	f(func(c *OIDCConfig) { c.Roles.Map["a"] = []access.Role{"root"} }, "roles::map::a: roles must be of [support engineering admin]")
	f(func(c *OIDCConfig) { c.Apps.All = false }, "apps must have one of all, list and claim")
	f(func(c *OIDCConfig) { c.Apps.Claim = "apps" }, "apps must have one of all, list and claim")
	f(func(c *OIDCConfig) { c.Apps.All, c.Apps.List = false, []string{""} }, "apps::list: scope.apps must be AppIDs")
	f(func(c *OIDCConfig) { c.Apps.All, c.Apps.List = false, []string{"shop"} }, "")
}

// The secret of the client is in no text that is made of the configuration.
func TestTheClientsSecretIsHidden(t *testing.T) {
	cfg := load(t, "extensions: {qosaccess: {oidc: {issuer: https://id.example.org, client_secret: s3cret}}}")
	require.Equal(t, "s3cret", string(cfg.OIDC.Get().ClientSecret))
	require.NotContains(t, fmt.Sprintf("%v %+v", cfg.OIDC.Get(), *cfg.OIDC.Get()), "s3cret")
}

func TestValidate(t *testing.T) {
	f := func(change func(*Config), want string) {
		t.Helper()
		cfg := createDefaultConfig().(*Config)
		change(cfg)
		err := cfg.Validate()
		if want == "" {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, want)
		}
	}
	f(func(*Config) {}, "")
	f(func(c *Config) { c.Storage = component.ID{} }, "storage must name a storage extension")
	f(func(c *Config) { c.AbsoluteTimeout = 0 }, "absolute_timeout must be 1m0s to 720h0m0s (got 0s)")
	f(func(c *Config) { c.IdleTimeout = 721 * time.Hour }, "idle_timeout must be")
	f(func(c *Config) { c.AuditRetention = time.Hour }, "audit_retention must be at least 24h0m0s (got 1h0m0s)")
	f(func(c *Config) { c.FirstAdmin = "the boss" }, "first_admin: user must have")
	for _, bad := range []string{"localhost:8481", "ftp://a.example", "https://", "http://a.example?x=1", ":"} {
		f(func(c *Config) { c.SignInURL = bad }, "sign_in_url must be")
	}
	f(func(c *Config) { c.SignInURL = "https://dash.example.org/" }, "")
	f(func(c *Config) { c.TrustedProxies = []string{"10.0.0.1", "2001:db8::/32", "x"} }, `trusted_proxies[2] must be an address or a network (got "x")`)
}
