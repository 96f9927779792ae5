package seriesconnector

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/connector"
	"go.opentelemetry.io/collector/consumer"

	"github.com/qosrtc/qos/connectors/seriesconnector/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/internal/serve/logonce"
)

// NewFactory returns the factory of the series connector (logs to metrics).
func NewFactory() connector.Factory {
	return connector.NewFactory(metadata.Type, createDefaultConfig,
		connector.WithLogsToMetrics(createLogsToMetrics, metadata.LogsToMetricsStability))
}

func createDefaultConfig() component.Config {
	return &Config{Config: series.DefaultConfig(), Interval: defaultInterval}
}

func createLogsToMetrics(ctx context.Context, set connector.Settings, cfg component.Config, next consumer.Metrics) (connector.Logs, error) {
	set.TelemetrySettings = logonce.Settings(set.TelemetrySettings)
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	c := newConnector(cfg.(*Config), set.TelemetrySettings, telemetry, next)
	c.counters.Begin(ctx)
	return c, nil
}
