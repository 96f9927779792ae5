package webhookexporter

import (
	"context"

	"github.com/qosrtc/qos/exporters/webhookexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/metrics/zeros"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(
		ctx, telemetry.QoswebhookPoints, telemetry.QoswebhookNotices,
		telemetry.QoswebhookDroppedNotices, telemetry.QoswebhookStoreFailures,
	)
	zeros.RecordEach(ctx, telemetry.QoswebhookDeliveries, "outcome", "delivered", "failed", "dead")
	zeros.RecordEach(
		ctx, telemetry.QoswebhookDroppedPoints, "reason",
		dropConferenceID, dropSummary, dropFeedback, dropPreCall, dropLate, dropAhead, dropStore,
	)
}
