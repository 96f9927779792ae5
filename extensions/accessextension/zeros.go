package accessextension

import (
	"context"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(ctx, telemetry.QosaccessAuditDropped, telemetry.QosaccessStoreErrors)
	zeros.RecordEach(ctx, telemetry.QosaccessRejectedRequests, "reason", "no_login", "login_ended", "role", "must_change", "cross_site", "token")
	zeros.RecordEach(ctx, telemetry.QosaccessTokenRequests, "result", "accepted", "wrong", "throttled")
	zeros.RecordEach(ctx, telemetry.QosaccessSignIns, "outcome", "success", "wrong", "throttled", "form", "busy", "failed", "provider", "denied")
}
