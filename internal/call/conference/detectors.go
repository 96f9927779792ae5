package conference

import (
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// criteria are the rules and labels by which measurements are evaluated, the same for all
// conferences of a Set.
type criteria struct {
	rules  *detect.Rules
	labels quality.Bounds

	dirty bool // the applied record may raise or end an issue
	full  bool // its conference has the maximum of streams
}

var defaultRules = detect.NewRules(detect.DefaultConfig())

func newCriteria(rules *detect.Rules, labels quality.Bounds) *criteria {
	if rules == nil {
		rules = defaultRules
	}
	return &criteria{rules: rules, labels: labels}
}

// detectorState is the state of detectors and labels for one stream.
type detectorState struct {
	line     detect.Timeline
	breaches []breach
}

// breach sums up the measurements whose metric was beyond its threshold.
type breach struct {
	level       detect.Level
	sum, weight float64 // of value*scale, weighted by ms
	worst       float64
}

// labelMargin is the distance of scores above a label's bound from which the label rises;
// maxIntervalMs is the protocol's longest interval.
const (
	labelMargin   = 0.1
	maxIntervalMs = 600_000
)

// applyDetectors applies the detectors to a measurement.
func (f *fabric) applyDetectors(s *stream, e *event.Event) {
	reading := f.criteria.rules.Read(e.Measured)
	word := reading.Word
	if m := e.Measured.Score.MOS; m.Known {
		word = word.WithState(labelState(m.V, f.criteria.labels))
	}
	ms := int64(min(max(e.Measured.IntervalMs, 1), maxIntervalMs))
	s.detectors.line.Add(e.AtMs-ms, e.AtMs, word)
	facts := detect.FactsOf(e.Measured)
	f.facts.AddFacts(e.AtMs-ms, e.AtMs, facts)
	f.criteria.dirty = f.criteria.dirty || facts.Missing()
	for l := range detect.NumLevels {
		if word.Class(l) == detect.Breach {
			f.criteria.dirty = true
			v := min(reading.Values[l], maxValue)
			s.detectors.note(breach{l, scaled(v) * float64(ms), float64(ms), v})
		}
	}
}

func (w *detectorState) note(b breach) {
	for i := range w.breaches {
		if have := &w.breaches[i]; have.level == b.level {
			have.join(b, b.level.Below())
			return
		}
	}
	w.breaches = append(w.breaches, b)
}

func (b *breach) join(o breach, below bool) {
	switch {
	case o.weight == 0:
		return
	case b.weight == 0 || (o.worst < b.worst) == below && o.worst != b.worst:
		b.worst = o.worst
	}
	b.sum += o.sum
	b.weight += o.weight
}

// totalMs returns the time of a metric that is a share of time, ms.
func (b *breach) totalMs() float64 { return unscaled(b.sum) }

func (b *breach) mean() float64 { return unscaled(b.sum / b.weight) }

func (w *detectorState) merge(o *detectorState) {
	w.line.Merge(&o.line)
	for _, b := range o.breaches {
		w.note(b)
	}
}

// mark is an event of a fabric's connection, or the beginning or end of a state of it.
type mark struct {
	rank uint64
	at   int64
	from int64 // of the end of a disruption: its beginning
	kind markKind
	on   bool
}

type markKind uint8

const (
	markConnected markKind = iota // a pair was selected
	markDisrupted                 // on and off: ICE was disrupted
	markRestarted                 // ICE was restarted
	markRelayTCP                  // on and off: the selected pair uses a relay over TCP or TLS
)

const maxMarks = 256

// wifiMs is the time for which a Wi-Fi signal is valid: applications report one with each
// measurement.
const wifiMs = 10_000

// note records the marks and the Wi-Fi signal of an event for the detectors.
func (f *fabric) note(e *event.Event, d *event.Data) (truncated int) {
	add := func(m mark) {
		m.rank, m.at = e.Rank(), e.AtMs
		truncated += insertByRank(&f.marks, m, maxMarks, func(m mark) uint64 { return m.rank<<2 | uint64(m.kind) })
	}
	switch e.Name {
	case "fabricSetup", "selectedCandidatePairChange":
		add(mark{kind: markConnected})
		add(mark{kind: markRelayTCP, on: d.RelayProtocol == "tcp" || d.RelayProtocol == "tls"})
	case "iceDisruptionStart":
		add(mark{kind: markDisrupted, on: true})
	case "iceDisruptionEnd":
		add(mark{kind: markDisrupted, from: e.AtMs - int64(d.DurationMs.V)})
	case "iceRestart":
		add(mark{kind: markRestarted})
	case "wifiStats":
		f.noteSignal(e.AtMs, d.SignalDBm)
	}
	return truncated
}

func (f *fabric) noteSignal(at int64, dBm event.Value) {
	if !dBm.Known {
		return
	}
	facts := f.criteria.rules.WiFiFacts(dBm.V)
	f.facts.AddFacts(at-wifiMs, at, facts)
	if detect.WiFi(facts) == detect.Breach {
		f.criteria.dirty = true
		f.wifi.join(breach{0, scaled(dBm.V), 1, dBm.V}, true)
	}
}

func (f *fabric) mergeDetectors(o *fabric) (truncated int) {
	f.facts.Merge(&o.facts)
	f.wifi.join(o.wifi, true)
	for _, m := range o.marks {
		truncated += insertByRank(&f.marks, m, maxMarks, func(m mark) uint64 { return m.rank<<2 | uint64(m.kind) })
	}
	return truncated
}

// points returns the times of the marks of a kind.
func (f *fabric) points(kind markKind) (at []int64) {
	for _, m := range f.marks {
		if m.kind == kind {
			at = append(at, m.at)
		}
	}
	return at
}

// stretches returns the spans of a state, ascending. One that never ended ends at end, and open
// is true.
func (f *fabric) stretches(kind markKind, end int64) (spans []detect.Span, open bool) {
	from := int64(0)
	for _, m := range f.marks {
		switch {
		case m.kind != kind:
		case m.on && !open:
			open, from = true, m.at
		case !m.on && open:
			open = false
			spans = append(spans, detect.Span{FromMs: from, ToMs: m.at})
		case !m.on && m.from != 0 && m.from < m.at: // its beginning was not reported
			spans = append(spans, detect.Span{FromMs: m.from, ToMs: m.at})
		}
	}
	if open {
		spans = append(spans, detect.Span{FromMs: from, ToMs: max(from, end)})
	}
	return detect.Merge(spans), open
}
