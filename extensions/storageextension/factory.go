package storageextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/storageextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
	"github.com/qosrtc/qos/storage/sqlite"
)

const (
	defaultRetention = 30 * 24 * time.Hour
	// defaultPackAfter is longer than any client waits with data that it could not send.
	defaultPackAfter = 10 * time.Minute
)

// NewFactory returns the factory of the storage extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	return &Config{Retention: defaultRetention, PackAfter: defaultPackAfter, Synchronous: string(sqlite.SynchronousNormal)}
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	return &store{cfg: cfg.(*Config), logger: set.Logger, telemetry: telemetry}, nil
}
