package conferenceprocessor

import (
	"context"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/metrics/zeros"
	"github.com/qosrtc/qos/processors/conferenceprocessor/internal/metadata"
)

// recordZeros records the first data points of the counters, for each value that metadata.yaml lists.
func recordZeros(ctx context.Context, telemetry *metadata.TelemetryBuilder) {
	zeros.Record(
		ctx, telemetry.ProcessorConferenceDuplicates, telemetry.ProcessorConferenceEvaluations,
		telemetry.ProcessorConferenceRefreshes, telemetry.ProcessorConferenceRevised, telemetry.ProcessorConferenceShrunk,
	)
	zeros.RecordEach(ctx, telemetry.ProcessorConferenceEnded, "outcome", conference.Outcomes...)
	zeros.RecordEach(ctx, telemetry.ProcessorConferenceIssues, "state", live.IssueRaised, live.IssueResolved, live.IssueWithdrawn)
	zeros.RecordEach(
		ctx, telemetry.ProcessorConferenceDropped, "reason",
		live.Full.String(), live.TooLate.String(), live.Invalid.String(), live.Unattached.String(),
		reasonFull, reasonRefused, reasonIssuesFull, reasonIssueRefused, reasonIssuesOpen,
		reasonNotRestored, reasonDamaged, reasonNotChecked,
	)
}
