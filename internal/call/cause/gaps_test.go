package cause_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// gapped adds gaps to the received sound of some ways, as "ab": of two fifths of the time.
func gapped(call cause.Call, ways ...string) cause.Call {
	for i := range call.People {
		p := &call.People[i]
		for j := range p.Fabrics {
			f := &p.Fabrics[j]
			for k := range f.Streams {
				s := &f.Streams[k]
				from := f.Remote[0]
				if f.Server {
					from = s.User
				}
				if !s.Sends && strings.Contains(" "+strings.Join(ways, " ")+" ", " "+from+p.Session+" ") {
					s.GapMs = 0.4 * minute
				}
			}
		}
	}
	return call
}

// TestGapsAreLoss: sound that was sent and is missing is lost, although no packet counts as such, and pictures, which are lost
// with it, do not tell. Behind a server it is only if one receiver misses all senders.
//
// spec: CONF-03
func TestGapsAreLoss(t *testing.T) {
	f := func(call cause.Call, want cause.Cause, session, peer string, ways ...string) {
		t.Helper()
		got := cause.Find(gapped(call, ways...)).Call
		require.Equal(t, []any{want, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%+v", got)
		for _, e := range got.Evidence {
			require.NotEqual(t, "lossFraction", e.Metric)
		}
	}
	f(mesh("ab"), cause.PathOrTURN, "a", "b", "ab")
	f(mesh("abc"), cause.SenderUplink, "a", "", "ab", "ac")
	f(mesh("abc"), cause.ReceiverDownlink, "b", "", "ab", "cb")
	f(mesh("abc"), cause.PathOrTURN, "a", "b", "ab")

	f(behind("abc"), cause.ReceiverDownlink, "b", "", "ab", "cb")
	f(behind("abc"), cause.None, "", "")
	f(behind("abc"), cause.None, "", "", "ab", "ac") // it may forward only whom one hears
	f(behind("abc"), cause.None, "", "", "ab", "ac", "ba", "bc", "ca", "cb")
	f(behind("ab"), cause.None, "", "", "ab")

	pictures := mesh("ab")
	stream(pictures.People, "a", "b", 9, func(out, in *cause.Stream) { out.Media, in.Media = "video", "video" })
	f(pictures, cause.PathOrTURN, "a", "b", "ab")
}

// TestUnknownRatherThanNone: media that were harmed for more than a little of the time, and for too little of it to be
// located, have no cause, and not none.
//
// spec: CONF-03
func TestUnknownRatherThanNone(t *testing.T) {
	f := func(want cause.Cause, harm func(out, in *cause.Stream)) {
		t.Helper()
		var call cause.Call
		for _, user := range []string{"a", "b"} {
			call.People = append(call.People, cause.Person{Session: user, Users: []string{user}})
		}
		stream(call.People, "a", "b", 1, harm)
		stream(call.People, "b", "a", 2, nil)
		require.Equal(t, want, cause.Find(call).Call.Cause)
		call.Good = true
		require.Equal(t, cause.None, cause.Find(call).Call.Cause)
	}
	f(cause.None, func(_, in *cause.Stream) { in.LostMs = 0.1 * minute })
	f(cause.Unknown, func(_, in *cause.Stream) { in.LostMs, in.Loss = 0.2*minute, event.Known(0.02) })
	f(cause.None, func(_, in *cause.Stream) { in.LostMs, in.Loss = 0.2*minute, event.Known(0.01) }) // single packets of few
	f(cause.Unknown, func(_, in *cause.Stream) { in.GapMs = 0.2 * minute })
	f(cause.Unknown, func(out, _ *cause.Stream) { out.LimitedMs = 0.2 * minute })
	f(cause.None, func(_, in *cause.Stream) { in.JitteryMs = 0.2 * minute }) // busy machines have jitter too
}

// TestUnknownRatherThanNoneOfSenders: who did not send for more than a little of the time harmed those who listened. A sender of
// few frames may show slides.
//
// spec: CONF-03
func TestUnknownRatherThanNoneOfSenders(t *testing.T) {
	f := func(want cause.Cause, media string, change func(out, in *cause.Stream)) {
		t.Helper()
		call := mesh("ab")
		stream(call.People, "a", "b", 9, func(out, in *cause.Stream) {
			out.Media, in.Media = media, media
			change(out, in)
		})
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(cause.Unknown, "audio", func(out, _ *cause.Stream) { out.NoneMs = 0.2 * minute })
	f(cause.Unknown, "audio", func(out, _ *cause.Stream) { out.WeakMs = 0.2 * minute })
	f(cause.Unknown, "video", func(out, _ *cause.Stream) { out.FrozenMs = 0.2 * minute })
	f(cause.None, "video", func(out, _ *cause.Stream) { out.WeakMs = 0.2 * minute })
	f(cause.None, "audio", func(out, _ *cause.Stream) { out.NoneMs = 0.1 * minute })
}

// TestUnknownRatherThanNoneOfConcealment: sound of which parts were heard as missing for six seconds and an eighth of the time.
//
// spec: CONF-03
func TestUnknownRatherThanNoneOfConcealment(t *testing.T) {
	f := func(want cause.Cause, concealedMs float64) {
		t.Helper()
		call := mesh("ab")
		stream(call.People, "a", "b", 9, func(_, in *cause.Stream) { in.ConcealedMs = concealedMs })
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(cause.Unknown, 0.15*minute)
	f(cause.None, 0.1*minute)
}
