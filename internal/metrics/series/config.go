package series

import (
	"errors"
	"fmt"
	"time"
)

// Values of Config.Series.
const (
	Aggregate     = "aggregate"
	PerConference = "conference"
)

// Config bounds a set.
type Config struct {
	// MaxApps bounds the label "app": records of further apps are counted under OtherApp.
	MaxApps int `mapstructure:"max_apps"`

	// MaxSeries bounds the series of each metric. A histogram counts as one. Records beyond it
	// count in one series of their app that has the label otel_metric_overflow.
	MaxSeries int `mapstructure:"max_series"`

	// SeriesIdleTimeout is the time after which a series without a new value is removed; 0: never.
	SeriesIdleTimeout time.Duration `mapstructure:"series_idle_timeout"`

	// Series is Aggregate, or PerConference: then the metrics of streams also have the label
	// "conference", the conferenceID, within the same budget.
	Series string `mapstructure:"series"`

	maxOpenIssues int
}

// maxOpenIssues bounds the issues that are open at the same time.
const maxOpenIssues = 100_000

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{MaxApps: 200, MaxSeries: 2000, SeriesIdleTimeout: time.Hour, Series: Aggregate, maxOpenIssues: maxOpenIssues}
}

// Validate returns all faults.
func (c *Config) Validate() error {
	var errs []error
	if c.MaxApps < 1 {
		errs = append(errs, fmt.Errorf("max_apps must be positive (got %d)", c.MaxApps))
	}
	if c.MaxSeries < 1 {
		errs = append(errs, fmt.Errorf("max_series must be positive (got %d)", c.MaxSeries))
	}
	if c.SeriesIdleTimeout < 0 {
		errs = append(errs, fmt.Errorf("series_idle_timeout must not be negative (got %v)", c.SeriesIdleTimeout))
	}
	if c.Series != Aggregate && c.Series != PerConference {
		errs = append(errs, fmt.Errorf("series must be %q or %q", Aggregate, PerConference))
	}
	return errors.Join(errs...)
}

// sweepsPerTimeout is the number of sweeps in one timeout.
const sweepsPerTimeout = 10

// SweepInterval returns the interval at which the caller MUST call Sweep; 0: never.
func (c *Config) SweepInterval() time.Duration {
	if c.SeriesIdleTimeout <= 0 {
		return 0
	}
	return max(time.Second, c.SeriesIdleTimeout/sweepsPerTimeout)
}
