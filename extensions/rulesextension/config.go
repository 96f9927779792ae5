package rulesextension

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Config is how calls are assessed.
type Config struct {
	// Labels are the boundary conditions of excellent, good, fair, poor and bad.
	Labels quality.LabelsConfig `mapstructure:"labels"`
	// Detectors holds the thresholds of issues.
	Detectors detect.Config `mapstructure:"detectors"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate reports every fault.
func (c *Config) Validate() error {
	_, labels := c.Labels.Bounds()
	detectors := c.Detectors.Validate()
	if detectors != nil {
		detectors = fmt.Errorf("detectors: %w", detectors)
	}
	return errors.Join(labels, detectors)
}
