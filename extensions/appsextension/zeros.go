package appsextension

import (
	"context"

	"github.com/qosrtc/qos/extensions/appsextension/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(ctx, telemetry.QosappsRetentionDeleted, telemetry.QosappsRetentionFailures)
	zeros.RecordEach(ctx, telemetry.QosappsManagementRequests, "outcome", "ok", "unauthorized", "refused", "conflict", "failed")
	zeros.RecordEach(ctx, telemetry.QosappsUserRequests, "kind", "export", "erase")
	zeros.RecordEach(ctx, telemetry.QosappsRefreshFailures, "source", "configuration", "store")
}
