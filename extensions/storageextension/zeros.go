package storageextension

import (
	"context"

	"github.com/qosrtc/qos/extensions/storageextension/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(
		ctx, telemetry.QosstorageDeletedConferences, telemetry.QosstorageHourWrites, telemetry.QosstorageHourFailures, telemetry.QosstorageRetentionFailures, telemetry.QosstoragePackFailures,
		telemetry.QosstorageErasures, telemetry.QosstorageErasureFailures, telemetry.QosstoragePackedBytes, telemetry.QosstoragePackedConferences, telemetry.QosstoragePackedRecords,
	)
}
