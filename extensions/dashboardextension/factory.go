package dashboardextension

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

const defaultEndpoint = "localhost:8481"

// NewFactory returns the factory of the dashboard extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	server := tlsserver.DefaultConfig(defaultEndpoint)
	return &Config{ServerConfig: server, Storage: component.MustNewID("qosstorage")}
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	return newDashboard(cfg.(*Config), set.TelemetrySettings, telemetry), nil
}
