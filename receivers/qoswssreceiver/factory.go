package qoswssreceiver

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"

	"github.com/qosrtc/qos/receivers/qoswssreceiver/internal/metadata"
)

// NewFactory returns the factory of the qoswss receiver.
func NewFactory() receiver.Factory {
	return receiver.NewFactory(
		metadata.Type,
		createDefaultConfig,
		receiver.WithLogs(createLogs, metadata.LogsStability),
	)
}

func createLogs(ctx context.Context, set receiver.Settings, cfg component.Config, next consumer.Logs) (receiver.Logs, error) {
	r, err := newReceiver(set, cfg.(*Config), next)
	if err != nil {
		return nil, err
	}
	recordZeros(ctx, r.metrics)
	return r, nil
}
