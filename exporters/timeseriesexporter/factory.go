package timeseriesexporter

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"

	"github.com/qosrtc/qos/exporters/timeseriesexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/serve/logonce"
	"github.com/qosrtc/qos/internal/serve/tlsserver"
)

const defaultEndpoint = "localhost:8482"

// NewFactory returns the factory of the time-series exporter (logs only).
func NewFactory() exporter.Factory {
	return exporter.NewFactory(metadata.Type, createDefaultConfig,
		exporter.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	server := tlsserver.DefaultConfig(defaultEndpoint)
	return &Config{ServerConfig: server, Config: series.DefaultConfig(), Push: configoptional.Default(defaultPush())}
}

func createLogs(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Logs, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	e, err := newExporter(ctx, cfg.(*Config), set, telemetry)
	if err != nil {
		return nil, err
	}
	e.counters.Begin(ctx)
	return exporterhelper.NewLogs(ctx, set, cfg, e.consume,
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: false}),
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
	)
}
