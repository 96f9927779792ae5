package semconv

// Names of the metrics that the time-series exporter serves. Units are Prometheus base
// units, as its naming guide asks.
const (
	MetricConferences        = "qos_conferences_total"
	MetricConferenceCauses   = "qos_conference_causes_total"
	MetricConferenceDuration = "qos_conference_duration_seconds"
	MetricConferenceMOS      = "qos_conference_mos"
	MetricParticipants       = "qos_participants_total"
	MetricIssues             = "qos_issues_total"
	MetricIssuesRaised       = "qos_issues_raised_total"
	MetricOpenIssues         = "qos_open_issues"
	MetricFabricSetup        = "qos_fabric_setup_delay_seconds"
	MetricFabricSetupFailed  = "qos_fabric_setup_failures_total"
	MetricICEDisruptions     = "qos_ice_disruptions_total"
	MetricMeasurements       = "qos_measurements_total"
	MetricStreamMOS          = "qos_stream_mos"
	MetricStreamLoss         = "qos_stream_loss_ratio"
	MetricStreamJitter       = "qos_stream_jitter_seconds"
	MetricStreamRTT          = "qos_stream_rtt_seconds"
	MetricErrors             = "qos_reported_errors_total"
	MetricFeedback           = "qos_feedback_total"
	MetricLostFrames         = "qos_client_dropped_frames_total"
)

// Metric labels.
const (
	LabelApp       = "app"
	LabelOutcome   = "outcome"
	LabelCause     = "cause"
	LabelMedia     = "media"
	LabelDirection = "direction"
	LabelStage     = "stage"
	LabelFunction  = "function"
	LabelRating    = "rating"
	LabelKind      = "kind"
)

// Metric describes one metric for docs/telemetry.md.
type Metric struct {
	Name   string
	Type   string // counter, gauge or histogram
	Labels []string
	Brief  string
}

// Metrics lists the metrics of the time-series exporter, in document order.
var Metrics = []Metric{
	{MetricConferences, "counter", []string{LabelApp, LabelOutcome}, "conferences that ended, by outcome of their first summary"},
	{MetricConferenceCauses, "counter", []string{LabelApp, LabelCause}, "conferences that ended, by likely cause in their first summary"},
	{MetricConferenceDuration, "histogram", []string{LabelApp}, "length of ended conferences"},
	{MetricConferenceMOS, "histogram", []string{LabelApp}, "score of ended conferences that had one"},
	{MetricParticipants, "counter", []string{LabelApp}, "participants of ended conferences"},
	{MetricIssues, "counter", []string{LabelApp, LabelKind}, "issues in the first summaries of ended conferences, by kind (docs/quality.md)"},
	{MetricIssuesRaised, "counter", []string{LabelApp, LabelKind}, "issues raised in live conferences, by kind"},
	{MetricOpenIssues, "gauge", []string{LabelApp, LabelKind}, "open issues of live conferences, by kind"},
	{MetricFabricSetup, "histogram", []string{LabelApp}, "time from addNewFabric to the first connection"},
	{MetricFabricSetupFailed, "counter", []string{LabelApp, LabelStage}, "fabrics that never connected, by the stage that they reached"},
	{MetricICEDisruptions, "counter", []string{LabelApp}, "ICE disruptions of connected fabrics"},
	{MetricMeasurements, "counter", []string{LabelApp}, "records of measurements (`qos.stats`)"},
	{MetricStreamMOS, "histogram", []string{LabelApp, LabelMedia, LabelDirection}, "interval scores of streams, conversational"},
	{MetricStreamLoss, "histogram", []string{LabelApp, LabelMedia, LabelDirection}, "interval loss of streams, 0 to 1"},
	{MetricStreamJitter, "histogram", []string{LabelApp, LabelMedia, LabelDirection}, "interval jitter of streams"},
	{MetricStreamRTT, "histogram", []string{LabelApp, LabelMedia, LabelDirection}, "interval round-trip time of streams"},
	{MetricErrors, "counter", []string{LabelApp, LabelFunction}, "failures that applications reported"},
	{MetricFeedback, "counter", []string{LabelApp, LabelRating}, "ratings of users, by overall score"},
	{MetricLostFrames, "counter", []string{LabelApp}, "frames that clients dropped before they sent them, as declared by skip frames"},
}
