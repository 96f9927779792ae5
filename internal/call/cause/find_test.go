package cause_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

const minute = 60_000

// stream adds one stream from one to another, measured by both ends; harm changes the receiving end.
func stream(people []cause.Person, from, to string, ssrc int64, harm func(out, in *cause.Stream)) {
	out := cause.Stream{SSRC: ssrc, Sends: true, Media: "audio", TimeMs: minute, Packets: 3000, SeenMs: minute, LimitSeenMs: minute}
	in := cause.Stream{SSRC: ssrc, Media: "audio", TimeMs: minute, Packets: 3000, SeenMs: minute}
	if harm != nil {
		harm(&out, &in)
	}
	for i := range people {
		switch people[i].Session {
		case from:
			add(&people[i], to, out)
		case to:
			add(&people[i], from, in)
		}
	}
}

func add(p *cause.Person, remote string, s cause.Stream) {
	for i := range p.Fabrics {
		if p.Fabrics[i].Remote[0] == remote {
			p.Fabrics[i].Streams = append(p.Fabrics[i].Streams, s)
			return
		}
	}
	p.Fabrics = append(p.Fabrics, cause.Fabric{
		Remote: []string{remote}, Media: true, Sends: true, Connected: true, Described: true, LifeMs: minute,
		RTTMs: event.Known(20), RTTSeenMs: minute, Streams: []cause.Stream{s},
	})
}

func lossy(_, in *cause.Stream) { in.LostMs, in.Loss = minute, event.Known(0.1) }

// mesh is a call of people who all send to each other; bad are the ways that lose, as "ab".
func mesh(users string, bad ...string) cause.Call {
	var call cause.Call
	for _, user := range users {
		call.People = append(call.People, cause.Person{Session: string(user), Users: []string{string(user)}})
	}
	ssrc := int64(0)
	for _, from := range users {
		for _, to := range users {
			if from == to {
				continue
			}
			ssrc++
			var harm func(out, in *cause.Stream)
			for _, b := range bad {
				if b == string(from)+string(to) {
					harm = lossy
				}
			}
			stream(call.People, string(from), string(to), ssrc, harm)
		}
	}
	return call
}

// TestLocatesLoss: which ways are bad says where the fault lies; where several places fit
// alike, none is named.
//
// spec: CONF-03
func TestLocatesLoss(t *testing.T) {
	f := func(call cause.Call, want cause.Cause, session, peer string) {
		t.Helper()
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%+v", got)
	}
	f(mesh("ab"), cause.None, "", "")
	f(mesh("abc"), cause.None, "", "")
	f(mesh("abc", "ab", "ac"), cause.SenderUplink, "a", "")
	f(mesh("abc", "ba", "ca"), cause.ReceiverDownlink, "a", "")
	f(mesh("abc", "ab", "cb"), cause.ReceiverDownlink, "b", "")
	f(mesh("abcd", "ab", "ac", "ad"), cause.SenderUplink, "a", "")
	f(mesh("ab", "ab"), cause.PathOrTURN, "a", "b")
	f(mesh("ab", "ab", "ba"), cause.PathOrTURN, "a", "b")
	f(mesh("abc", "ab"), cause.PathOrTURN, "a", "b")
	f(mesh("abc", "ab", "ba"), cause.PathOrTURN, "a", "b")
	f(mesh("abcd", "ab", "ac"), cause.PathOrTURN, "a", "b") // a sends to d well
}

// TestOthersAreNamed: of a path between two, both accesses are possible causes.
func TestOthersAreNamed(t *testing.T) {
	got := cause.Find(mesh("ab", "ab")).Call
	require.Equal(t, []cause.Other{
		{Cause: cause.SenderUplink, Session: "a", Confidence: 0.4},
		{Cause: cause.ReceiverDownlink, Session: "b", Confidence: 0.4},
	}, got.Others)
}

// TestOthersAreNamedOnce: what several reports say of a participant is one possibility.
func TestOthersAreNamedOnce(t *testing.T) {
	call := mesh("ab")
	call.People[0].Bad = true
	call.People[0].Errors = map[string]int{"getUserMedia": 3, "createOffer": 1, "createAnswer": 1, "setLocalDescription": 2}
	for i := range call.People[0].Fabrics[0].Streams { // nothing was sent
		s := &call.People[0].Fabrics[0].Streams[i]
		if s.Sends {
			s.Packets = 0
		}
	}
	got := cause.Find(call).Call
	seen := map[cause.Other]bool{}
	for _, o := range append(got.Others, cause.Other{Cause: got.Cause, Session: got.Session}) {
		o.Confidence = 0
		require.False(t, seen[o], "%+v", got)
		seen[o] = true
	}
	require.NotEmpty(t, got.Others)
}

// TestWeakWiFiTips: a weak wireless network at one end says which of the two it is.
func TestWeakWiFiTips(t *testing.T) {
	call := mesh("ab", "ab")
	call.People[1].WeakWiFi = 0.9
	got := cause.Find(call).Call
	require.Equal(t, cause.ReceiverDownlink, got.Cause)
	require.Equal(t, "b", got.Session)
}

// TestUnmeasuredEnd: of a call in which one end has no library, the measurements of the other are
// enough to blame the path between them.
func TestUnmeasuredEnd(t *testing.T) {
	call := mesh("ab", "ab")
	call.People = call.People[1:]
	got := cause.Find(call)
	require.Equal(t, cause.PathOrTURN, got.Call.Cause)
	require.Equal(t, "b", got.Call.Peer)
	require.Len(t, got.People, 1)
}

// TestEachParticipantsCause: a participant's cause can be the access of another; one without a
// fault has none.
func TestEachParticipantsCause(t *testing.T) {
	people := cause.Find(mesh("abcd", "ab", "cb", "db")).People
	require.Equal(t, cause.ReceiverDownlink, people["b"].Cause)
	require.Equal(t, "b", people["b"].Session)
	require.Equal(t, cause.ReceiverDownlink, people["a"].Cause, "what a sends does not arrive")
	far := mesh("abcd", "ab", "ba")
	require.Equal(t, cause.None, cause.Find(far).People["c"].Cause)
}

// TestUnknown: where something was wrong and nothing tells what, nothing is claimed.
func TestUnknown(t *testing.T) {
	call := mesh("ab")
	call.People[0].Bad = true
	got := cause.Find(call)
	require.Equal(t, cause.Unknown, got.Call.Cause)
	require.Equal(t, cause.Unknown, got.People["a"].Cause)
	require.Equal(t, cause.None, got.People["b"].Cause)
	require.Zero(t, got.Call.Confidence)
}

// TestReportedFailures: what an application reports counts where the call suffered.
func TestReportedFailures(t *testing.T) {
	f := func(function string, want cause.Cause) {
		t.Helper()
		call := mesh("ab")
		call.People[0].Errors = map[string]int{function: 1}
		require.Equal(t, cause.None, cause.Find(call).Call.Cause, "the call went on")
		call.People[0].Fabrics[0].Connected = false
		call.People[0].Fabrics[0].Streams = nil
		got := cause.Find(call).Call
		require.Equal(t, want, got.Cause)
		require.Equal(t, "a", got.Session)
	}
	f("getUserMedia", cause.PermissionsOrDevices)
	f("createOffer", cause.Application)
	f("setLocalDescription", cause.Application)
	f("setRemoteDescription", cause.Signalling)
	f("signalingError", cause.Signalling)
	f("iceConnectionFailure", cause.ICEConnectivity)
}

// TestWhoReportsIsNotAtFault: a participant who reports a failed connection may have waited for the
// other end, all of whose connections fail. A failure of the page itself stays with it.
//
// spec: CONF-03
func TestWhoReportsIsNotAtFault(t *testing.T) {
	f := func(users string, unmade []string, function string, want cause.Cause, session, peer string) {
		t.Helper()
		call := mesh(users)
		for _, pair := range unmade {
			change(call, pair[:1], pair[1:], unset)
			change(call, pair[1:], pair[:1], unset)
		}
		call.People[0].Errors = map[string]int{function: 1}
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session, peer}, []any{got.Cause, got.Session, got.Peer}, "%+v", got)
		require.Equal(t, "a", got.Evidence[0].Session, "the participant who reported it")
		require.Equal(t, "reportedErrors", got.Evidence[0].Metric)
	}
	for function, want := range map[string]cause.Cause{"signalingError": cause.Signalling, "iceConnectionFailure": cause.ICEConnectivity} {
		f("abc", []string{"ac", "bc"}, function, want, "c", "")
		f("abc", []string{"ac", "ab"}, function, want, "a", "")
		f("abc", []string{"ac"}, function, want, "a", "c")
		f("ab", []string{"ab"}, function, want, "a", "b")
	}
	f("abc", []string{"ac", "bc"}, "setLocalDescription", cause.Application, "a", "")
}

// TestReportsHaveAnOrder: of two failures with the same evidence, each run returns the same one.
func TestReportsHaveAnOrder(t *testing.T) {
	call := mesh("ab")
	change(call, "a", "b", unset)
	call.People[0].Errors = map[string]int{"createOffer": 1, "createAnswer": 1, "setLocalDescription": 1}
	for range 50 {
		require.Contains(t, cause.Find(call).Call.Evidence[0].Text, "createAnswer")
	}
}

// TestSetupThatFailed: what a connection lacked says which part failed, and whose all
// connections fail is at fault.
func TestSetupThatFailed(t *testing.T) {
	call := mesh("abc")
	fail := func(session, remote string, described bool) {
		for i := range call.People {
			for j := range call.People[i].Fabrics {
				if f := &call.People[i].Fabrics[j]; call.People[i].Session == session && f.Remote[0] == remote {
					f.Connected, f.Described, f.Streams = false, described, nil
				}
			}
		}
	}
	for _, pair := range []string{"ab", "ba", "cb", "bc"} {
		fail(pair[:1], pair[1:], true)
	}
	got := cause.Find(call).Call
	require.Equal(t, cause.ICEConnectivity, got.Cause)
	require.Equal(t, "b", got.Session)
	call = mesh("abc")
	fail("a", "b", false)
	fail("b", "a", true)
	require.Equal(t, cause.Signalling, cause.Find(call).People["a"].Cause)
}

// TestMachinesAndSources: what an encoder says, what a decoder does, and what is not sent.
func TestMachinesAndSources(t *testing.T) {
	f := func(harm func(out, in *cause.Stream), want cause.Cause, session string) {
		t.Helper()
		call := mesh("ab")
		for i := range call.People {
			call.People[i].Fabrics = nil
		}
		stream(call.People, "a", "b", 1, harm)
		stream(call.People, "a", "b", 2, nil)
		stream(call.People, "b", "a", 3, nil)
		got := cause.Find(call).Call
		require.Equal(t, []any{want, session}, []any{got.Cause, got.Session}, "%+v", got)
	}
	f(func(out, _ *cause.Stream) { out.CPUMs = minute / 2 }, cause.SendingMachineCPU, "a")
	f(func(out, _ *cause.Stream) { out.BusyMs = minute / 2 }, cause.SendingMachineCPU, "a")
	f(func(_, in *cause.Stream) { in.StuckMs = minute / 2 }, cause.ReceivingMachine, "b")
	f(func(_, in *cause.Stream) { in.ChoppyMs = minute / 2 }, cause.ReceivingMachine, "b")
	f(func(out, _ *cause.Stream) { out.WeakMs = minute / 2 }, cause.SendingCapture, "a")
	f(func(out, _ *cause.Stream) { out.NoneMs = minute / 2 }, cause.SendingCapture, "a")
	f(func(out, _ *cause.Stream) { out.QuietMs = minute / 2 }, cause.None, "")
}

// TestOrderDoesNotMatter: the verdict is a function of what is known, not of its order.
func TestOrderDoesNotMatter(t *testing.T) {
	call := mesh("abcdef", "ab", "ac", "ad", "ae", "af", "bc", "db", "fb")
	want := cause.Find(call)
	for seed := range uint64(50) {
		source := rand.New(rand.NewPCG(seed, 1))
		source.Shuffle(len(call.People), func(i, j int) { call.People[i], call.People[j] = call.People[j], call.People[i] })
		for i := range call.People {
			fabrics := call.People[i].Fabrics
			source.Shuffle(len(fabrics), func(i, j int) { fabrics[i], fabrics[j] = fabrics[j], fabrics[i] })
		}
		require.Equal(t, want, cause.Find(call))
	}
}

// TestOneFaultShowsInSeveralWays: jitter lowers the bandwidth that an encoder estimates, and not on each path. A path that
// has jitter alone is no evidence that the network beside it is at fault.
//
// spec: CONF-03
func TestOneFaultShowsInSeveralWays(t *testing.T) {
	call := uneven("abc", 2, map[string]float64{"ba": 25, "ca": 25})
	change(call, "c", "a", func(f *cause.Fabric) {
		for k := range f.Streams {
			if f.Streams[k].Sends {
				f.Streams[k].LimitedMs = minute
			}
		}
	})
	got := cause.Find(call).Call
	require.Equal(t, []any{cause.ReceiverDownlink, "a"}, []any{got.Cause, got.Session})

	call = behind("abc")
	for i := range call.People {
		for k := range call.People[i].Fabrics[0].Streams {
			if s := &call.People[i].Fabrics[0].Streams[k]; s.Sends {
				s.LimitedMs = minute
			} else {
				s.JitteryMs, s.Jitter = 0.6*minute, event.Known(25)
			}
		}
	}
	require.Equal(t, cause.MediaServer, cause.Find(call).Call.Cause)
}
