package demoextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/demoextension/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

const (
	defaultEndpoint   = "localhost:8483"
	defaultBackendURL = "http://localhost:8480"
	defaultApp        = "demo"
	defaultSecret     = "demo-secret" // public on purpose
	defaultMaxRooms   = 100
	defaultMaxRoomAge = time.Hour
)

// NewFactory returns the factory of the demo application.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	server := tlsserver.DefaultConfig(defaultEndpoint)
	return &Config{
		ServerConfig: server,
		BackendURL:   defaultBackendURL,
		AppID:        defaultApp,
		AppSecret:    defaultSecret,
		MaxRooms:     defaultMaxRooms,
		MaxRoomAge:   defaultMaxRoomAge,
	}
}

func create(ctx context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	return newDemo(cfg.(*Config), set.TelemetrySettings, telemetry), nil
}
