package appsextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/appsextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
)

// NewFactory returns the factory of the apps extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	return &Config{Management: configoptional.Default(defaultManagement())}
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	return newRegistry(cfg.(*Config), set.TelemetrySettings, telemetry), nil
}
