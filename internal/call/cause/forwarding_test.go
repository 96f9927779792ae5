package cause_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// served is a call behind a server, and what people send to it, or receive from it, in pictures too.
func served(users, pictures string) cause.Call {
	call := behind(users)
	for i := range call.People {
		f := &call.People[i].Fabrics[0]
		for _, s := range f.Streams {
			sender := s.User
			if s.Sends {
				sender = call.People[i].Session
			}
			if strings.Contains(pictures, sender) {
				s.SSRC, s.Media = s.SSRC+1000, "video"
				f.Streams = append(f.Streams, s)
			}
		}
	}
	return call
}

// alter changes the streams from one end to another, as "a>" to the server and "a<b" from it to a, of a medium, or of both.
func alter(call cause.Call, where, media string, do func(*cause.Stream)) {
	for i := range call.People {
		for k := range call.People[i].Fabrics[0].Streams {
			s := &call.People[i].Fabrics[0].Streams[k]
			at := call.People[i].Session + "<" + s.User
			if s.Sends {
				at = call.People[i].Session + ">"
			}
			if at == where && (media == "" || media == s.Media) {
				do(s)
			}
		}
	}
}

func lost(s *cause.Stream)    { s.LostMs, s.Loss = 0.8*minute, event.Known(0.12) }
func starved(s *cause.Stream) { s.LimitedMs = minute / 2 }
func gone(s *cause.Stream)    { s.NoneMs, s.QuietMs = 0.4*minute, 0.4*minute }

// TestServerNeedsParticipants: with one participant behind a server the fault is between the two. Other participants show
// whose it is: that of an access if their paths are good in the same direction, that of the server if they are bad.
//
// spec: CONF-06
func TestServerNeedsParticipants(t *testing.T) {
	f := func(want cause.Cause, session string, atServer bool, call cause.Call, harm func(*cause.Stream), where ...string) cause.Finding {
		t.Helper()
		for _, at := range where {
			alter(call, at, "", harm)
		}
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session, "", atServer}, []any{got.Cause, got.Session, got.Peer, got.Server}, "%v %+v", where, got)
		return got
	}
	watching := func() cause.Call { return without(served("ab", "b"), "b") } // a receives b, who has no library
	f(cause.PathOrTURN, "a", true, served("a", "a"), starved, "a>")
	f(cause.PathOrTURN, "a", true, watching(), lost, "a<b")
	f(cause.PathOrTURN, "a", true, watching(), lost, "a>", "a<b")
	got := f(cause.PathOrTURN, "a", true, behind("a"), lost, "a>")
	require.InDelta(t, 0.6, got.Confidence, 1e-9, "one end measured it")
	require.ElementsMatch(t, []cause.Other{
		{Cause: cause.MediaServer, Confidence: 0.4}, {Cause: cause.SenderUplink, Session: "a", Confidence: 0.4},
	}, got.Others)
	slow := behind("a")
	slow.People[0].Fabrics[0].SlowMs, slow.People[0].Fabrics[0].RTTSeenMs, slow.People[0].Fabrics[0].RTTMs = minute, minute, event.Known(500)
	f(cause.PathOrTURN, "a", true, slow, lost)

	weak := behind("a")
	weak.People[0].WeakWiFi = 0.8
	f(cause.SenderUplink, "a", false, weak, lost, "a>")

	f(cause.SenderUplink, "b", false, behind("ab"), lost, "b>")
	f(cause.ReceiverDownlink, "c", false, behind("abc"), lost, "c<a", "c<b")
	f(cause.ReceiverDownlink, "d", false, served("abcd", "bd"), lost, "d<a", "d<b", "d<c")
	f(cause.MediaServer, "", false, behind("abc"), lost, "a<b", "a<c", "b<a", "b<c", "c<a", "c<b")
	f(cause.MediaServer, "", false, served("abcd", "abcd"), starved, "a>", "b>", "c>", "d>")

	one := behind("ab") // b receives nothing: no other path from the server is known
	one.People[1].Fabrics[0].Streams = one.People[1].Fabrics[0].Streams[1:]
	f(cause.PathOrTURN, "a", true, one, lost, "a<b")

	little := behind("abc") // the server's other paths have a little loss, neither good nor bad
	for _, at := range []string{"a<b", "a<c", "b<a", "b<c"} {
		alter(little, at, "", func(s *cause.Stream) { s.LostMs, s.Loss = 0.2*minute, event.Known(0.02) })
	}
	f(cause.ReceiverDownlink, "c", false, little, lost, "c<a", "c<b")

	lecture := behind("abc") // a speaks, and nobody else
	for i := range lecture.People {
		lecture.People[i].Fabrics[0].Streams = keep(lecture.People[i].Fabrics[0].Streams, func(s *cause.Stream) bool {
			return s.User == "a" || s.Sends && lecture.People[i].Session == "a"
		})
	}
	f(cause.PathOrTURN, "a", true, lecture, lost, "a>", "b<a", "c<a")
}

func keep(streams []cause.Stream, is func(*cause.Stream) bool) (kept []cause.Stream) {
	for i := range streams {
		if is(&streams[i]) {
			kept = append(kept, streams[i])
		}
	}
	return kept
}

// TestLostBeforeTheServer: a server passes on the gaps of what it receives. The receivers are not at fault, whether the sender has the
// library or not.
//
// spec: CONF-06
func TestLostBeforeTheServer(t *testing.T) {
	f := func(want cause.Cause, session string, call cause.Call, where ...string) {
		t.Helper()
		for _, at := range where {
			alter(call, at, "", lost)
		}
		for i := range call.People {
			call.People[i].Bad = true
		}
		got := cause.Find(call)
		require.Equal(t, []any{want, session}, []any{got.Call.Cause, got.Call.Session}, "%v %+v", where, got.Call)
		for _, o := range got.Call.Others {
			require.NotEqual(t, cause.ReceiverDownlink, o.Cause, "%v", where)
		}
	}
	f(cause.SenderUplink, "a", behind("abc"), "a>", "b<a", "c<a")
	f(cause.SenderUplink, "c", behind("cd"), "c>", "d<c")
	f(cause.SenderUplink, "b", served("abcde", "be"), "b>", "a<b", "c<b", "d<b", "e<b")
	f(cause.Unknown, "", without(behind("abz"), "z"), "a<z", "b<z")
	f(cause.Unknown, "", without(without(served("ayz", "yz"), "z"), "y"), "a<z")
	f(cause.ReceiverDownlink, "a", without(behind("abz"), "z"), "a<z", "a<b")
	f(cause.ReceiverDownlink, "b", behind("abc"), "b<a", "b<c")
}

// TestServerNeedNotForward: a stream that a server does not forward is no evidence against it, if it may have its reasons: nobody
// watches, or nobody is heard. Streams of several that several miss are, one that has a place on the pages of several, and those of one participant who receives nothing while the others do.
//
// spec: CONF-06
func TestServerNeedNotForward(t *testing.T) {
	f := func(want cause.Cause, call cause.Call, media string, where ...string) {
		t.Helper()
		for _, at := range where {
			alter(call, at, media, gone)
		}
		require.Equal(t, want, cause.Find(call).Call.Cause, "%s %v", media, where)
	}
	f(cause.None, served("abc", "abc"), "video", "a<b")
	f(cause.None, served("abc", "abc"), "video", "a<b", "a<c")
	f(cause.None, served("abcd", "d"), "video", "a<d", "b<d", "c<d")
	f(cause.None, behind("abc"), "audio", "c<b")
	f(cause.None, served("ab", "ab"), "video", "a<b", "b<a")
	f(cause.None, served("abc", "abc"), "", "c<a")
	f(cause.None, without(served("abc", "bc"), "c"), "", "a<c", "b<c")
	f(cause.MediaServer, served("abc", "abc"), "video", "a<b", "a<c", "b<a", "b<c", "c<a", "c<b")
	f(cause.MediaServer, served("abc", "ab"), "", "c<a", "c<b")
	f(cause.MediaServer, behind("abcd"), "audio", "d<a", "d<b", "d<c")
	f(cause.MediaServer, behind("abc"), "audio", "a<c", "b<c")
	f(cause.PathOrTURN, served("ab", "ab"), "", "a<b", "b<a")

	seen := func(s *cause.Stream) { s.UnseenMs = s.NoneMs }
	for places, want := range map[string]cause.Cause{"b": cause.None, "bc": cause.MediaServer} {
		one := served("abc", "abc")
		for _, at := range []string{"b<a", "c<a"} {
			alter(one, at, "video", gone)
		}
		for _, user := range places {
			alter(one, string(user)+"<a", "video", seen)
		}
		f(want, one, "video")
	}

	unnamed := behind("abc")
	alter(unnamed, "a<b", "", func(s *cause.Stream) { s.User = "" })
	alter(unnamed, "a<c", "", func(s *cause.Stream) { s.User = "" })
	f(cause.None, unnamed, "", "a<")

	deaf := served("abc", "ab") // the path of one participant explains what that one misses
	alter(deaf, "c<b", "video", lost)
	alter(deaf, "c<a", "video", lost)
	f(cause.ReceiverDownlink, deaf, "audio", "c<a", "c<b")
}
