package conferenceprocessor

import (
	"context"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"

	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadata"
)

// NewFactory returns the factory of the conference processor.
func NewFactory() processor.Factory {
	return processor.NewFactory(metadata.Type, createDefaultConfig,
		processor.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	return &Config{MaxConferences: 150_000, MemoryMiB: 2048, KeepEnded: 10 * time.Minute, Tick: time.Second, Issues: issuesConfig{Interval: 15 * time.Second}}
}

func createLogs(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	c, err := newConferences(cfg.(*Config), set.TelemetrySettings, next)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, c.telemetry)
	return c, nil
}
