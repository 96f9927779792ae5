package webhookexporter

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/notice"
)

// Config of the webhook exporter.
type Config struct {
	// Storage and Apps are the component ids of the storage and the apps extension.
	Storage component.ID `mapstructure:"storage"`
	Apps    component.ID `mapstructure:"apps"`

	// DashboardURL is where people open the dashboard; notifications link to its search.
	DashboardURL string `mapstructure:"dashboard_url"`

	// Rules are the conditions of all apps. AppRules are those of single apps, by AppID: members
	// that are absent are those of Rules.
	Rules    RulesConfig            `mapstructure:"rules"`
	AppRules map[string]RulesConfig `mapstructure:"app_rules"`

	// Timeout bounds one attempt, with name resolution, TLS and answer.
	Timeout time.Duration `mapstructure:"timeout"`

	// MaxAttempts is the number of attempts after which a notification is a dead letter.
	MaxAttempts int `mapstructure:"max_attempts"`

	// MaxPending bounds the notifications that wait for one webhook.
	MaxPending int `mapstructure:"max_pending"`

	// Keep is how long delivered notifications and dead letters are listed.
	Keep time.Duration `mapstructure:"keep"`

	// AllowedNetworks are networks, as CIDR prefixes, that webhooks may be in although they are
	// not public.
	AllowedNetworks []string `mapstructure:"allowed_networks"`

	// TLS is the certificate authorities that webhooks are verified with.
	TLS configtls.ClientConfig `mapstructure:"tls"`

	_ struct{}
}

// RulesConfig is the conditions of one app or of all.
type RulesConfig struct {
	Window   *time.Duration `mapstructure:"window"`
	HoldDown *time.Duration `mapstructure:"hold_down"`
	Recovery *time.Duration `mapstructure:"recovery"`

	// Reasons are the rules by the name of their reason.
	Reasons map[string]RuleConfig `mapstructure:"reasons"`

	_ struct{}
}

// RuleConfig is the condition of one reason. Absent members keep their default.
type RuleConfig struct {
	Threshold  *float64 `mapstructure:"threshold"`
	MinSamples *int     `mapstructure:"min_samples"`
	Limit      *float64 `mapstructure:"limit"`
	Interval   *bool    `mapstructure:"interval"`
	Individual *bool    `mapstructure:"individual"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate implements xconfmap.Validator.
func (c *Config) Validate() error {
	var errs []error
	if c.Storage == (component.ID{}) || c.Apps == (component.ID{}) {
		errs = append(errs, errors.New("storage and apps must name a qosstorage and a qosapps extension"))
	}
	if u, err := url.Parse(c.DashboardURL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		errs = append(errs, errors.New("dashboard_url must be an http or https URL without query and fragment"))
	}
	if c.Timeout <= 0 || c.Timeout > time.Minute {
		errs = append(errs, fmt.Errorf("timeout must be above 0 and at most 1m (got %s)", c.Timeout))
	}
	if c.MaxAttempts < 1 || c.MaxPending < 1 {
		errs = append(errs, fmt.Errorf("max_attempts and max_pending must be positive (got %d and %d)", c.MaxAttempts, c.MaxPending))
	}
	if c.Keep < keepPoints {
		errs = append(errs, fmt.Errorf("keep must be at least %s (got %s)", keepPoints, c.Keep))
	}
	_, err := c.networks()
	_, _, faults := c.rules()
	return errors.Join(append(errs, err, faults)...)
}

// networks returns the prefixes of AllowedNetworks.
func (c *Config) networks() (out []netip.Prefix, err error) {
	for i, text := range c.AllowedNetworks {
		prefix, bad := netip.ParsePrefix(text)
		if bad != nil {
			return nil, fmt.Errorf("allowed_networks[%d] must be a CIDR prefix (got %d bytes)", i, len(text))
		}
		out = append(out, prefix)
	}
	return out, nil
}

// rules returns the rules of apps without their own, and those of the others.
func (c *Config) rules() (notice.Rules, map[string]*notice.Rules, error) {
	all, err := c.Rules.over(notice.DefaultRules(), "rules")
	errs := []error{err}
	own := make(map[string]*notice.Rules, len(c.AppRules))
	for id, one := range c.AppRules {
		rules, err := one.over(all, fmt.Sprintf("app_rules[%q]", id))
		errs = append(errs, err)
		own[id] = &rules
	}
	return all, own, errors.Join(errs...)
}

// over returns base with the members that c has.
func (c *RulesConfig) over(base notice.Rules, at string) (notice.Rules, error) {
	set(&base.Window, c.Window)
	set(&base.HoldDown, c.HoldDown)
	set(&base.Recovery, c.Recovery)
	for name, rule := range c.Reasons {
		i := slices.Index(notice.Reasons[:], notice.Reason(name))
		if i < 0 {
			return base, fmt.Errorf("%s.reasons: %q is no reason; known are %v", at, name, notice.Reasons)
		}
		into := &base.Reasons[i]
		set(&into.Threshold, rule.Threshold)
		set(&into.MinSamples, rule.MinSamples)
		set(&into.Limit, rule.Limit)
		set(&into.Interval, rule.Interval)
		set(&into.Individual, rule.Individual)
	}
	if err := base.Validate(); err != nil {
		return base, fmt.Errorf("%s: %w", at, err)
	}
	return base, nil
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}
