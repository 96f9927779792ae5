package qualityprocessor

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/internal/semconv"
)

// field is a number that a score may need.
type field uint8

const (
	intervalMs field = iota
	bytes
	retransmittedBytes
	packets
	packetsLost
	packetsDiscarded
	fecPackets
	samples
	concealedSamples
	silentConcealedSamples
	concealmentEvents
	jitterMs
	jitterBufferDelayMs
	rttMs
	audioLevel
	targetBitrateBps
	remoteLossFraction
	remotePacketsLost
	remoteJitterMs
	frames
	framesDecoded
	framesEncoded
	width
	height
	displayedPixels
	fps
	harmonicFPS
	freezes
	freezes60s
	freezeMs
	pauseMs
	qp
	bytesReceived
	numFields

	// What is no number.
	statsType
	mediaType
	codec
	rid
	limitation
	frameSeq
)

// fieldOf finds a field by its attribute.
var fieldOf = func() map[string]field {
	m := map[string]field{
		semconv.IntervalMs: intervalMs,
		semconv.StatsType:  statsType,
		semconv.MediaType:  mediaType,
		semconv.FrameSeq:   frameSeq,
	}
	for column, f := range map[string]field{
		"bytes":                  bytes,
		"retransmittedBytes":     retransmittedBytes,
		"packets":                packets,
		"packetsLost":            packetsLost,
		"packetsDiscarded":       packetsDiscarded,
		"fecPackets":             fecPackets,
		"samples":                samples,
		"concealedSamples":       concealedSamples,
		"silentConcealedSamples": silentConcealedSamples,
		"concealmentEvents":      concealmentEvents,
		"jitterMs":               jitterMs,
		"jitterBufferDelayMs":    jitterBufferDelayMs,
		"rttMs":                  rttMs,
		"audioLevel":             audioLevel,
		"targetBitrateBps":       targetBitrateBps,
		"remoteLossFraction":     remoteLossFraction,
		"remotePacketsLost":      remotePacketsLost,
		"remoteJitterMs":         remoteJitterMs,
		"frames":                 frames,
		"framesDecoded":          framesDecoded,
		"framesEncoded":          framesEncoded,
		"width":                  width,
		"height":                 height,
		"displayedPixels":        displayedPixels,
		"fps":                    fps,
		"harmonicFps":            harmonicFPS,
		"freezes":                freezes,
		"freezes60s":             freezes60s,
		"freezeMs":               freezeMs,
		"pauseMs":                pauseMs,
		"qp":                     qp,
		"bytesReceived":          bytesReceived,
		"codec":                  codec,
		"rid":                    rid,
		"limitation":             limitation,
	} {
		m[semconv.Stats(column)] = f
	}
	return m
}()

// Values of the wire's text columns (docs/protocol.md, sections 4.2 and 7).
const (
	outboundRTP        = "outbound-rtp"
	inboundRTP         = "inbound-rtp"
	candidatePair      = "candidate-pair"
	audio              = "audio"
	video              = "video"
	limitedByBandwidth = "bandwidth"
)

// measurement is a record as the scores need it. Reading attributes one by one would
// search a list each time, so all are read in one walk.
type measurement struct {
	attrs      pcommon.Map
	num        [numFields]quality.Opt
	statsType  string
	mediaType  string
	codec      string
	rid        string // of a simulcast layer
	limitation string
	seq        int64 // number of its frame, -1 when it has none
	lower      bool  // a larger simulcast layer stands beside it
	unheard    bool  // nothing came back over its candidate pair
	scored     bool  // carries quality attributes already
}

func (m *measurement) read(record plog.LogRecord) {
	m.attrs = record.Attributes()
	m.seq = -1
	for key, value := range m.attrs.All() {
		f, ok := fieldOf[key]
		switch {
		case !ok:
			m.scored = m.scored || strings.HasPrefix(key, qualityPrefix)
		case f < numFields:
			m.num[f] = number(f, value)
		default:
			m.readText(f, value)
		}
	}
}

func (m *measurement) readText(f field, value pcommon.Value) {
	if f == frameSeq {
		if value.Type() == pcommon.ValueTypeInt {
			m.seq = value.Int()
		}
		return
	}
	if value.Type() != pcommon.ValueTypeStr {
		return
	}
	switch s := value.Str(); f {
	case statsType:
		m.statsType = s
	case mediaType:
		m.mediaType = s
	case codec:
		m.codec = s
	case rid:
		m.rid = s
	case limitation:
		m.limitation = s
	}
}

// number reads a number; what is none, and a null, is unknown.
func number(f field, value pcommon.Value) quality.Opt {
	var v float64
	switch value.Type() {
	case pcommon.ValueTypeInt:
		v = float64(value.Int())
	case pcommon.ValueTypeDouble:
		v = value.Double()
	default:
		return quality.Opt{}
	}
	if f == packetsLost || f == remotePacketsLost {
		return quality.SomeLost(v)
	}
	return quality.Some(v)
}

func (m *measurement) outbound() bool { return m.statsType == outboundRTP }

// stream tells whether this is an audio or a video stream.
func (m *measurement) stream() bool {
	return (m.statsType == inboundRTP || m.statsType == outboundRTP) &&
		(m.mediaType == audio || m.mediaType == video)
}

func (m *measurement) audioInput() quality.AudioInput {
	in := quality.AudioInput{
		Outbound:               m.outbound(),
		Unheard:                m.unheard,
		Codec:                  m.codec,
		IntervalMs:             m.num[intervalMs],
		Bytes:                  m.num[bytes],
		Packets:                m.num[packets],
		PacketsLost:            m.num[packetsLost],
		PacketsDiscarded:       m.num[packetsDiscarded],
		FECPackets:             m.num[fecPackets],
		Samples:                m.num[samples],
		ConcealedSamples:       m.num[concealedSamples],
		SilentConcealedSamples: m.num[silentConcealedSamples],
		ConcealmentEvents:      m.num[concealmentEvents],
		RemoteLossFraction:     m.num[remoteLossFraction],
		RemotePacketsLost:      m.num[remotePacketsLost],
		JitterMs:               m.num[jitterMs],
		JitterBufferDelayMs:    m.num[jitterBufferDelayMs],
		RTTMs:                  m.num[rttMs],
		TargetBitrateBps:       m.num[targetBitrateBps],
		AudioLevel:             m.num[audioLevel],
	}
	if in.Outbound {
		in.JitterMs = m.num[remoteJitterMs]
	}
	return in
}

func (m *measurement) videoInput(screen bool) quality.VideoInput {
	in := quality.VideoInput{
		Outbound:           m.outbound(),
		Unheard:            m.unheard,
		Screen:             screen,
		LowerLayer:         m.lower,
		BandwidthLimited:   m.limitation == limitedByBandwidth,
		Codec:              m.codec,
		IntervalMs:         m.num[intervalMs],
		Bytes:              m.num[bytes],
		RetransmittedBytes: m.num[retransmittedBytes],
		Packets:            m.num[packets],
		Frames:             m.num[frames],
		FramesDecoded:      m.num[framesDecoded],
		Width:              m.num[width],
		Height:             m.num[height],
		DisplayedPixels:    m.num[displayedPixels],
		FPS:                m.num[fps],
		HarmonicFPS:        m.num[harmonicFPS],
		Freezes:            m.num[freezes],
		Freezes60s:         m.num[freezes60s],
		FreezeMs:           m.num[freezeMs],
		PauseMs:            m.num[pauseMs],
		QP:                 m.num[qp],
		RemoteLossFraction: m.num[remoteLossFraction],
		RemotePacketsLost:  m.num[remotePacketsLost],
	}
	if _, known := in.Frames.Get(); !known && in.Outbound {
		in.Frames = m.num[framesEncoded]
	}
	return in
}
