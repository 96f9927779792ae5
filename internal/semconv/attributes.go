package semconv

// Attribute describes one attribute for docs/telemetry.md.
type Attribute struct {
	Name  string
	Type  string // string, int, double, boolean
	Unit  string // UCUM; empty for text and identifiers
	On    string // where it stands: resource, scope, or the event's name
	Brief string
}

// Attributes lists every attribute but the measures, in document order.
var Attributes = []Attribute{
	{AppID, "string", "", "resource", "AppID"},
	{SessionID, "string", "", "resource", "session, a UUID version 7"},
	{UserID, "string", "", "resource", "local userID: the string, or userName"},
	{UserAlias, "string", "", "resource", "local userID: the string, or aliasName"},
	{ApplicationVersion, "string", "", "resource", "configParams.applicationVersion"},
	{SiteID, "string", "", "resource", "configParams.siteID"},
	{AdditionalPrefix + "<key>", "string", "", "resource", "configParams.additionalIDs, one attribute a key"},
	{LibraryVersion, "string", "", "resource", "version of the client library"},
	{UserAgent, "string", "", "resource", "the browser's user agent"},
	{ConferenceID, "string", "", "scope", "conferenceID"},
	{ConferenceAt, "int", "ms", "scope", "a time inside the conference since the epoch: the fabric's addedAt, or conferenceAt"},
	{FabricID, "int", "", "scope", "number of the fabric in its session; absent for conference-level records"},
	{FabricUsage, "string", "", "scope", "fabricUsage"},
	{FabricDirection, "string", "", "scope", "fabricTransmissionDirection"},
	{RemoteEndpointType, "string", "", "scope", "remoteEndpointType"},
	{RemoteUserID, "string", "", "scope", "remoteUserID: the string, or userName"},
	{RemoteUserAlias, "string", "", "scope", "remoteUserID: the string, or aliasName"},
	{FrameSeq, "int", "", "every record", "number of the frame in its session"},
	{FrameIndex, "int", "", "every record", "number of the record in its frame"},
	{Duplicate, "boolean", "", "every record", "true when the conference processor saw the record before; counters skip it"},
	{TimeCorrected, "boolean", "", "every record", "true when the client's time was implausible and arrival took its place"},
	{IntervalMs, "double", "ms", EventStats, "length of the interval that ends at the record's time"},
	{StatsType, "string", "", EventStats, "inbound-rtp, outbound-rtp or candidate-pair"},
	{MediaType, "string", "", EventStats, "audio or video; absent for candidate-pair"},
	{QualityMOS, "double", "1", EventStats, "conversational score of the interval, 1 to 5; absent without evidence"},
	{QualityMOSListening, "double", "1", EventStats, "listening score (no delay), audio only"},
	{QualityR, "double", "1", EventStats, "E-model rating on the 0 to 100 scale, audio only"},
	{QualityLabel, "string", "", EventStats, "excellent, good, fair, poor or bad"},
	{QualityModel, "string", "", EventStats, "name and version of the model"},
	{QualityReason, "string", "", EventStats, "why there is no score"},
	{QualityAssumed, "string", "", EventStats, "inputs that were not measured and had a default taken, separated by commas"},
	{QualityConfidence, "string", "", EventStats, "high, medium or low: how much of what went in was measured"},
	{QualityInputPrefix + "<name>", "double", "", EventStats, "what went into the model, so that anyone can compute the score again"},
	{EventName, "string", "", EventEvent, "fabricEvent or an event made by the client"},
	{EventData, "string", "", EventEvent, "its data as JSON"},
	{ErrorFunction, "string", "", EventError, "webRTCFunctions value"},
	{ErrorName, "string", "", EventError, "the error's name"},
	{ErrorMessage, "string", "", EventError, "the error's message"},
	{ErrorLocalSDP, "string", "", EventError, "local SDP"},
	{ErrorRemoteSDP, "string", "", EventError, "remote SDP"},
	{FeedbackUserID, "string", "", EventFeedback, "who rates: the string, or userName"},
	{FeedbackUserAlias, "string", "", EventFeedback, "who rates: the string, or aliasName"},
	{FeedbackOverall, "int", "1", EventFeedback, "1 to 5"},
	{FeedbackAudio, "int", "1", EventFeedback, "1 to 5"},
	{FeedbackVideo, "int", "1", EventFeedback, "1 to 5"},
	{FeedbackScreen, "int", "1", EventFeedback, "1 to 5"},
	{FeedbackComment, "string", "", EventFeedback, "free text"},
	{LogText, "string", "", EventLog, "text of the application"},
	{SkipFrom, "int", "", EventSkip, "first number dropped; the record's own is the last"},
	{SkipStats, "int", "{frame}", EventSkip, "measurements dropped of this fabric"},
	{SkipEvents, "int", "{frame}", EventSkip, "other frames dropped of this fabric"},
	{SummaryStart, "int", "ms", EventSummary, "start of the conference since the epoch"},
	{SummaryEnd, "int", "ms", EventSummary, "end of the conference since the epoch"},
	{SummaryRevision, "int", "", EventSummary, "1 for the first summary, one more for each revision"},
	{SummaryOutcome, "string", "", EventSummary, "missed, totallyFailed, aborted, dropped, partiallyFailed or success"},
	{SummaryParticipants, "int", "{participant}", EventSummary, "sessions that took part"},
	{SummaryMOS, "double", "1", EventSummary, "conference score; absent without evidence"},
	{SummaryLabel, "string", "", EventSummary, "label of the conference score"},
	{SummaryCause, "string", "", EventSummary, "likely cause of what was wrong, of the list in docs/cause.md; none, or unknown"},
	{SummaryIssuesPrefix + "<kind>", "int", "{issue}", EventSummary, "issues of a kind that were found (docs/quality.md); absent where there were none"},
}
