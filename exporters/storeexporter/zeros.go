package storeexporter

import (
	"context"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(
		ctx, telemetry.QosstoreWrittenRecords, telemetry.QosstoreDuplicateRecords,
		telemetry.QosstoreDroppedSearchTerms, telemetry.QosstoreWrittenSummaries,
	)
	zeros.RecordEach(ctx, telemetry.QosstoreRejectedRecords, "reason", reasons...)
}
