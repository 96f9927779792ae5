package webhookexporter

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configtls"
	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/serve/publicaddr"
)

// Config configures the webhook exporter.
type Config struct {
	// Storage and Apps are the component IDs of the storage and the apps extension.
	Storage component.ID `mapstructure:"storage"`
	Apps    component.ID `mapstructure:"apps"`

	// DashboardURL is the dashboard's URL for people; notifications link to its search.
	DashboardURL string `mapstructure:"dashboard_url"`

	// Rules are the conditions for all apps. AppRules are those for single apps, by AppID; absent
	// members have the values of Rules.
	Rules    RulesConfig            `mapstructure:"rules"`
	AppRules map[string]RulesConfig `mapstructure:"app_rules"`

	// Timeout bounds one attempt, including name resolution, TLS and answer.
	Timeout time.Duration `mapstructure:"timeout"`

	// MaxAttempts is the number of failed attempts after which a notification is a dead letter.
	MaxAttempts int `mapstructure:"max_attempts"`

	// MaxPending bounds the pending notifications of one webhook.
	MaxPending int `mapstructure:"max_pending"`

	// Keep is the time for which delivered notifications and dead letters are listed.
	Keep time.Duration `mapstructure:"keep"`

	// AllowedNetworks are networks that are not public, as CIDR prefixes, in which webhooks are
	// permitted.
	AllowedNetworks []string `mapstructure:"allowed_networks"`

	// TLS configures the certificate authorities by which webhooks are verified.
	TLS configtls.ClientConfig `mapstructure:"tls"`

	_ struct{}
}

// RulesConfig configures the rules of one app or of all. Its times apply to all reasons without times
// of their own.
type RulesConfig struct {
	TimesConfig `mapstructure:",squash"`

	// Reasons are the rules by name of the reason.
	Reasons map[string]RuleConfig `mapstructure:"reasons"`

	_ struct{}
}

// TimesConfig configures the times of rules.
type TimesConfig struct {
	Window   *time.Duration `mapstructure:"window"`
	HoldDown *time.Duration `mapstructure:"hold_down"`
	Recovery *time.Duration `mapstructure:"recovery"`

	_ struct{}
}

// RuleConfig configures the rule of one reason. Absent members have their default.
type RuleConfig struct {
	TimesConfig `mapstructure:",squash"`

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
	_, err := publicaddr.Networks("allowed_networks", c.AllowedNetworks)
	_, _, faults := c.rules()
	return errors.Join(append(errs, err, faults)...)
}

// rules returns the rules of apps without their own, and the overrides of the others.
func (c *Config) rules() (notice.Rules, map[string]*notice.Override, error) {
	all, err := c.Rules.override("rules")
	errs := []error{err}
	own := make(map[string]*notice.Override, len(c.AppRules))
	for id, one := range c.AppRules {
		own[id], err = one.override(fmt.Sprintf("app_rules[%q]", id))
		errs = append(errs, err)
	}
	return all.Over(notice.DefaultRules()), own, errors.Join(errs...)
}

// keys maps fields of notice.Override to keys of the configuration.
var keys = strings.NewReplacer("windowMs", "window", "holdDownMs", "hold_down", "recoveryMs", "recovery", "minSamples", "min_samples")

func (c *RulesConfig) override(at string) (*notice.Override, error) {
	o := &notice.Override{Times: c.times(), Reasons: map[notice.Reason]notice.RuleOverride{}}
	for name, rule := range c.Reasons {
		o.Reasons[notice.Reason(name)] = notice.RuleOverride{
			Times: rule.times(), Threshold: rule.Threshold, MinSamples: rule.MinSamples, Limit: rule.Limit, Interval: rule.Interval, Individual: rule.Individual,
		}
	}
	if fault := o.Check(); fault != nil {
		return o, fmt.Errorf("%s.%s must %s (got %s)", at, keys.Replace(fault.Field), fault.Limit, fault.Got)
	}
	return o, nil
}

func (c *TimesConfig) times() notice.Times {
	return notice.Times{WindowMs: ms(c.Window), HoldDownMs: ms(c.HoldDown), RecoveryMs: ms(c.Recovery)}
}

func ms(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := d.Milliseconds()
	return &n
}
