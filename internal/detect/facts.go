package detect

import (
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/protocol"
)

// Facts are what the streams of a fabric say together, as the Word of a Timeline. Each row
// of a frame adds its own.
type Facts = Word

// The facts. Wi-Fi takes three, like a class.
const (
	GotAudio     Facts = 1 << iota // audio packets came
	NoAudio                        // a stream of audio was there and no packet came
	GotVideo                       // video packets came
	NoVideo                        // a stream of video was there and no packet came
	SentAudio                      // audio packets were sent, and the remote end reports on them
	UnheardAudio                   // audio packets were sent, and nothing is heard of them
	IdleAudio                      // an outgoing stream of audio sent nothing
	SentVideo                      // as SentAudio
	UnheardVideo                   // as UnheardAudio
	IdleVideo                      // as IdleAudio
	UnfedVideo                     // IdleVideo, of an encoder that has a bit rate to send with: it is given no pictures
	wifi                           // three bits, the highest taken

	SlowAudio   Facts = wifi << classBits // audio was sent in fewer packets than without pauses (discontinuous transmission)
	SparseAudio       = SlowAudio << 1    // audio was sent in so few packets that they are comfort noise
	Carried           = SparseAudio << 1  // media or reports came over the candidate pair
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

// FactsOf says what a measurement says of its fabric.
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

// pace classifies the packets a second of sent audio. Audio in an interval of unknown length is sent
// without pauses.
func pace(m *event.Measurement) Facts {
	switch perSecond := m.Get(protocol.Packets) * 1000; {
	case perSecond < sparsePerSecond*m.IntervalMs:
		return SlowAudio | SparseAudio
	case perSecond < minPerSecond*m.IntervalMs:
		return SlowAudio
	}
	return 0
}

// Missing reports whether media may be missing by what one measurement says: it did not
// come, was not sent, or is not heard of.
func (f Facts) Missing() bool {
	return f&(NoAudio|NoVideo|UnheardAudio|UnheardVideo|IdleAudio|UnfedVideo) != 0
}

// BothWays reports whether media came, and the remote end reports that others arrived there.
func (f Facts) BothWays() bool { return f&gotAny != 0 && f&(SentAudio|SentVideo) != 0 }

// WiFiFacts says what a signal strength in dBm means.
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

// Nothing is bad where there are streams and none carries a packet.
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

// Unsent is bad where audio, or video, that was sent before is not: there is a stream, and it
// sends nothing. Video may be switched off by a server that nobody asks for it, which takes
// the encoder's bit rate away; it is bad where the encoder has one.
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

// Unreceived is bad where there are incoming streams of audio, or of video, without a
// packet, and something else goes through.
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

// Unheard is bad where audio, or video, is sent and the remote end never says that it came.
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

// AnyFrom returns all facts that were true at some time from then on.
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
