package semconv

// ScopeName is the instrumentation scope of all records.
const ScopeName = "github.com/qosrtc/qos"

// Event names (LogRecord.EventName).
const (
	EventStats    = "qos.stats"              // one stream, or the candidate pair, over one interval
	EventEvent    = "qos.event"              // a fabric or conference event
	EventError    = "qos.error"              // a failure that the application reported
	EventFeedback = "qos.feedback"           // a user's rating
	EventSDP      = "qos.sdp"                // a part of the SDP of an error
	EventLog      = "qos.log"                // a text of the application
	EventPreCall  = "qos.precall"            // the result of a pre-call test, of no conference
	EventSkip     = "qos.skip"               // what the client dropped before sending
	EventSummary  = "qos.conference.summary" // one revision of a conference's summary
	EventIssue    = "qos.conference.issue"   // an issue of a live conference came or went; reported once, never stored
)

// Resource attributes: the session.
const (
	AppID              = "qos.app.id"
	SessionID          = "qos.session.id"
	UserID             = "qos.user.id"
	UserAlias          = "qos.user.alias"
	ApplicationVersion = "qos.application.version"
	SiteID             = "qos.site.id"
	AdditionalPrefix   = "qos.additional." // + the key of additionalIDs
	LibraryVersion     = "qos.library.version"
	UserAgent          = "user_agent.original"
)

// Scope attributes: the conference and the fabric.
const (
	ConferenceID       = "qos.conference.id"
	ConferenceAt       = "qos.conference.at"
	FabricID           = "qos.fabric.id"
	FabricUsage        = "qos.fabric.usage"
	FabricDirection    = "qos.fabric.direction"
	RemoteEndpointType = "qos.remote.endpoint_type"
	RemoteUserID       = "qos.remote.user.id"
	RemoteUserAlias    = "qos.remote.user.alias"
)

// Record attributes that several events share.
const (
	FrameSeq      = "qos.frame.seq"
	FrameIndex    = "qos.frame.index"
	Duplicate     = "qos.duplicate"
	TimeCorrected = "qos.time.corrected"
	OutOfRange    = "qos.out_of_range"
)

// Record attributes of EventStats. The measures themselves are StatsPrefix plus the snake
// case of the wire's column name (Stats, StatsName).
const (
	IntervalMs  = "qos.interval_ms"
	StatsType   = "qos.stats.type"
	MediaType   = "qos.media.type"
	StatsPrefix = "qos.stats."
)

// Record attributes that the quality processor adds to EventStats.
const (
	QualityPrefix       = "qos.quality." // of all of them
	QualityMOS          = "qos.quality.mos"
	QualityMOSListening = "qos.quality.mos_listening"
	QualityR            = "qos.quality.r"
	QualityLabel        = "qos.quality.label"
	QualityModel        = "qos.quality.model"
	QualityReason       = "qos.quality.reason"
	QualityAssumed      = "qos.quality.assumed"
	QualityConfidence   = "qos.quality.confidence"
	QualityInputPrefix  = "qos.quality.input."
)

// Record attributes of EventEvent.
const (
	EventName = "qos.event.name"
	EventData = "qos.event.data"
)

// Record attributes of EventError.
const (
	ErrorFunction  = "qos.error.function"
	ErrorName      = "qos.error.name"
	ErrorMessage   = "qos.error.message"
	ErrorLocalSDP  = "qos.error.local_sdp"
	ErrorRemoteSDP = "qos.error.remote_sdp"

	ErrorCode           = "qos.error.code"
	ErrorConstraintName = "qos.error.constraint_name"
	ErrorStack          = "qos.error.stack"
	ErrorDetails        = "qos.error.details"
	ErrorLocalSDPBytes  = "qos.error.local_sdp.bytes"
	ErrorRemoteSDPBytes = "qos.error.remote_sdp.bytes"
)

// Record attributes of EventSDP.
const (
	SDPError  = "qos.sdp.error"
	SDPField  = "qos.sdp.field"
	SDPOffset = "qos.sdp.offset"
	SDPText   = "qos.sdp.text"
	SDPBytes  = "qos.sdp.bytes"
)

// Record attributes of EventFeedback.
const (
	FeedbackUserID      = "qos.feedback.user.id"
	FeedbackUserAlias   = "qos.feedback.user.alias"
	FeedbackUserClaimed = "qos.feedback.user.claimed"
	FeedbackOverall     = "qos.feedback.overall"
	FeedbackAudio       = "qos.feedback.audio"
	FeedbackVideo       = "qos.feedback.video"
	FeedbackScreen      = "qos.feedback.screen"
	FeedbackComment     = "qos.feedback.comment"
)

// LogText is the text of EventLog.
const LogText = "qos.log.text"

// Record attributes of EventSkip.
const (
	SkipFrom   = "qos.skip.from"
	SkipStats  = "qos.skip.stats"
	SkipEvents = "qos.skip.events"
)

// Record attributes of EventPreCall.
const (
	PreCallTrigger           = "qos.precall.trigger"
	PreCallStatus            = "qos.precall.status"
	PreCallReason            = "qos.precall.reason"
	PreCallInterrupted       = "qos.precall.interrupted"
	PreCallMediaConnectivity = "qos.precall.media_connectivity"
	PreCallRTTMs             = "qos.precall.rtt_ms"
	PreCallLossFraction      = "qos.precall.loss_fraction"
	PreCallThroughputBps     = "qos.precall.throughput_bps"
	PreCallNetworkType       = "qos.precall.network_type"
	PreCallBytesSent         = "qos.precall.bytes_sent"
	PreCallDurationMs        = "qos.precall.duration_ms"
	PreCallProviders         = "qos.precall.providers" // a list of maps, best first
)

// Keys of an entry of PreCallProviders.
const (
	ProviderName          = "provider"
	ProviderAcceptable    = "acceptable"
	ProviderReason        = "reason" // of protocol.PreCallReasons
	ProviderRTTMs         = "rtt_ms"
	ProviderJitterMs      = "jitter_ms"
	ProviderLossFraction  = "loss_fraction"
	ProviderThroughputBps = "throughput_bps"
	ProviderTransports    = "transports" // a list of maps
)

// Keys of an entry of ProviderTransports.
const (
	TransportProtocol  = "relay_protocol"
	TransportConnected = "connected"
	TransportConnectMs = "connect_ms"
	TransportError     = "error"
)

// Record attributes of EventIssue. FabricID and MediaType stand there where it is about a
// fabric, or a stream.
const (
	IssueID         = "qos.issue.id"
	IssueState      = "qos.issue.state"
	IssueKind       = "qos.issue.kind"
	IssueSession    = "qos.issue.session.id"
	IssueSite       = "qos.issue.site.id"
	IssueUserID     = "qos.issue.user.id"
	IssueUserAlias  = "qos.issue.user.alias"
	IssueSSRC       = "qos.issue.ssrc"
	IssueDirection  = "qos.issue.direction"
	IssueMetric     = "qos.issue.metric"
	IssueValue      = "qos.issue.value"
	IssueWorst      = "qos.issue.worst"
	IssueThreshold  = "qos.issue.threshold"
	IssueConfidence = "qos.issue.confidence"
	IssueSince      = "qos.issue.since"
	IssueUntil      = "qos.issue.until"
)

// Record attributes of EventSummary. The record's body is the summary as a JSON string.
const (
	SummaryStart        = "qos.summary.start"
	SummaryEnd          = "qos.summary.end"
	SummaryRevision     = "qos.summary.revision"
	SummaryOutcome      = "qos.summary.outcome"
	SummaryParticipants = "qos.summary.participants"
	SummaryAdded        = "qos.summary.participants.added"
	SummaryClients      = "qos.summary.participants.added.clients"
	SummarySite         = "qos.summary.site.id"
	SummaryVersion      = "qos.summary.application.version"
	SummaryMOS          = "qos.summary.mos"
	SummaryLabel        = "qos.summary.label"
	SummaryCause        = "qos.summary.cause"
	SummaryDigest       = "qos.summary.digest"
	SummaryIssuesPrefix = "qos.summary.issues." // + the kind of issue
)
