package event

import (
	"iter"
	"math"
	"math/bits"

	"github.com/qosrtc/qos/protocol"
)

// Measurement holds the measures of one stream or candidate pair over one interval.
type Measurement struct {
	StatsType  string // protocol.InboundRTP, OutboundRTP or CandidatePair
	MediaType  string // protocol.Audio or Video; empty for a candidate pair
	Screen     bool   // a shared screen, whose frame rate may be low
	Unheard    bool   // its candidate pair received no byte: the values of the remote end are old
	LowerLayer bool   // a larger layer of the same picture was sent too
	SSRC       int64
	Codec      string  // MIME subtype
	RID        string  // of a simulcast layer
	Limitation string  // qualityLimitationReason: none, cpu, bandwidth, other
	Content    string  // contentType: screenshare; empty: unknown, or a camera
	IntervalMs float64 // 0: unknown
	Score      Score

	// OutOfRange names what DropOutOfRange dropped.
	OutOfRange OutOfRange

	known  uint64 // a bit for each measure
	values [protocol.NumMeasures]float64
}

// Score is the quality score of an interval.
type Score struct {
	MOS        Value // 1 to 5
	Label      string
	Reason     string // why there is no MOS
	Model      string // with its version
	Confidence string
	Assumed    string // inputs that were not measured, separated by commas
}

// minValue is the least magnitude that does not count as 0, so that no quotient of two values overflows.
const minValue = 1e-9

// Set makes a measure known. A number that is not finite makes it unknown.
func (m *Measurement) Set(k protocol.Measure, v float64) {
	switch {
	case v-v != 0: // infinity or NaN
		m.Clear(k)
		return
	case math.Abs(v) < minValue:
		v = 0
	}
	m.known |= 1 << k
	m.values[k] = v
}

// Put sets a measure, or clears it where v is unknown.
func (m *Measurement) Put(k protocol.Measure, v Value) {
	if v.Known {
		m.Set(k, v.V)
	} else {
		m.Clear(k)
	}
}

// Clear makes a measure unknown.
func (m *Measurement) Clear(k protocol.Measure) {
	m.known &^= 1 << k
	m.values[k] = 0
}

// Known reports whether a measure is known.
func (m *Measurement) Known(k protocol.Measure) bool { return m.known&(1<<k) != 0 }

// Get returns a measure, 0 where it is unknown.
func (m *Measurement) Get(k protocol.Measure) float64 { return m.values[k] }

// Value returns a measure.
func (m *Measurement) Value(k protocol.Measure) Value { return Value{m.values[k], m.Known(k)} }

// All yields the measures that are known, in order.
func (m *Measurement) All() iter.Seq2[protocol.Measure, float64] {
	return func(yield func(protocol.Measure, float64) bool) {
		for left := m.known; left != 0; left &= left - 1 {
			k := protocol.Measure(bits.TrailingZeros64(left))
			if !yield(k, m.values[k]) {
				return
			}
		}
	}
}

// Inbound reports whether this is a received stream.
func (m *Measurement) Inbound() bool { return m.StatsType == protocol.InboundRTP }

// Outbound reports whether this is a sent stream.
func (m *Measurement) Outbound() bool { return m.StatsType == protocol.OutboundRTP }

// Pair reports whether this is a candidate pair.
func (m *Measurement) Pair() bool { return m.StatsType == protocol.CandidatePair }

// Audio reports whether this is a stream of audio.
func (m *Measurement) Audio() bool { return m.MediaType == protocol.Audio }

// Video reports whether this is a stream of video.
func (m *Measurement) Video() bool { return m.MediaType == protocol.Video }

// Layer reports whether this is one of several layers of a picture.
func (m *Measurement) Layer() bool { return m.RID != "" }

// ReceiverJitterMs returns the jitter at the receiving end.
func (m *Measurement) ReceiverJitterMs() Value {
	if m.Outbound() {
		return m.Value(protocol.RemoteJitterMs)
	}
	return m.Value(protocol.JitterMs)
}

// NetworkBufferMs returns the mean time in the jitter buffer without ExternalDelayMs.
func (m *Measurement) NetworkBufferMs() Value {
	return Value{max(0, m.Get(protocol.JitterBufferDelayMs)-m.Get(protocol.ExternalDelayMs)), m.Known(protocol.JitterBufferDelayMs)}
}

// AudiblyConcealed returns the concealed samples that were not silent.
func (m *Measurement) AudiblyConcealed() Value {
	return Value{max(0, m.Get(protocol.ConcealedSamples)-m.Get(protocol.SilentConcealedSamples)), m.Known(protocol.ConcealedSamples)}
}

// The thresholds of Undecoded.
const (
	undecodedPackets = 20
	undecodedLoss    = 0.01 // a higher loss may be the reason
	undecodedShare   = 0.95 // share of concealed samples
	undecodedPerSec  = 25   // packets of audio: half the rate without pauses
)

// Undecoded reports whether media arrived and no frame could be decoded, as if the page had no key for them: frames that an
// encoded transform (W3C webrtc-encoded-transform) drops count as received.
func (m *Measurement) Undecoded() bool {
	if !m.Inbound() || m.Get(protocol.Packets) < undecodedPackets || m.IsPadding() {
		return false
	}
	nothing := m.isUnheard()
	if m.Video() {
		nothing = m.Value(protocol.FramesDecoded).Is(0)
	}
	return nothing && m.Loss().Fraction.V <= undecodedLoss
}

// isUnheard reports whether audio arrived without pauses and in time, and nearly all samples were concealed.
func (m *Measurement) isUnheard() bool {
	samples, packets := m.Get(protocol.Samples), m.Get(protocol.Packets)
	return samples > 0 && m.Get(protocol.ConcealedSamples) >= undecodedShare*samples && packets*1000 >= undecodedPerSec*m.IntervalMs &&
		m.Get(protocol.PacketsDiscarded) <= undecodedLoss*packets
}

// IsPadding reports whether packets were sent or received without payload, as for a server's probing.
func (m *Measurement) IsPadding() bool {
	return m.Get(protocol.Packets) > 0 && m.Value(protocol.Bytes).Is(0)
}

// StillMs returns the time in which the picture was frozen. A pause is also a freeze, so it is the
// longer of the two.
func (m *Measurement) StillMs() Value {
	return Value{max(m.Get(protocol.FreezeMs), m.Get(protocol.PauseMs)), m.Known(protocol.FreezeMs) || m.Known(protocol.PauseMs)}
}
