package storeexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/serve/logonce"
)

// NewFactory returns the factory of the store exporter (logs only).
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	retry.Enabled = false
	return &Config{
		Storage: component.MustNewID("qosstorage"),
		Timeout: exporterhelper.NewDefaultTimeoutConfig(),
		Queue:   configoptional.Default(exporterhelper.NewDefaultQueueConfig()),
		Retry:   retry,
	}
}

func createLogs(ctx context.Context, set exporter.Settings, config component.Config) (exporter.Logs, error) {
	cfg := config.(*Config)
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, telemetry)
	e := &storeExporter{storage: cfg.Storage, logger: set.Logger, telemetry: telemetry}
	return exporterhelper.NewLogs(ctx, set, cfg, e.consume,
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithTimeout(cfg.Timeout),
		exporterhelper.WithQueue(cfg.Queue),
		exporterhelper.WithRetry(cfg.Retry),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
	)
}
