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
	MetricOutOfRange         = "qos_out_of_range_values_total"
	MetricStreamMOS          = "qos_stream_mos"
	MetricStreamLoss         = "qos_stream_loss_ratio"
	MetricStreamJitter       = "qos_stream_jitter_seconds"
	MetricStreamRTT          = "qos_stream_rtt_seconds"
	MetricStreamSeconds      = "qos_stream_seconds_total"
	MetricErrors             = "qos_reported_errors_total"
	MetricFeedback           = "qos_feedback_total"
	MetricLostFrames         = "qos_client_dropped_frames_total"
	MetricPreCallTests       = "qos_precall_tests_total"
	MetricPreCallProviders   = "qos_precall_provider_tests_total"
	MetricPreCallRTT         = "qos_precall_rtt_seconds"
	MetricPreCallLoss        = "qos_precall_loss_ratio"
	MetricPreCallThroughput  = "qos_precall_throughput_bytes_per_second"
)

// Metric labels.
const (
	LabelApp            = "app"
	LabelSite           = "site"
	LabelVersion        = "application_version"
	LabelBrowser        = "browser"
	LabelBrowserVersion = "browser_version"
	LabelEndpointType   = "endpoint_type"
	LabelUsage          = "usage"
	LabelRelay          = "relay"
	LabelOutcome        = "outcome"
	LabelCause          = "cause"
	LabelMedia          = "media"
	LabelDirection      = "direction"
	LabelQuality        = "label"
	LabelStage          = "stage"
	LabelFunction       = "function"
	LabelRating         = "rating"
	LabelKind           = "kind"
	LabelMeasure        = "measure" // a column of protocol.Measures, intervalMs or mos
	LabelProvider       = "provider"
	LabelStatus         = "status"
	LabelAcceptable     = "acceptable"
	LabelReason         = "reason"     // of protocol.PreCallReasons
	LabelConference     = "conference" // only of per-conference series
	LabelOverflow       = "otel_metric_overflow"
)

// Types of metrics.
const (
	Counter   = "counter"
	Gauge     = "gauge"
	Histogram = "histogram"
)

// Metric describes one metric.
type Metric struct {
	Name   string
	Type   string // counter, gauge or histogram
	Unit   string // UCUM
	Labels []string
	Brief  string
}

var streamLabels = []string{LabelApp, LabelSite, LabelMedia, LabelDirection, LabelUsage, LabelEndpointType, LabelRelay}

// Metrics lists the metrics of the time-series exporter, in document order. The first label is
// the app.
var Metrics = []Metric{
	{MetricConferences, Counter, "{conference}", []string{LabelApp, LabelSite, LabelVersion, LabelOutcome}, "conferences that ended, by outcome of their first summary"},
	{MetricConferenceCauses, Counter, "{conference}", []string{LabelApp, LabelSite, LabelVersion, LabelCause}, "conferences that ended, by likely cause in their first summary"},
	{MetricConferenceDuration, Histogram, "s", []string{LabelApp, LabelSite}, "length of ended conferences"},
	{MetricConferenceMOS, Histogram, "1", []string{LabelApp, LabelSite}, "score of ended conferences that had one"},
	{MetricParticipants, Counter, "{participant}", []string{LabelApp, LabelSite, LabelVersion, LabelBrowser, LabelBrowserVersion}, "participants of ended conferences"},
	{MetricIssues, Counter, "{issue}", []string{LabelApp, LabelSite, LabelKind}, "issues in the first summaries of ended conferences, by kind (docs/quality.md)"},
	{MetricIssuesRaised, Counter, "{issue}", []string{LabelApp, LabelSite, LabelKind}, "issues raised in live conferences, by kind"},
	{MetricOpenIssues, Gauge, "{issue}", []string{LabelApp, LabelSite, LabelKind}, "open issues of live conferences, by kind"},
	{MetricFabricSetup, Histogram, "s", []string{LabelApp, LabelSite, LabelBrowser, LabelEndpointType, LabelRelay}, "time from addNewFabric to the first connection"},
	{MetricFabricSetupFailed, Counter, "{fabric}", []string{LabelApp, LabelSite, LabelBrowser, LabelEndpointType, LabelStage}, "fabrics that never connected, by the stage that they reached"},
	{MetricICEDisruptions, Counter, "{disruption}", []string{LabelApp, LabelSite, LabelBrowser, LabelEndpointType}, "ICE disruptions of connected fabrics"},
	{MetricMeasurements, Counter, "{record}", []string{LabelApp}, "records of measurements (`qos.stats`)"},
	{MetricOutOfRange, Counter, "{value}", []string{LabelApp, LabelMeasure}, "values of measurements that cannot be true and were left out (`qos.out_of_range`), by measure"},
	{MetricStreamMOS, Histogram, "1", streamLabels, "interval scores of streams, conversational"},
	{MetricStreamLoss, Histogram, "1", streamLabels, "interval loss of streams, 0 to 1"},
	{MetricStreamJitter, Histogram, "s", streamLabels, "interval jitter of streams"},
	{MetricStreamRTT, Histogram, "s", streamLabels, "interval round-trip time of streams"},
	{MetricStreamSeconds, Counter, "s", []string{LabelApp, LabelSite, LabelMedia, LabelDirection, LabelQuality}, "measured time of streams, by label of the interval score"},
	{MetricErrors, Counter, "{error}", []string{LabelApp, LabelVersion, LabelBrowser, LabelFunction}, "failures that applications reported"},
	{MetricFeedback, Counter, "{rating}", []string{LabelApp, LabelSite, LabelRating}, "ratings of users, by overall score"},
	{MetricLostFrames, Counter, "{frame}", []string{LabelApp}, "frames that clients dropped before they sent them, as declared by skip frames"},
	{MetricPreCallTests, Counter, "{test}", []string{LabelApp, LabelSite, LabelStatus}, "pre-call tests, by status"},
	{MetricPreCallProviders, Counter, "{test}", []string{LabelApp, LabelProvider, LabelAcceptable, LabelReason}, "pre-call tests of one provider, by whether its result was acceptable, and by the reason why it was not"},
	{MetricPreCallRTT, Histogram, "s", []string{LabelApp, LabelProvider}, "round-trip time of pre-call tests, by provider"},
	{MetricPreCallLoss, Histogram, "1", []string{LabelApp, LabelProvider}, "loss of pre-call tests in one direction, 0 to 1, by provider"},
	{MetricPreCallThroughput, Histogram, "By/s", []string{LabelApp, LabelProvider}, "throughput of pre-call tests, by provider"},
}
