package accessextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
)

// NewFactory returns the factory of the access extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	return &Config{
		Storage:         component.MustNewID("qosstorage"),
		AbsoluteTimeout: 12 * time.Hour,
		IdleTimeout:     time.Hour,
		FirstAdmin:      "admin",
		AuditRetention:  90 * 24 * time.Hour,
		OIDC:            configoptional.Default(defaultOIDC()),
	}
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	return newKeeper(cfg.(*Config), set.TelemetrySettings, telemetry), nil
}
