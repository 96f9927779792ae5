package detect

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// Facts is the Word of a fabric's Timeline: the union of the facts of all its streams. Each
// measurement of a frame adds its own.
type Facts = Word

// The facts. Wi-Fi has three bits, as a class has.
const (
	GotAudio     Facts = 1 << iota // audio packets were received
	NoAudio                        // an incoming stream of audio received no packet
	GotVideo                       // as GotAudio
	NoVideo                        // as NoAudio
	SentAudio                      // audio packets were sent, and the remote end reports on them
	UnheardAudio                   // audio packets were sent, and the remote end does not report on them
	IdleAudio                      // an outgoing stream of audio sent nothing
	SentVideo                      // as SentAudio
	UnheardVideo                   // as UnheardAudio
	IdleVideo                      // as IdleAudio
	UnfedVideo                     // IdleVideo of an encoder with a target bit rate: it has no pictures as input
	wifi                           // the lowest of three bits

	SlowAudio   Facts = wifi << classBits // audio was sent in fewer packets than without pauses (discontinuous transmission)
	SparseAudio       = SlowAudio << 1    // audio was sent in so few packets that they are comfort noise
	Carried           = SparseAudio << 1  // bytes were received over the candidate pair
)

const (
	minPerSecond    = 30 // packets of audio without pauses, 33 ms each at most
	sparsePerSecond = 5
)

const (
	gotAny  = GotAudio | GotVideo
	sentAny = SentAudio | UnheardAudio | SentVideo | UnheardVideo
	wifiAll = wifi<<classBits - wifi
)

// FactsOf returns the facts that one measurement adds to its fabric.
func FactsOf(m *event.Measurement) Facts {
	switch {
	case m.Pair() && m.Get(protocol.BytesReceived) > 0:
		return Carried
	case m.Pair() || !m.Known(protocol.Packets):
		return 0
	}
	pick := func(audio, video Facts) Facts {
		if m.Video() {
			return video
		}
		return audio
	}
	moving := m.Get(protocol.Packets) > 0
	heard := m.Known(protocol.RTTMs) || m.Known(protocol.RemotePacketsLost) || m.Known(protocol.RemoteLossFraction) || m.Known(protocol.RemoteJitterMs)
	switch {
	case !m.Outbound() && moving:
		return pick(GotAudio, GotVideo)
	case !m.Outbound():
		return pick(NoAudio, NoVideo)
	case !moving && m.Get(protocol.TargetBitrateBps) > 0 && !m.Screen:
		return pick(IdleAudio, IdleVideo|UnfedVideo)
	case !moving:
		return pick(IdleAudio, IdleVideo)
	case heard:
		return pick(SentAudio|pace(m), SentVideo)
	}
	return pick(UnheardAudio|pace(m), UnheardVideo)
}

// pace classifies the packets per second of sent audio. In an interval of unknown length the audio
// counts as sent without pauses.
func pace(m *event.Measurement) Facts {
	switch perSecond := m.Get(protocol.Packets) * 1000; {
	case perSecond < sparsePerSecond*m.IntervalMs:
		return SlowAudio | SparseAudio
	case perSecond < minPerSecond*m.IntervalMs:
		return SlowAudio
	}
	return 0
}

// Missing reports whether some media was not received, not sent, or has no report of the
// remote end.
func (f Facts) Missing() bool {
	return f&(NoAudio|NoVideo|UnheardAudio|UnheardVideo|IdleAudio|UnfedVideo) != 0
}

// BothWays reports whether media was received, and the remote end reports on sent media.
func (f Facts) BothWays() bool { return f&gotAny != 0 && f&(SentAudio|SentVideo) != 0 }

// WiFiFacts returns the facts of a signal strength in dBm.
func (r *Rules) WiFiFacts(dBm float64) Facts {
	return wifiFacts(r.WeakWiFi.class(dBm, true))
}

func wifiFacts(c Class) Facts { return (1<<c - 1) * wifi }

// WiFi classifies a fabric's Wi-Fi signal.
func WiFi(f Facts) Class {
	switch f & wifiAll {
	case wifiFacts(Breach):
		return Breach
	case wifiFacts(Between):
		return Between
	case wifiFacts(Clear):
		return Clear
	}
	return Unknown
}

// Nothing returns Breach where streams exist and none carries a packet.
func Nothing(f Facts) Class {
	f &^= wifiAll
	switch {
	case f&(gotAny|sentAny) != 0:
		return Clear
	case f != 0:
		return Breach
	}
	return Unknown
}

// Unsent classifies outgoing audio, or video: Breach where a stream sends nothing while other media
// flows. A media server without a subscriber for a video sets its target bit rate to 0; so a video is
// a Breach only where its encoder has a target bit rate.
func Unsent(video bool) func(Facts) Class {
	sent, idle := SentAudio|UnheardAudio, IdleAudio
	if video {
		sent, idle = SentVideo|UnheardVideo, UnfedVideo
	}
	return func(f Facts) Class {
		switch {
		case f&sent != 0:
			return Clear
		case f&idle != 0 && f&(gotAny|sentAny) != 0:
			return Breach
		}
		return Unknown
	}
}

// Unreceived classifies incoming audio, or video: Breach where its streams receive no packet while
// other media flows.
func Unreceived(video bool) func(Facts) Class {
	got, none := GotAudio, NoAudio
	if video {
		got, none = GotVideo, NoVideo
	}
	return func(f Facts) Class {
		switch {
		case f&got != 0:
			return Clear
		case f&none != 0 && f&(gotAny|sentAny) != 0:
			return Breach
		}
		return Unknown
	}
}

// Unheard classifies outgoing audio, or video: Breach where it is sent and the remote end never reports on it.
func Unheard(video bool) func(Facts) Class {
	sent, unheard := SentAudio, UnheardAudio
	if video {
		sent, unheard = SentVideo, UnheardVideo
	}
	return func(f Facts) Class {
		switch {
		case f&sent != 0:
			return Clear
		case f&unheard != 0:
			return Breach
		}
		return Unknown
	}
}

// AnyFrom returns all facts that were true at some time after ms.
func (t *Timeline) AnyFrom(ms int64) (all Word) {
	t.Each(func(_, to int64, word Word) {
		if to > ms {
			all |= word
		}
	})
	return all
}

// Any returns all facts that were true at some time.
func (t *Timeline) Any() (all Word) {
	for _, r := range t.runs {
		all |= r.word
	}
	return all
}
