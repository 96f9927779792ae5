package qualityprocessor

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/collector/processor/processorhelper"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadata"
)

// NewFactory returns the factory of the quality processor.
func NewFactory() processor.Factory {
	return processor.NewFactory(metadata.Type, createDefaultConfig,
		processor.WithLogs(createLogs, metadata.LogsStability))
}

func createDefaultConfig() component.Config {
	d := quality.DefaultVideoParams()
	return &Config{Video: videoConfig{
		X0:                  d.X0,
		FreezeCountWeight:   d.FreezeCount,
		FreezeShareWeight:   d.FreezeShare,
		OutboundLossPercent: d.OutboundD,
	}}
}

func createLogs(ctx context.Context, set processor.Settings, cfg component.Config, next consumer.Logs) (processor.Logs, error) {
	s, err := newScorer(cfg.(*Config), set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	s.recordZeros(ctx)
	return processorhelper.NewLogs(ctx, set, cfg, next, s.processLogs,
		processorhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		processorhelper.WithStart(s.start), processorhelper.WithShutdown(s.shutdown))
}
