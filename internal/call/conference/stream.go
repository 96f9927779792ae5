package conference

import (
	"cmp"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// Shorter names of the types of statistics and of media.
const (
	inboundRTP    = protocol.InboundRTP
	outboundRTP   = protocol.OutboundRTP
	candidatePair = protocol.CandidatePair
	audio         = protocol.Audio
	video         = protocol.Video
)

// maxDurationMs bounds the interval of a measurement: a day.
const maxDurationMs = 86_400_000

// streamKey identifies a stream of a fabric.
type streamKey struct {
	statsType, mediaType string
	ssrc                 int64
}

// keyOf returns the key of a measurement's stream; false if the type is unknown. Its strings are
// constants, so that it keeps no buffer of the measurement in memory.
func keyOf(m *event.Measurement) (k streamKey, ok bool) {
	types, media := [...]string{inboundRTP, outboundRTP, candidatePair}, [...]string{"", audio, video}
	i, j := slices.Index(types[:], m.StatsType), slices.Index(media[:], m.MediaType)
	if i < 0 || j < 0 {
		return k, false
	}
	return streamKey{types[i], media[j], m.SSRC}, true
}

func (k streamKey) compare(o streamKey) int {
	return cmp.Or(cmp.Compare(k.statsType, o.statsType), cmp.Compare(k.mediaType, o.mediaType), cmp.Compare(k.ssrc, o.ssrc))
}

// stream sums up the measurements of one stream. Every field is a sum, an extreme, or the value
// of the highest rank, so add is commutative.
type stream struct {
	codec    newest[string]
	interval sum
	count    int

	bytes, packets, lost, discarded, retransmitted sum
	samples, concealed                             sum // concealed: audible only
	freezes, freezeMs                              sum
	lossKnown                                      bool

	bitrate, jitter, rtt, fps dist
	scored                    scored          // without undecided intervals and those that assume a quantiser
	pictures                  *pictures       // of video; nil: none
	undecided                 []undecided     // the earliest, ascending by rank
	missing                   detect.Timeline // of received media: no packet arrived
	detectors                 detectorState
	causeFacts                detect.Timeline

	// Set by scoreStreams for the summary that follows.
	result   *scored
	sentTo   []detect.Span // times in which the sender sent; nil: unknown, or no packet was missing
	unbroken []detect.Span // times in which the sender of received audio sent without pauses
	stillMs  int64         // time in which a received picture did not have to change
}

// labelNames are the labels of scores, best first.
var labelNames = [...]string{quality.Excellent, quality.Good, quality.Fair, quality.Poor, quality.Bad}

// badLabel is the index of the last label.
const badLabel = len(labelNames) - 1

// sum adds whole multiples of 1/scale, exactly up to 2^53/scale.
type sum float64

func (s *sum) add(v float64) {
	if v >= -maxValue && v <= maxValue { // false for NaN and infinities
		*s += sum(scaled(v))
	}
}

func (s sum) value() float64 { return unscaled(float64(s)) }
func (s sum) whole() int64   { return int64(math.Round(min(max(s.value(), -1<<62), 1<<62))) }

// newest keeps the value with the highest rank.
type newest[T any] struct {
	rank  uint64
	value T
}

func (n *newest[T]) put(rank uint64, v T) {
	if rank > n.rank {
		*n = newest[T]{rank, v}
	}
}

func (n *newest[T]) merge(o newest[T]) { n.put(o.rank, o.value) }

func (s *stream) add(e *event.Event) {
	m := e.Measured
	ms := int64(math.Round(min(max(m.IntervalMs, 1), maxDurationMs)))
	s.count++
	s.interval.add(float64(ms))
	if m.Codec != "" {
		codec := s.codec.value
		if codec != m.Codec {
			codec = event.Clip(m.Codec, event.MaxText)
		}
		s.codec.put(e.Rank(), codec)
	}
	s.bytes.add(m.Get(protocol.Bytes))
	s.packets.add(m.Get(protocol.Packets))
	s.discarded.add(m.Get(protocol.PacketsDiscarded))
	s.retransmitted.add(m.Get(protocol.RetransmittedPackets))
	s.samples.add(m.Get(protocol.Samples))
	s.concealed.add(m.AudiblyConcealed().V)
	s.freezes.add(m.Get(protocol.Freezes))
	s.freezeMs.add(m.Get(protocol.FreezeMs))
	s.addLoss(m)
	// Packets without bytes: the browser did not count bytes, and the bit rate is unknown, not 0.
	if !m.Pair() && (m.Get(protocol.Bytes) > 0 || m.Get(protocol.Packets) == 0) {
		s.bitrate.add(m.Get(protocol.Bytes)*8/float64(ms), ms) // bit/ms is kbit/s
	}
	s.addLevels(m, ms)
	s.addScore(e, ms)
}

func (s *stream) addLevels(m *event.Measurement, ms int64) {
	for _, level := range []struct {
		into *dist
		v    event.Value
	}{{&s.jitter, m.ReceiverJitterMs()}, {&s.rtt, m.Value(protocol.RTTMs)}, {&s.fps, m.Value(protocol.FPS)}} {
		if level.v.Known {
			level.into.add(level.v.V, ms)
		}
	}
}

// addLoss adds the packets lost on the path to this end, or those that the remote end reports.
func (s *stream) addLoss(m *event.Measurement) {
	if lost := m.Loss().Lost; lost.Known {
		s.lost.add(lost.V)
		s.lossKnown = true
	}
}

func (s *stream) merge(o *stream) {
	s.codec.merge(o.codec)
	s.count += o.count
	for _, pair := range [...][2]*sum{
		{&s.interval, &o.interval},
		{&s.bytes, &o.bytes},
		{&s.packets, &o.packets},
		{&s.lost, &o.lost},
		{&s.discarded, &o.discarded},
		{&s.retransmitted, &o.retransmitted},
		{&s.samples, &o.samples},
		{&s.concealed, &o.concealed},
		{&s.freezes, &o.freezes},
		{&s.freezeMs, &o.freezeMs},
	} {
		*pair[0] += *pair[1]
	}
	s.lossKnown = s.lossKnown || o.lossKnown
	s.bitrate.merge(&o.bitrate)
	s.jitter.merge(&o.jitter)
	s.rtt.merge(&o.rtt)
	s.fps.merge(&o.fps)
	s.scored.merge(&o.scored)
	if o.pictures != nil {
		s.ofPictures().merge(o.pictures)
	}
	for _, one := range o.undecided {
		s.addUndecided(one)
	}
	s.missing.Merge(&o.missing)
	s.detectors.merge(&o.detectors)
	s.causeFacts.Merge(&o.causeFacts)
}

// lossFraction returns the lost packets over the expected ones, 0 to 1; nil if unknown.
func (s *stream) lossFraction(statsType string) *float64 {
	loss := event.LossOf(statsType, event.Value{V: s.lost.value(), Known: s.lossKnown}, s.packets.value())
	return share(loss.Fraction.V, 1, loss.Fraction.Known)
}

func share(part, whole float64, known bool) *float64 {
	if !known || whole <= 0 {
		return nil
	}
	v := round4(min(1, part/whole))
	return &v
}

// labelledMs returns the time with a label, ms.
func (d *scored) labelledMs() (total float64) {
	for _, ms := range d.labels {
		total += ms
	}
	return total
}

func (s *stream) summary(key streamKey) Stream {
	out := Stream{
		SSRC: key.ssrc, StatsType: key.statsType, MediaType: key.mediaType, Codec: s.codec.value,
		Intervals: s.count, DurationMs: s.interval.whole(),
		Bytes: s.bytes.whole(), Packets: s.packets.whole(), PacketsLost: s.lost.whole(),
		LossFraction: s.lossFraction(key.statsType),
		Discarded:    s.discarded.whole(), Retransmitted: s.retransmitted.whole(),
		BitrateKbps: s.bitrate.summary(), JitterMs: s.jitter.summary(), RTTMs: s.rtt.summary(),
		FPS: s.fps.summary(), MOS: s.result.mos.summary(),
		Freezes: s.freezes.whole(), FreezeMs: round4(s.freezeMs.value()),
		ConcealedShare: share(s.concealed.value(), s.samples.value(), true),
		QualityShare:   map[string]float64{},
	}
	out.Labels, out.LabelChanges = s.labelSpans()
	total := s.result.labelledMs()
	for i, ms := range s.result.labels {
		if ms > 0 {
			out.QualityShare[labelNames[i]] = round4(ms / total)
		}
	}
	return out
}
