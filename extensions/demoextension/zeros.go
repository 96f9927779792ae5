package demoextension

import (
	"context"

	"github.com/qosrtc/qos/extensions/demoextension/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(ctx, telemetry.QosdemoJoins)
	zeros.RecordEach(ctx, telemetry.QosdemoRefusals, "reason", "bad_request", "room_full", "stopping", "too_many_rooms")
}
