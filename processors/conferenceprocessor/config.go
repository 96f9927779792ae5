package conferenceprocessor

import (
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap/xconfmap"
)

// Config configures the conference processor. The 30 s of silence after which a conference ends are
// part of the protocol (docs/protocol.md, section 10); the store uses them, too.
type Config struct {
	// MaxConferences bounds the conferences in memory, live and ended. One application may hold three times as many as
	// are free.
	MaxConferences int `mapstructure:"max_conferences"`
	// MemoryMiB bounds the memory of all conferences, an estimate in MiB; 0: no limit. One application may hold three
	// times as much as is free. Beyond that, the measurements of its largest conferences are read from the store when
	// they end.
	MemoryMiB int64 `mapstructure:"memory_mib"`
	// KeepEnded is the time after its end in which a conference may be revised.
	KeepEnded time.Duration `mapstructure:"keep_ended"`
	// Tick is the interval between checks for ended conferences.
	Tick time.Duration `mapstructure:"tick"`
	// Storage is the component ID of the storage extension from which the processor restores partial
	// conferences. Without it their summaries cover the part that the processor received.
	Storage component.ID `mapstructure:"storage"`
	// Issues configures the reports of issues of live conferences.
	Issues issuesConfig `mapstructure:"issues"`

	_ struct{}
}

type issuesConfig struct {
	// Interval is the shortest interval between two evaluations of a live conference; 0: never.
	Interval time.Duration `mapstructure:"interval"`

	_ struct{}
}

const (
	minTick = 100 * time.Millisecond
	maxTick = 10 * time.Second
	maxKeep = 24 * time.Hour
	maxMiB  = 1 << 20

	minIssues = time.Second
	maxIssues = 10 * time.Minute
)

var _ xconfmap.Validator = (*Config)(nil)

// Validate reports every error.
func (c *Config) Validate() error {
	var errs []error
	if c.MaxConferences < 1 {
		errs = append(errs, fmt.Errorf("max_conferences must be positive (got %d)", c.MaxConferences))
	}
	if c.MemoryMiB < 0 || c.MemoryMiB > maxMiB {
		errs = append(errs, fmt.Errorf("memory_mib must be from 0 to %d (got %d)", maxMiB, c.MemoryMiB))
	}
	if c.KeepEnded < 0 || c.KeepEnded > maxKeep {
		errs = append(errs, fmt.Errorf("keep_ended must be from 0s to %s (got %s)", maxKeep, c.KeepEnded))
	}
	if c.Tick < minTick || c.Tick > maxTick {
		errs = append(errs, fmt.Errorf("tick must be from %s to %s (got %s)", minTick, maxTick, c.Tick))
	}
	if i := c.Issues.Interval; i != 0 && (i < minIssues || i > maxIssues) {
		errs = append(errs, fmt.Errorf("issues::interval must be 0s or from %s to %s (got %s)", minIssues, maxIssues, i))
	}
	return errors.Join(errs...)
}
