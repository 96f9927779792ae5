package dashboardextension

import (
	"context"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(ctx, telemetry.QosdashboardStoreErrors)
	zeros.RecordEach(ctx, telemetry.QosdashboardOmittedRecords, "part", "timeline", "streams", "custom_stats")
	zeros.RecordEach(ctx, telemetry.QosdashboardRejectedRequests, "reason", "busy", "host", "parameter", "streams")
	zeros.RecordEach(ctx, telemetry.QosdashboardFailedSummaries, "cause", "too_large", "too_slow", "failed")
}
