package eventattr

import (
	"strings"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Field identifies the part of a measurement's record that an attribute sets.
type Field uint8

// The fields. The numbers below them are those of the measures.
const (
	interval = Field(protocol.NumMeasures) + iota
	statsType
	mediaType
	mos
	label
	reason
	model
	confidence
	assumed
	frameSeq
	frameIndex
	timeCorrected
	ofScore // any other attribute of a score
	None    // of no field
	NumFields
)

var fieldNames = func() (names [NumFields]string) {
	for k := range protocol.NumMeasures {
		names[k] = semconv.Measure(k)
	}
	for f, name := range map[Field]string{
		interval: semconv.IntervalMs, statsType: semconv.StatsType, mediaType: semconv.MediaType,
		mos: semconv.QualityMOS, label: semconv.QualityLabel, reason: semconv.QualityReason, model: semconv.QualityModel,
		confidence: semconv.QualityConfidence, assumed: semconv.QualityAssumed,
		frameSeq: semconv.FrameSeq, frameIndex: semconv.FrameIndex, timeCorrected: semconv.TimeCorrected,
	} {
		names[f] = name
	}
	return names
}()

var fieldByName = func() map[string]Field {
	fields := make(map[string]Field, NumFields)
	for f, name := range fieldNames {
		if name != "" {
			fields[name] = Field(f)
		}
	}
	return fields
}()

// FieldOf returns the field of an attribute.
func FieldOf(name string) Field {
	if f, ok := fieldByName[name]; ok {
		return f
	}
	if strings.HasPrefix(name, semconv.QualityPrefix) {
		return ofScore
	}
	return None
}

// isNumber marks the fields of measures that are numbers and no SSRC.
var isNumber = func() (is [NumFields]bool) {
	for k := range protocol.NumMeasures {
		is[k] = k.Info().Type != protocol.Text && k != protocol.SSRC
	}
	return is
}()

// Measure returns the measure of the field, false where it is none that Measurement.Set accepts.
func (f Field) Measure() (k protocol.Measure, ok bool) { return protocol.Measure(f), isNumber[f] }

// Name returns the attribute name of a field, "" where it has none of its own.
func (f Field) Name() string { return fieldNames[f] }

// Row holds the fields of a measurement's record that are not in the Measurement.
type Row struct {
	Seq           int64 // of its frame; -1: none
	Index         int64
	TimeCorrected bool
	Scored        bool // it has attributes of a score
}

// NewRow returns a row without fields.
func NewRow() Row { return Row{Seq: -1} }

// Put sets the field of one attribute of a measurement's record, in m or in r.
func (r *Row) Put(m *event.Measurement, f Field, a Attr) {
	switch {
	case f < Field(protocol.NumMeasures):
		putMeasure(m, protocol.Measure(f), a)
	case f >= mos && f <= assumed || f == ofScore:
		r.Scored = true
		putScore(&m.Score, f, a)
	default:
		r.put(m, f, a)
	}
}

func (r *Row) put(m *event.Measurement, f Field, a Attr) {
	switch f {
	case interval:
		m.IntervalMs, _ = a.Number()
	case statsType:
		m.StatsType = a.Str()
	case mediaType:
		m.MediaType = a.Str()
	case frameSeq:
		if n, ok := a.Whole(); ok {
			r.Seq = n
		}
	case frameIndex:
		if n, ok := a.Whole(); ok {
			r.Index = n
		}
	case timeCorrected:
		r.TimeCorrected = a.Type == Bool && a.Bool
	default: // of no field
	}
}

func putMeasure(m *event.Measurement, k protocol.Measure, a Attr) {
	switch k {
	case protocol.Codec:
		m.Codec = a.Str()
	case protocol.RID:
		m.RID = a.Str()
	case protocol.Limitation:
		m.Limitation = a.Str()
	case protocol.ContentType:
		m.Content = a.Str()
	case protocol.OutOfRange:
		m.OutOfRange |= event.OutOfRangeNamed(a.Str())
	case protocol.SSRC:
		if n, ok := a.Number(); ok {
			m.SetSSRC(n)
		}
	default:
		if n, ok := a.Number(); ok {
			m.Set(k, n)
		}
	}
}

func putScore(s *event.Score, f Field, a Attr) {
	switch f {
	case mos:
		s.MOS.V, s.MOS.Known = a.Number()
	case label:
		s.Label = a.Str()
	case reason:
		s.Reason = a.Str()
	case model:
		s.Model = a.Str()
	case confidence:
		s.Confidence = a.Str()
	case assumed:
		s.Assumed = a.Str()
	default: // not needed by summaries and pages
	}
}

// screenshare is the contentType of a screen (webrtc-stats).
const screenshare = "screenshare"

// Done completes a measurement after all its attributes were put: it sets Screen by the fabric's usage, and
// drops values that are out of range.
func Done(m *event.Measurement, usage string) {
	m.Screen = usage == event.Screen || m.Content == screenshare
	m.DropOutOfRange()
}
