package turnextension

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"

	"github.com/qosrtc/qos/extensions/turnextension/internal/metadata"
)

// NewFactory returns the factory of the TURN extension.
func NewFactory() extension.Factory {
	return extension.NewFactory(metadata.Type, createDefaultConfig, create, metadata.ExtensionStability)
}

func createDefaultConfig() component.Config {
	return &Config{
		Server: ServerConfig{
			Label: "embedded", MinPort: 49152, MaxPort: 65535, Realm: "qos",
			AddressRequestsPerSecond: 100, RequestsPerSecond: 5000, AddressConnections: 100, Connections: 5000,
		},
		Test: TestConfig{
			MaxDuration: time.Minute, MaxBytes: 4_000_000, MaxThroughputBps: 10_000_000,
			LimitsConfig: LimitsConfig{
				CredentialTTL: time.Hour, AllocationLifetime: 2 * time.Minute,
				PerUser: QuotaConfig{Allocations: 32, BytesPerSecond: 5_000_000, BytesPerHour: 500_000_000},
				Overall: QuotaConfig{Allocations: 2000, BytesPerSecond: 50_000_000},
			},
		},
		Call: CallConfig{
			LimitsConfig: LimitsConfig{
				CredentialTTL: time.Hour, AllocationLifetime: 12 * time.Hour,
				PerUser: QuotaConfig{Allocations: 16, BytesPerSecond: 2_500_000},
				Overall: QuotaConfig{Allocations: 5000, BytesPerSecond: 100_000_000},
			},
		},
	}
}

func create(_ context.Context, set extension.Settings, cfg component.Config) (extension.Extension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return newServers(cfg.(*Config), telemetry)
}
