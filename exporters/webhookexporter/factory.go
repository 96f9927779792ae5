package webhookexporter

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
)

// NewFactory returns the factory of the webhook exporter (logs only).
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	return &Config{
		Storage: component.MustNewID("qosstorage"), Apps: component.MustNewID("qosapps"),
		Timeout: 15 * time.Second, MaxAttempts: 32, MaxPending: 1000, Keep: 7 * 24 * time.Hour,
	}
}

func createLogs(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Logs, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	e := &webhookExporter{cfg: config.(*Config), logger: set.Logger, telemetry: telemetry, grace: stopGrace}
	return exporterhelper.NewLogs(ctx, set, config, e.consume,
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
	)
}
