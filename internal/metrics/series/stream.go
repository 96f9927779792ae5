package series

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// streamKind is the medium and direction of a stream, as an index.
type streamKind int

// kindOf returns the kind of a stream, false if the measurement is not of a stream.
func kindOf(m *event.Measurement) (kind streamKind, ok bool) {
	if !m.Audio() && !m.Video() || !m.Inbound() && !m.Outbound() {
		return 0, false
	}
	if m.Video() {
		kind |= 2
	}
	if m.Outbound() {
		kind |= 1
	}
	return kind, true
}

func (k streamKind) media() string     { return [...]string{protocol.Audio, protocol.Video}[k>>1] }
func (k streamKind) direction() string { return [...]string{"inbound", "outbound"}[k&1] }

// stats counts a measurement. Loss and jitter of an outbound stream are those of the remote
// end's report.
func (b *batch) stats(record plog.LogRecord) {
	b.app() // sets source.overApp
	b.measurement()
	var m event.Measurement
	b.read.Read(&m, record.Attributes(), "")
	for _, measure := range m.OutOfRange.Names() {
		b.increment(famOutOfRange, values{b.app(), measure}, 1)
	}
	kind, ok := kindOf(&m)
	if !ok {
		return
	}
	b.levels(b.stream(kind, record.SpanID()), &m)
	if quality := slices.Index(qualities, m.Score.Label); quality >= 0 && m.IntervalMs > 0 {
		b.add(b.seconds(kind, quality), famStreamSeconds, 0, m.IntervalMs/1000)
	}
}

func (b *batch) levels(e *entry, m *event.Measurement) {
	e = e.lock()
	defer e.mu.Unlock()
	b.level(e, streamMOS, m.Score.MOS, 1)
	b.level(e, streamLoss, m.Loss().Fraction, 1)
	b.level(e, streamJitter, m.ReceiverJitterMs(), 1000)
	b.level(e, streamRTT, m.Value(protocol.RTTMs), 1000)
}

func (b *batch) level(e *entry, offset int, v event.Value, unit float64) {
	if v.Known {
		b.putLocked(e, famStreams, offset, v.V/unit)
	}
}

func (b *batch) stream(kind streamKind, span [8]byte) *entry {
	s := &b.scope
	if s.streams == nil || s.span != span {
		s.span, s.relay = span, b.set.relays.get(span)
		s.streams = b.source.streams(s.scopeKey)
	}
	e := &s.streams.byKind[kind]
	if *e == nil {
		v := values{b.app(), b.source.site, kind.media(), kind.direction(), s.usage, s.endpointType, s.relay}
		v[conferenceLabel] = s.conference
		*e = b.entry(famStreams, v)
	}
	return *e
}

func (b *batch) seconds(kind streamKind, quality int) *entry {
	e := &b.source.seconds[kind][quality]
	if *e == nil {
		*e = b.entry(famStreamSeconds, values{b.app(), b.source.site, kind.media(), kind.direction(), qualities[quality]})
	}
	return *e
}

// event counts an event of a fabric.
func (b *batch) event(e *event.Event, span [8]byte) Reason {
	data := e.Data
	if data == nil {
		data = &event.Data{}
	}
	s := b.source
	switch e.Name {
	case "":
		return ReasonAttribute
	case "fabricSetup":
		relay := b.path(data, span)
		if data.SetupMs.Known {
			b.put(b.entry(famSetup, values{b.app(), s.site, b.browser(), b.scope.endpointType, relay}), famSetup, 0, data.SetupMs.V/1000)
		} else if !data.AlreadyConnected {
			return ReasonAttribute
		}
	case "selectedCandidatePairChange":
		b.path(data, span)
	case "fabricSetupFailed": // an unknown stage counts as other
		b.increment(famSetupFailed, values{b.app(), s.site, b.browser(), b.scope.endpointType, intern(stages, data.Stage)}, 1)
	case "iceDisruptionStart":
		b.increment(famDisruptions, values{b.app(), s.site, b.browser(), b.scope.endpointType}, 1)
	}
	return noReason
}

// path stores the relay of a fabric for its later measurements, and returns it.
func (b *batch) path(data *event.Data, span [8]byte) (relay string) {
	relay = relayOf(data)
	b.set.relays.set(span, relay)
	b.scope.streams = nil // their label relay has changed
	return relay
}
