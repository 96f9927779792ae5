package records

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/attribute"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/semconv"
)

// Item is a record of the pipeline and what the domain calls it.
type Item struct {
	Event  conference.Event
	Record plog.LogRecord
}

var kinds = map[string]conference.Kind{
	semconv.EventStats:    conference.KindStats,
	semconv.EventEvent:    conference.KindEvent,
	semconv.EventError:    conference.KindError,
	semconv.EventFeedback: conference.KindFeedback,
	semconv.EventLog:      conference.KindLog,
	semconv.EventSkip:     conference.KindSkip,
}

// Read translates the records that are about conferences, and leaves out others. Records of
// measurements with values that cannot be true are marked (semconv.Unlikely).
func Read(logs plog.Logs) []Item {
	items := make([]Item, 0, logs.LogRecordCount())
	for _, resource := range logs.ResourceLogs().All() {
		attrs := resource.Resource().Attributes()
		session := conference.Event{
			AppID: attribute.Text(attrs, semconv.AppID), Session: attribute.Text(attrs, semconv.SessionID),
			UserID: attribute.Text(attrs, semconv.UserID), Alias: attribute.Text(attrs, semconv.UserAlias),
		}
		for _, scope := range resource.ScopeLogs().All() {
			e := session
			readScope(&e, scope.Scope().Attributes())
			for _, record := range scope.LogRecords().All() {
				if e.Kind = kinds[record.EventName()]; e.Kind != 0 {
					items = append(items, Item{readRecord(e, record), record})
				}
			}
		}
	}
	return items
}

func readScope(e *conference.Event, attrs pcommon.Map) {
	e.ConferenceID = attribute.Text(attrs, semconv.ConferenceID)
	e.ConferenceAtMs = integer(attrs, semconv.ConferenceAt)
	e.Fabric = int(integer(attrs, semconv.FabricID))
	e.Usage = attribute.Text(attrs, semconv.FabricUsage)
	e.RemoteUser = attribute.Text(attrs, semconv.RemoteUserID)
	e.RemoteAlias = attribute.Text(attrs, semconv.RemoteUserAlias)
	e.RemoteType = attribute.Text(attrs, semconv.RemoteEndpointType)
	e.Direction = attribute.Text(attrs, semconv.FabricDirection)
}

func readRecord(e conference.Event, record plog.LogRecord) conference.Event {
	attrs := record.Attributes()
	e.AtMs = milliseconds(record.Timestamp())
	if e.AtMs == 0 { // the store does the same
		e.AtMs = milliseconds(record.ObservedTimestamp())
	}
	if e.ConferenceAtMs == 0 {
		e.ConferenceAtMs = e.AtMs
	}
	switch e.Kind {
	case conference.KindStats:
		readStats(&e, attrs)
		return e
	case conference.KindEvent:
		e.Name = attribute.Text(attrs, semconv.EventName)
		if data, ok := attrs.Get(semconv.EventData); ok {
			e.Data = conference.ParseData(e.Name, []byte(data.AsString()))
		}
	case conference.KindError:
		e.Function = attribute.Text(attrs, semconv.ErrorFunction)
	case conference.KindFeedback:
		e.Feedback = readFeedback(attrs)
	case conference.KindSkip:
		e.Lost = conference.Lost{Stats: count(attrs, semconv.SkipStats), Events: count(attrs, semconv.SkipEvents)}
	case conference.KindLog: // that it was written is all
	}
	e.Seq, e.Index = uint64(max(0, integer(attrs, semconv.FrameSeq))), int(integer(attrs, semconv.FrameIndex)) // not negative
	return e
}

func readFeedback(attrs pcommon.Map) *conference.Feedback {
	return &conference.Feedback{
		UserID: strings.Clone(attribute.Text(attrs, semconv.FeedbackUserID)), Alias: strings.Clone(attribute.Text(attrs, semconv.FeedbackUserAlias)),
		Overall: score(attrs, semconv.FeedbackOverall), Audio: score(attrs, semconv.FeedbackAudio),
		Video: score(attrs, semconv.FeedbackVideo), Screen: score(attrs, semconv.FeedbackScreen),
		Comment: strings.Clone(attribute.Text(attrs, semconv.FeedbackComment)),
	}
}

// measure says where an attribute of a measurement goes.
type measure func(*conference.Stats, float64)

// known makes the place of a number that may be unknown.
func known(place func(*conference.Stats) *conference.Value) measure {
	return func(s *conference.Stats, v float64) { *place(s) = conference.Known(v) }
}

func counter(place func(*conference.Stats) *float64) measure {
	return func(s *conference.Stats, v float64) { *place(s) = v }
}

// measures are those that a summary needs, by attribute.
var measures = map[string]measure{
	semconv.IntervalMs:                  counter(func(s *conference.Stats) *float64 { return &s.IntervalMs }),
	semconv.Stats("bytes"):              counter(func(s *conference.Stats) *float64 { return &s.Bytes }),
	semconv.Stats("packetsLost"):        func(s *conference.Stats, v float64) { s.PacketsLost, s.LossUntold = v, false },
	semconv.Stats("packetsDiscarded"):   counter(func(s *conference.Stats) *float64 { return &s.Discarded }),
	semconv.Stats("samples"):            counter(func(s *conference.Stats) *float64 { return &s.Samples }),
	semconv.Stats("concealedSamples"):   counter(func(s *conference.Stats) *float64 { return &s.ConcealedSamples }),
	semconv.Stats("freezes"):            counter(func(s *conference.Stats) *float64 { return &s.Freezes }),
	semconv.Stats("freezeMs"):           counter(func(s *conference.Stats) *float64 { return &s.FreezeMs }),
	semconv.Stats("bytesReceived"):      counter(func(s *conference.Stats) *float64 { return &s.BytesReceived }),
	semconv.Stats("remotePacketsLost"):  known(func(s *conference.Stats) *conference.Value { return &s.RemoteLost }),
	semconv.Stats("remoteLossFraction"): known(func(s *conference.Stats) *conference.Value { return &s.RemoteLossFraction }),
	semconv.Stats("remoteJitterMs"):     known(func(s *conference.Stats) *conference.Value { return &s.RemoteJitterMs }),
	semconv.Stats("rttMs"):              known(func(s *conference.Stats) *conference.Value { return &s.RTTMs }),
	semconv.Stats("jitterMs"):           known(func(s *conference.Stats) *conference.Value { return &s.JitterMs }),
	semconv.Stats("fps"):                known(func(s *conference.Stats) *conference.Value { return &s.FPS }),
	semconv.QualityMOS:                  known(func(s *conference.Stats) *conference.Value { return &s.MOS }),
	semconv.Stats("retransmittedPackets"): counter(func(s *conference.Stats) *float64 {
		return &s.Retransmitted
	}),
	semconv.Stats("silentConcealedSamples"): counter(func(s *conference.Stats) *float64 {
		return &s.SilentConcealed
	}),
	semconv.Stats("packets"): func(s *conference.Stats, v float64) { s.Packets, s.PacketsSeen = v, conference.Known(v) },

	semconv.Stats("concealmentEvents"):    known(func(s *conference.Stats) *conference.Value { return &s.ConcealmentEvents }),
	semconv.Stats("audioLevel"):           known(func(s *conference.Stats) *conference.Value { return &s.AudioLevel }),
	semconv.Stats("jitterBufferDelayMs"):  known(func(s *conference.Stats) *conference.Value { return &s.JitterBufferMs }),
	semconv.Stats("frames"):               known(func(s *conference.Stats) *conference.Value { return &s.Frames }),
	semconv.Stats("framesDecoded"):        known(func(s *conference.Stats) *conference.Value { return &s.FramesDecoded }),
	semconv.Stats("framesDropped"):        known(func(s *conference.Stats) *conference.Value { return &s.FramesDropped }),
	semconv.Stats("width"):                known(func(s *conference.Stats) *conference.Value { return &s.Width }),
	semconv.Stats("height"):               known(func(s *conference.Stats) *conference.Value { return &s.Height }),
	semconv.Stats("qp"):                   known(func(s *conference.Stats) *conference.Value { return &s.QP }),
	semconv.Stats("plis"):                 known(func(s *conference.Stats) *conference.Value { return &s.PLIs }),
	semconv.Stats("firs"):                 known(func(s *conference.Stats) *conference.Value { return &s.FIRs }),
	semconv.Stats("nacks"):                known(func(s *conference.Stats) *conference.Value { return &s.NACKs }),
	semconv.Stats("pauseMs"):              known(func(s *conference.Stats) *conference.Value { return &s.PauseMs }),
	semconv.Stats("encodeMs"):             known(func(s *conference.Stats) *conference.Value { return &s.EncodeMs }),
	semconv.Stats("decodeMs"):             known(func(s *conference.Stats) *conference.Value { return &s.DecodeMs }),
	semconv.Stats("cpuLimitedMs"):         known(func(s *conference.Stats) *conference.Value { return &s.CPULimitedMs }),
	semconv.Stats("bandwidthLimitedMs"):   known(func(s *conference.Stats) *conference.Value { return &s.BandwidthLimitedMs }),
	semconv.Stats("targetBitrateBps"):     known(func(s *conference.Stats) *conference.Value { return &s.TargetBitrateBps }),
	semconv.Stats("availableOutgoingBps"): known(func(s *conference.Stats) *conference.Value { return &s.AvailableOutgoingBps }),
}

var codecAttr, limitationAttr, ridAttr, ssrcAttr = semconv.Stats("codec"), semconv.Stats("limitation"), semconv.Stats("rid"), semconv.Stats("ssrc")

// readStats goes once over the attributes: they are many.
func readStats(e *conference.Event, attrs pcommon.Map) {
	s := &conference.Stats{LossUntold: true}
	strange := false
	for name, v := range attrs.All() {
		switch name {
		case semconv.FrameSeq:
			seq, _ := attribute.Whole(v)
			e.Seq = uint64(max(0, seq)) // not negative
		case semconv.FrameIndex:
			index, _ := attribute.Whole(v)
			e.Index = int(index)
		case semconv.StatsType:
			s.StatsType = v.Str()
		case semconv.MediaType:
			s.MediaType = v.Str()
		case semconv.QualityLabel:
			s.Label = v.Str()
		case codecAttr:
			s.Codec = v.Str()
		case limitationAttr:
			s.Limitation = v.Str()
		case ridAttr:
			s.Rid = v.Str()
		case ssrcAttr:
			s.SSRC, strange = ssrc(v)
		default:
			if put := measures[name]; put != nil {
				if n, ok := number(v); ok {
					put(s, n)
				}
			}
		}
	}
	names := s.Unlikely()
	if strange {
		names = append(names, "ssrc")
		s.LeftOut++
	}
	if len(names) > 0 {
		attrs.PutStr(semconv.Unlikely, strings.Join(names, ","))
	}
	if s.StatsType != "" { // a frame without rows has none: it says "alive"
		e.Stats = s
	}
}

// ssrc reads an SSRC, which has 32 bits (RFC 3550; protocol.Measures). The receiver lets no other
// number pass. Of records that came another way what is none is 0, and left out like other values
// that cannot be: all such streams of one kind and fabric are one.
func ssrc(v pcommon.Value) (n int64, strange bool) {
	switch f, ok := number(v); {
	case !ok:
		return 0, false
	case !(f >= 0 && f <= math.MaxUint32):
		return 0, true
	default:
		return int64(f), false
	}
}

// number reads an int or a double, whichever the sender chose. What is not finite is not
// known.
func number(v pcommon.Value) (float64, bool) {
	switch v.Type() {
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeDouble:
		d := v.Double()
		return d, !math.IsNaN(d) && !math.IsInf(d, 0)
	default:
		return 0, false
	}
}

// integer reads a whole number, 0 when it is none.
func integer(attrs pcommon.Map, name string) int64 {
	n, _ := attribute.Integer(attrs, name)
	return n
}

// maxLost bounds what one skip may claim: far above any client's queue.
const maxLost = 1 << 30

func count(attrs pcommon.Map, name string) int {
	return int(min(max(0, integer(attrs, name)), maxLost))
}

func score(attrs pcommon.Map, name string) *int {
	v := int(integer(attrs, name))
	if v < 1 || v > 5 {
		return nil
	}
	return &v
}

func milliseconds(t pcommon.Timestamp) int64 {
	return int64(t / 1e6) // 2^64 ns are 2^44 ms
}
