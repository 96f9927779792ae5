package protocol

// MeasureType is the type of a measure's values.
type MeasureType string

// The types of measures.
const (
	Int   MeasureType = "int"
	Float MeasureType = "double"
	Text  MeasureType = "string"
)

// Measure describes one column name (section 7). Counters are increases over the
// interval.
type Measure struct {
	Name string
	Type MeasureType
	Unit string // UCUM, as OpenTelemetry writes units; "" for text
	Min  float64
	Max  float64
	Note string
}

const (
	maxCount = 1 << 53
	maxMs    = 3_600_000
)

// Measures is the reference of all column names of version 1, in document order.
var Measures = []Measure{
	{"ssrc", Int, "", 0, 1<<32 - 1, "RFC 3550 SSRC of the stream"},
	{"codec", Text, "", 0, 0, "codec, the MIME subtype (opus, VP8, H264)"},
	{"rid", Text, "", 0, 0, "RTP stream id of a simulcast layer (RFC 8852)"},
	{"bytes", Int, "By", 0, maxCount, "payload bytes sent or received"},
	{"packets", Int, "{packet}", 0, maxCount, "RTP packets sent or received for the first time: retransmissions are not among them"},
	{"packetsLost", Int, "{packet}", -maxCount, maxCount, "RTP packets lost on the way here (may be negative, RFC 3550)"},
	{"packetsDiscarded", Int, "{packet}", 0, maxCount, "packets that came too late or too early to be played"},
	{"fecPackets", Int, "{packet}", 0, maxCount, "FEC packets received"},
	{"jitterMs", Float, "ms", 0, maxMs, "interarrival jitter (RFC 3550)"},
	{"jitterBufferDelayMs", Float, "ms", 0, maxMs, "mean time a sample or frame of this interval spent in the jitter buffer"},
	{"rttMs", Float, "ms", 0, maxMs, "round-trip time"},
	{"samples", Int, "{sample}", 0, maxCount, "audio samples received (totalSamplesReceived)"},
	{"concealedSamples", Int, "{sample}", 0, maxCount, "samples synthesised in place of lost ones"},
	{"silentConcealedSamples", Int, "{sample}", 0, maxCount, "concealed samples that were silent"},
	{"concealmentEvents", Int, "{event}", 0, maxCount, "runs of concealed samples"},
	{"audioLevel", Float, "1", 0, 1, "audio level, linear"},
	{"frames", Int, "{frame}", 0, maxCount, "video frames sent or received"},
	{"framesDecoded", Int, "{frame}", 0, maxCount, "video frames decoded"},
	{"framesEncoded", Int, "{frame}", 0, maxCount, "video frames encoded"},
	{"framesDropped", Int, "{frame}", 0, maxCount, "received frames dropped before display"},
	{"keyFrames", Int, "{frame}", 0, maxCount, "key frames decoded or encoded"},
	{"width", Int, "{pixel}", 0, 65535, "frame width"},
	{"height", Int, "{pixel}", 0, 65535, "frame height"},
	{"fps", Float, "{frame}/s", 0, 1000, "frames per second over the interval"},
	{"harmonicFps", Float, "{frame}/s", 0, 1000, "harmonic frame rate: totalInterFrameDelay / totalSquaredInterFrameDelay"},
	{"freezes", Int, "{freeze}", 0, maxCount, "freezes (webrtc-stats freezeCount)"},
	{"freezeMs", Float, "ms", 0, maxMs, "time frozen in the interval"},
	{"freezes60s", Int, "{freeze}", 0, maxCount, "freezes in the last 60 s"},
	{"pauses", Int, "{pause}", 0, maxCount, "pauses (webrtc-stats pauseCount)"},
	{"pauseMs", Float, "ms", 0, maxMs, "time paused in the interval"},
	{"decodeMs", Float, "ms", 0, maxMs, "total decode time in the interval"},
	{"encodeMs", Float, "ms", 0, maxMs, "total encode time in the interval"},
	{"qp", Float, "1", 0, 255, "mean quantisation parameter of the interval's frames"},
	{"plis", Int, "{packet}", 0, maxCount, "Picture Loss Indications (RFC 4585)"},
	{"firs", Int, "{packet}", 0, maxCount, "Full Intra Requests (RFC 5104)"},
	{"nacks", Int, "{packet}", 0, maxCount, "Negative Acknowledgements (RFC 4585)"},
	{"displayedPixels", Int, "{pixel}", 0, maxCount, "area of the element that shows the video, in device pixels"},
	{"retransmittedPackets", Int, "{packet}", 0, maxCount, "packets sent again, or received because they were"},
	{"retransmittedBytes", Int, "By", 0, maxCount, "payload bytes sent again"},
	{"targetBitrateBps", Float, "bit/s", 0, maxCount, "the encoder's target"},
	{"remotePacketsLost", Int, "{packet}", -maxCount, maxCount, "packets of this outbound stream that the remote end lost"},
	{"remoteLossFraction", Float, "1", 0, 1, "fraction that the remote end lost of what was sent in the interval"},
	{"remoteJitterMs", Float, "ms", 0, maxMs, "jitter at the remote end"},
	{"limitation", Text, "", 0, 0, "qualityLimitationReason: none, cpu, bandwidth, other"},
	{"cpuLimitedMs", Float, "ms", 0, maxMs, "time limited by cpu in the interval"},
	{"bandwidthLimitedMs", Float, "ms", 0, maxMs, "time limited by bandwidth in the interval"},
	{"bytesSent", Int, "By", 0, maxCount, "bytes sent over the selected candidate pair"},
	{"bytesReceived", Int, "By", 0, maxCount, "bytes received over the selected candidate pair"},
	{"availableOutgoingBps", Float, "bit/s", 0, maxCount, "the sender's bandwidth estimate"},
	{"availableIncomingBps", Float, "bit/s", 0, maxCount, "the receiver's bandwidth estimate"},
}

var measureByName = func() map[string]*Measure {
	m := make(map[string]*Measure, len(Measures))
	for i := range Measures {
		m[Measures[i].Name] = &Measures[i]
	}
	return m
}()

// MeasureNamed returns the measure of that column name, nil when there is none.
func MeasureNamed(name string) *Measure { return measureByName[name] }
