package cause_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// without removes the measurements of one participant from a call.
func without(call cause.Call, session string) cause.Call {
	call.People = slices.DeleteFunc(call.People, func(p cause.Person) bool { return p.Session == session })
	return call
}

// change changes one participant's side of the connection with another.
func change(call cause.Call, session, remote string, do func(*cause.Fabric)) {
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			if f := &call.People[i].Fabrics[j]; call.People[i].Session == session && f.Remote[0] == remote {
				do(f)
			}
		}
	}
}

func snapped(f *cause.Fabric) {
	f.Broken, f.BrokenMs, f.SilentMs, f.CutAtMs = true, 6000, 12_000, 14_000
}

func unset(f *cause.Fabric) { f.Connected, f.Streams = false, nil }

// TestUnmeasuredCanBeAtFault: the participant who lost both others is at fault, and not one of those who reported it. One without the
// library may have left.
//
// spec: CONF-03, CONF-06
func TestUnmeasuredCanBeAtFault(t *testing.T) {
	call := mesh("abc")
	change(call, "a", "b", snapped)
	change(call, "c", "b", snapped)
	got := cause.Find(call).Call
	require.Equal(t, []any{cause.ICEConnectivity, "b", ""}, []any{got.Cause, got.Session, got.Peer})
	require.Equal(t, cause.Unknown, cause.Find(without(call, "b")).Call.Cause)
}

// TestNobodyIsThereToSendTo: who stays when somebody without the library has left, sends nothing, as Firefox does.
//
// spec: CONF-06
func TestNobodyIsThereToSendTo(t *testing.T) {
	f := func(want cause.Cause, users string, left bool, harm func(*cause.Fabric)) {
		t.Helper()
		call := mesh(users)
		if left {
			call = without(call, "b")
		}
		change(call, "a", "b", harm)
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	stop := func(f *cause.Fabric) {
		for k := range f.Streams {
			f.Streams[k].NoneMs = minute / 2
		}
	}
	f(cause.None, "abc", false, func(*cause.Fabric) {})
	f(cause.SendingCapture, "ab", false, stop)
	f(cause.Unknown, "ab", true, stop)
	f(cause.Unknown, "abc", true, func(f *cause.Fabric) { stop(f); snapped(f) })
	f(cause.Unknown, "ab", true, snapped)
	f(cause.ICEConnectivity, "ab", false, snapped)
	f(cause.Unknown, "ab", true, func(f *cause.Fabric) { // pictures stopped a little later than the sound
		s := f.Streams[0]
		s.SSRC, s.Media = 9, "video"
		f.Streams[0].NoneMs = minute / 2
		f.Streams = append(f.Streams, s)
		snapped(f)
	})
	f(cause.Unknown, "ab", true, func(f *cause.Fabric) { // a path that ends loses packets
		lossy(nil, &f.Streams[1])
		snapped(f)
	})
	f(cause.PathOrTURN, "ab", true, func(f *cause.Fabric) { lossy(nil, &f.Streams[1]) })
	f(cause.PathOrTURN, "ab", true, func(f *cause.Fabric) { // media continued
		lossy(nil, &f.Streams[1])
		f.Broken = true
	})
	f(cause.SendingCapture, "ab", true, func(f *cause.Fabric) { f.Streams[0].NoneMs = minute / 2 })
}

// TestSoundOfTheUnmeasuredIsNoMachine: concealed sound of somebody without the library may not have been sent.
//
// spec: CONF-06
func TestSoundOfTheUnmeasuredIsNoMachine(t *testing.T) {
	call := mesh("ab")
	change(call, "a", "b", func(f *cause.Fabric) { f.Streams[1].ChoppyMs = minute / 2 })
	require.Equal(t, cause.ReceivingMachine, cause.Find(call).Call.Cause)
	require.Equal(t, cause.None, cause.Find(without(call, "b")).Call.Cause)
}

// TestOneEndIsLessSure: the measurements of one of two ends give less confidence.
func TestOneEndIsLessSure(t *testing.T) {
	f := func(make func() cause.Call, below float64) {
		t.Helper()
		both, one := cause.Find(make()).Call, cause.Find(without(make(), "a")).Call
		require.Equal(t, both.Cause, one.Cause)
		require.Less(t, one.Confidence, both.Confidence)
		require.Less(t, one.Confidence, below)
	}
	f(func() cause.Call { return mesh("ab") }, 0.6)
	f(func() cause.Call { return mesh("ab", "ab") }, 0.75)
	f(func() cause.Call {
		call := mesh("ab")
		change(call, "a", "b", unset)
		change(call, "b", "a", unset)
		return call
	}, 0.7)
}

// TestReceivesNothing: where an end without the library sends nothing, that may be a fault or not.
func TestReceivesNothing(t *testing.T) {
	call := without(mesh("ab"), "b")
	require.Equal(t, cause.None, cause.Find(call).Call.Cause)
	change(call, "a", "b", func(f *cause.Fabric) {
		f.Streams = slices.DeleteFunc(f.Streams, func(s cause.Stream) bool { return !s.Sends })
	})
	require.Equal(t, cause.Unknown, cause.Find(call).Call.Cause)
}

// behind is a call of people who all send to a server and receive the others' media.
func behind(users string) cause.Call {
	var call cause.Call
	ssrc := int64(0)
	for _, user := range users {
		f := cause.Fabric{Remote: []string{"server"}, Server: true, Media: true, Sends: true, Connected: true, Described: true, LifeMs: minute}
		for _, from := range users {
			ssrc++
			s := cause.Stream{SSRC: ssrc, Media: "audio", TimeMs: minute, Packets: 3000, SeenMs: minute, Sends: from == user}
			if from != user {
				s.User = string(from)
			}
			f.Streams = append(f.Streams, s)
		}
		call.People = append(call.People, cause.Person{Session: string(user), Users: []string{string(user)}, Fabrics: []cause.Fabric{f}})
	}
	return call
}

// silence removes the media of one user behind the server.
func silence(call cause.Call, of string) {
	for i := range call.People {
		for k := range call.People[i].Fabrics[0].Streams {
			if s := &call.People[i].Fabrics[0].Streams[k]; s.User == of {
				s.NoneMs, s.QuietMs = minute, minute
			}
		}
	}
}

// TestServerIsNotBlamedForTheUnmeasured: media that a server does not forward may never have been
// sent, if the sender has no library.
func TestServerIsNotBlamedForTheUnmeasured(t *testing.T) {
	call := behind("abc")
	silence(call, "c")
	require.Equal(t, cause.MediaServer, cause.Find(call).Call.Cause)
	require.Equal(t, cause.None, cause.Find(without(call, "c")).Call.Cause)
}

// TestServerForwardsOnlyWhatReachesIt: where the way of one participant to the server is bad, that is why their media are
// missing. Where the ways of several are, it is the server's network.
//
// spec: CONF-03
func TestServerForwardsOnlyWhatReachesIt(t *testing.T) {
	f := func(want cause.Cause, session, losing string) {
		t.Helper()
		call := behind("abc")
		silence(call, "c")
		for i := range call.People {
			p := &call.People[i]
			for k := range p.Fabrics[0].Streams {
				if s := &p.Fabrics[0].Streams[k]; s.Sends && strings.Contains(losing, p.Session) {
					s.LostMs, s.Loss = minute, event.Known(0.5)
				}
			}
		}
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session}, []any{got.Cause, got.Session}, "%s", losing)
	}
	f(cause.MediaServer, "", "")
	f(cause.SenderUplink, "c", "c")
	f(cause.MediaServer, "", "abc")
}

// TestDisruptionsWithMedia: a disruption of ICE while media are received is no cause if the other end was measured, for
// its network explains it better. Without the other end's measurements it is a cause, after those of networks.
//
// spec: CONF-03
func TestDisruptionsWithMedia(t *testing.T) {
	f := func(want cause.Cause, silent string, bad ...string) {
		t.Helper()
		call := mesh("ab", bad...)
		change(call, "a", "b", func(f *cause.Fabric) { f.FlowedMs = 3000 })
		if silent != "" {
			call = without(call, silent)
		}
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(cause.None, "")
	f(cause.PathOrTURN, "", "ba")
	f(cause.ICEConnectivity, "b")
	f(cause.PathOrTURN, "b", "ba")
}

// TestCutOffFromTheServer: of one participant nothing is received, and that one receives nothing: the network between the
// participant and the server is at fault, and ICE says so where it was disrupted. Of two it may be either.
//
// spec: CONF-03
func TestCutOffFromTheServer(t *testing.T) {
	f := func(want cause.Cause, session, users string, disruptedMs float64) {
		t.Helper()
		call := behind(users)
		silence(call, "c")
		own := &call.People[len(users)-1].Fabrics[0]
		for k := range own.Streams {
			if s := &own.Streams[k]; !s.Sends {
				s.NoneMs, s.QuietMs = minute/2, minute/2
			}
		}
		own.BrokenMs = disruptedMs
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session}, []any{got.Cause, got.Session})
	}
	f(cause.SenderUplink, "c", "abc", 0)
	f(cause.ICEConnectivity, "c", "abc", 300)
	f(cause.PathOrTURN, "b", "bc", 300)
}

// TestReportsThatAreLostAreNoEvidence: a server's reports of what it received come over the path from it. If that path loses
// packets the last report says nothing of what was sent since. Where the server's reports arrive they do.
//
// spec: CONF-03
func TestReportsThatAreLostAreNoEvidence(t *testing.T) {
	f := func(want cause.Cause, session, lossyDown, lossyUp string) {
		t.Helper()
		call := behind("abc")
		for i := range call.People {
			p := &call.People[i]
			for k := range p.Fabrics[0].Streams {
				s := &p.Fabrics[0].Streams[k]
				if s.Sends && strings.Contains(lossyUp, p.Session) || !s.Sends && strings.Contains(lossyDown, p.Session) {
					s.LostMs, s.Loss = 0.7*minute, event.Known(0.3)
				}
			}
		}
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session}, []any{got.Cause, got.Session}, "%+v", got)
	}
	f(cause.MediaServer, "", "abc", "b")
	f(cause.MediaServer, "", "abc", "abc")
	f(cause.ReceiverDownlink, "b", "b", "")
	f(cause.SenderUplink, "b", "", "b")
}
