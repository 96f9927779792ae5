package protocol

// Measure is a value that is measured in each interval: its index in Measures. A new one is a
// constant and a row below, and a line of client/src/stats/measures.ts.
type Measure uint8

// The measures of version 1, in document order (section 7).
const (
	SSRC Measure = iota
	Codec
	RID
	ContentType
	Bytes
	Packets
	PacketsLost
	PacketsDiscarded
	FECPackets
	JitterMs
	JitterBufferDelayMs
	ExternalDelayMs
	RTTMs
	Samples
	ConcealedSamples
	SilentConcealedSamples
	ConcealmentEvents
	AudioLevel
	Frames
	FramesDecoded
	FramesEncoded
	FramesDropped
	KeyFrames
	Width
	Height
	FPS
	HarmonicFPS
	Freezes
	FreezeMs
	Freezes60s
	Pauses
	PauseMs
	DecodeMs
	EncodeMs
	QP
	PLIs
	FIRs
	NACKs
	DisplayedPixels
	RetransmittedPackets
	RetransmittedBytes
	TargetBitrateBps
	RemotePacketsLost
	RemoteLossFraction
	RemoteJitterMs
	Limitation
	CPULimitedMs
	BandwidthLimitedMs
	BytesSent
	BytesReceived
	AvailableOutgoingBps
	AvailableIncomingBps
	OutOfRange
	NumMeasures
	UnknownMeasure = NumMeasures // of an unknown column name
)

// MeasureType is the type of a measure's values.
type MeasureType string

// The types of measures.
const (
	Int   MeasureType = "int"
	Float MeasureType = "double"
	Text  MeasureType = "string"
)

// Reports is a set of kinds of reports.
type Reports uint8

// The kinds, by statsType and mediaType.
const (
	inboundAudio Reports = 1 << iota
	inboundVideo
	outboundAudio
	outboundVideo
	pair

	inbound   = inboundAudio | inboundVideo
	outbound  = outboundAudio | outboundVideo
	anyAudio  = inboundAudio | outboundAudio
	anyVideo  = inboundVideo | outboundVideo
	anyStream = inbound | outbound
	anyReport = anyStream | pair
)

// MeasureInfo describes one measure. A counter is the increase in the interval.
type MeasureInfo struct {
	Name      string // of its column
	Type      MeasureType
	Unit      string // UCUM, as OpenTelemetry writes units; "" for text
	Min       float64
	Max       float64    // frames with a value outside Min to Max are refused
	PerSecond float64    // of a counter: the largest possible increase in a second; 0: Max
	Most      float64    // of others: the largest possible value; 0: Max
	Within    *Neighbour // of a counter; nil: none
	Reports   Reports    // those that have it
	Note      string
}

// Neighbour limits a counter by another one of the same interval. The two may be read at different times, which
// PerSecond allows for.
type Neighbour struct {
	Of        Measure
	Each      float64 // the most for one unit of Of
	PerSecond float64 // the most beside these, in a second
}

const (
	maxCount = 1 << 53
	maxMs    = 3_600_000
)

// The most that one stream can do, with a late timer. Larger values result from a jump of a
// browser's counter.
const (
	maxPacketsPerSec  = 20e3   // 200 Mbit/s
	maxBytesPerSec    = 1.25e9 // 10 Gbit/s
	maxFramesPerSec   = 1000
	maxSamplesPerSec  = 96e3     // twice 48 kHz: the timer may be late
	maxPerSec         = 1000     // of rarer events
	maxEventsPerSec   = 100      // jitter buffers act each 10 ms
	maxStopsPerSec    = 10       // a freeze has at least 150 ms
	maxMsPerSec       = 2000     // of a state that holds or not; the timer may be late
	maxCodingMsPerSec = 8 * 1000 // several frames are coded at the same time
	maxBps            = 1e11
	maxDelayMs        = 60_000 // a call drops packets with a longer delay
)

// Measures is the reference of all measures of version 1.
var Measures = [NumMeasures]MeasureInfo{
	SSRC:                   {"ssrc", Int, "", 0, 1<<32 - 1, 0, 0, nil, anyStream, "RFC 3550 SSRC of the stream"},
	Codec:                  {"codec", Text, "", 0, 0, 0, 0, nil, anyStream, "codec, the MIME subtype (opus, VP8, H264)"},
	RID:                    {"rid", Text, "", 0, 0, 0, 0, nil, outboundVideo, "RTP stream id of a simulcast layer (RFC 8852)"},
	ContentType:            {"contentType", Text, "", 0, 0, 0, 0, nil, anyVideo, "screenshare for a screen (webrtc-stats contentType), else absent"},
	Bytes:                  {"bytes", Int, "By", 0, maxCount, maxBytesPerSec, 0, &Neighbour{Packets, 3000, 150e3}, anyStream, "payload bytes sent or received"},
	Packets:                {"packets", Int, "{packet}", 0, maxCount, maxPacketsPerSec, 0, &Neighbour{Bytes, 1, 1000}, anyStream, "RTP packets sent or received, without retransmissions"},
	PacketsLost:            {"packetsLost", Int, "{packet}", -maxCount, maxCount, maxPacketsPerSec, 0, &Neighbour{Packets, 10, 300}, inbound, "RTP packets that this end lost (may be negative, RFC 3550)"},
	PacketsDiscarded:       {"packetsDiscarded", Int, "{packet}", 0, maxCount, maxPacketsPerSec, 0, &Neighbour{Packets, 10, 100}, inboundAudio, "packets that arrived too late or too early to be played"},
	FECPackets:             {"fecPackets", Int, "{packet}", 0, maxCount, maxPacketsPerSec, 0, &Neighbour{Packets, 10, 100}, inboundAudio, "FEC packets received"},
	JitterMs:               {"jitterMs", Float, "ms", 0, maxMs, 0, maxDelayMs, nil, inbound, "interarrival jitter (RFC 3550)"},
	JitterBufferDelayMs:    {"jitterBufferDelayMs", Float, "ms", 0, maxMs, 0, maxDelayMs, nil, inbound, "mean time of the interval's samples or frames in the jitter buffer"},
	ExternalDelayMs:        {"externalDelayMs", Float, "ms", 0, maxMs, 0, maxDelayMs, nil, inbound, "the part of the jitter buffer's target that does not come of the network, but of a delay that the page or the sender chose, or of the other medium (jitterBufferTargetDelay - jitterBufferMinimumDelay)"},
	RTTMs:                  {"rttMs", Float, "ms", 0, maxMs, 0, maxDelayMs, nil, anyReport, "round-trip time"},
	Samples:                {"samples", Int, "{sample}", 0, maxCount, maxSamplesPerSec, 0, nil, inboundAudio, "audio samples received (totalSamplesReceived)"},
	ConcealedSamples:       {"concealedSamples", Int, "{sample}", 0, maxCount, maxSamplesPerSec, 0, &Neighbour{Samples, 1, 4800}, inboundAudio, "samples synthesised in place of lost ones"},
	SilentConcealedSamples: {"silentConcealedSamples", Int, "{sample}", 0, maxCount, maxSamplesPerSec, 0, &Neighbour{ConcealedSamples, 1, 4800}, inboundAudio, "concealed samples that were silent"},
	ConcealmentEvents:      {"concealmentEvents", Int, "{event}", 0, maxCount, maxEventsPerSec, 0, nil, inboundAudio, "runs of concealed samples"},
	AudioLevel:             {"audioLevel", Float, "1", 0, 1, 0, 0, nil, anyAudio, "audio level, linear"},
	Frames:                 {"frames", Int, "{frame}", 0, maxCount, maxFramesPerSec, 0, &Neighbour{Packets, 1, 60}, anyVideo, "video frames sent or received"},
	FramesDecoded:          {"framesDecoded", Int, "{frame}", 0, maxCount, maxFramesPerSec, 0, &Neighbour{Frames, 1, 60}, inboundVideo, "video frames decoded"},
	FramesEncoded:          {"framesEncoded", Int, "{frame}", 0, maxCount, maxFramesPerSec, 0, &Neighbour{Frames, 1, 60}, outboundVideo, "video frames encoded"},
	FramesDropped:          {"framesDropped", Int, "{frame}", 0, maxCount, maxFramesPerSec, 0, &Neighbour{Frames, 1, 60}, inboundVideo, "received frames dropped before display"},
	KeyFrames:              {"keyFrames", Int, "{frame}", 0, maxCount, maxFramesPerSec, 0, &Neighbour{Frames, 1, 10}, anyVideo, "key frames decoded or encoded"},
	Width:                  {"width", Int, "{pixel}", 0, 65535, 0, 0, nil, anyVideo, "frame width"},
	Height:                 {"height", Int, "{pixel}", 0, 65535, 0, 0, nil, anyVideo, "frame height"},
	FPS:                    {"fps", Float, "{frame}/s", 0, 1000, 0, 0, nil, anyVideo, "frames per second over the interval"},
	HarmonicFPS:            {"harmonicFps", Float, "{frame}/s", 0, 1000, 0, 0, nil, inboundVideo, "harmonic frame rate: totalInterFrameDelay / totalSquaredInterFrameDelay"},
	Freezes:                {"freezes", Int, "{freeze}", 0, maxCount, maxStopsPerSec, 0, nil, inboundVideo, "freezes (webrtc-stats freezeCount)"},
	FreezeMs:               {"freezeMs", Float, "ms", 0, maxMs, 0, 0, nil, inboundVideo, "time frozen in the interval"},
	Freezes60s:             {"freezes60s", Int, "{freeze}", 0, maxCount, 0, 0, nil, inboundVideo, "freezes in the last 60 s"},
	Pauses:                 {"pauses", Int, "{pause}", 0, maxCount, maxStopsPerSec, 0, nil, inboundVideo, "pauses (webrtc-stats pauseCount)"},
	PauseMs:                {"pauseMs", Float, "ms", 0, maxMs, 0, 0, nil, inboundVideo, "time paused in the interval"},
	DecodeMs:               {"decodeMs", Float, "ms", 0, maxMs, maxCodingMsPerSec, 0, nil, inboundVideo, "total decode time in the interval"},
	EncodeMs:               {"encodeMs", Float, "ms", 0, maxMs, maxCodingMsPerSec, 0, nil, outboundVideo, "total encode time in the interval"},
	QP:                     {"qp", Float, "1", 0, 255, 0, 0, nil, anyVideo, "mean quantisation parameter of the interval's frames"},
	PLIs:                   {"plis", Int, "{packet}", 0, maxCount, maxPerSec, 0, nil, anyVideo, "Picture Loss Indications (RFC 4585)"},
	FIRs:                   {"firs", Int, "{packet}", 0, maxCount, maxPerSec, 0, nil, anyVideo, "Full Intra Requests (RFC 5104)"},
	NACKs:                  {"nacks", Int, "{packet}", 0, maxCount, maxPerSec, 0, nil, anyVideo | outboundAudio, "Negative Acknowledgements (RFC 4585)"},
	DisplayedPixels:        {"displayedPixels", Int, "{pixel}", 0, maxCount, 0, 0, nil, anyVideo, "area of the element that shows the video, in device pixels"},
	RetransmittedPackets:   {"retransmittedPackets", Int, "{packet}", 0, maxCount, maxPacketsPerSec, 0, &Neighbour{Packets, 10, 1000}, anyStream, "retransmitted packets, sent or received"},
	RetransmittedBytes:     {"retransmittedBytes", Int, "By", 0, maxCount, maxBytesPerSec, 0, &Neighbour{Bytes, 1, 10e3}, anyStream, "retransmitted payload bytes, sent or received"},
	TargetBitrateBps:       {"targetBitrateBps", Float, "bit/s", 0, maxCount, 0, maxBps, nil, outbound, "the encoder's target"},
	RemotePacketsLost:      {"remotePacketsLost", Int, "{packet}", -maxCount, maxCount, maxPacketsPerSec, 0, &Neighbour{Packets, 10, 300}, outbound, "packets of this outbound stream that the remote end lost"},
	RemoteLossFraction:     {"remoteLossFraction", Float, "1", 0, 1, 0, 0, nil, outbound, "fraction of the packets sent between two reports that the remote end lost"},
	RemoteJitterMs:         {"remoteJitterMs", Float, "ms", 0, maxMs, 0, maxDelayMs, nil, outbound, "jitter at the remote end"},
	Limitation:             {"limitation", Text, "", 0, 0, 0, 0, nil, outboundVideo, "qualityLimitationReason: none, cpu, bandwidth, other"},
	CPULimitedMs:           {"cpuLimitedMs", Float, "ms", 0, maxMs, maxMsPerSec, 0, nil, outboundVideo, "time limited by cpu in the interval"},
	BandwidthLimitedMs:     {"bandwidthLimitedMs", Float, "ms", 0, maxMs, maxMsPerSec, 0, nil, outboundVideo, "time limited by bandwidth in the interval"},
	BytesSent:              {"bytesSent", Int, "By", 0, maxCount, maxBytesPerSec, 0, nil, pair, "bytes sent over the selected candidate pair"},
	BytesReceived:          {"bytesReceived", Int, "By", 0, maxCount, maxBytesPerSec, 0, nil, pair, "bytes received over the selected candidate pair"},
	AvailableOutgoingBps:   {"availableOutgoingBps", Float, "bit/s", 0, maxCount, 0, maxBps, nil, pair, "the sender's bandwidth estimate"},
	AvailableIncomingBps:   {"availableIncomingBps", Float, "bit/s", 0, maxCount, 0, maxBps, nil, pair, "the receiver's bandwidth estimate"},
	OutOfRange:             {"outOfRange", Text, "", 0, 0, 0, 0, nil, anyReport, "measures of this report that the client knows to be untrue, separated by commas; they are null"},
}

var measureByName = func() map[string]Measure {
	m := make(map[string]Measure, NumMeasures)
	for i := range NumMeasures {
		m[Measures[i].Name] = i
	}
	return m
}()

// MeasureNamed returns the measure of a column name, UnknownMeasure if there is none.
func MeasureNamed(name string) Measure {
	if m, ok := measureByName[name]; ok {
		return m
	}
	return UnknownMeasure
}

// String returns the column name.
func (m Measure) String() string { return m.Info().Name }

var unknownMeasure MeasureInfo

// Info returns the row in Measures, an empty one for UnknownMeasure.
func (m Measure) Info() *MeasureInfo {
	if m >= NumMeasures {
		return &unknownMeasure
	}
	return &Measures[m]
}

var reportNames = [...]string{"inbound audio", "inbound video", "outbound audio", "outbound video", "pair"}

// Names returns the names of the kinds in the set.
func (r Reports) Names() (names []string) {
	for i, name := range reportNames {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}
