package rulesextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/rulesextension/internal/metadata"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/rules"
)

// NewFactory returns the factory of the rules extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config { return &Config{Detectors: detect.DefaultConfig()} }

func create(_ context.Context, _ extension.Settings, cfg component.Config) (extension.Extension, error) {
	c := cfg.(*Config)
	labels, err := c.Labels.Bounds()
	if err != nil {
		return nil, err
	}
	return &owner{rules: rules.Rules{Labels: labels, Detectors: detect.NewRules(c.Detectors)}}, nil
}

// owner has the rules, and nothing to start.
type owner struct {
	component.StartFunc
	component.ShutdownFunc
	rules rules.Rules
}

var _ rules.Owner = (*owner)(nil)

// Rules returns the rules of the configuration.
func (o *owner) Rules() rules.Rules { return o.rules }
