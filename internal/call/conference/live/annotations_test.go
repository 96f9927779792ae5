package live_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
)

const hour = int64(3_600_000)

// of makes an event of fabric 1 of a session.
func of(session string, seq uint64, atMs int64, name string) event.Event {
	return event.Event{
		AppID: "app", ConferenceID: "c", Session: session, Seq: seq, AtMs: conferencetest.Base + atMs, ConferenceAtMs: conferencetest.Base + atMs,
		Fabric: 1, Kind: event.KindEvent, Name: name,
	}
}

// survey is feedback about a time.
func survey(session string, seq uint64, aboutMs int64) event.Event {
	e := of(session, seq, aboutMs, "")
	overall := 2
	e.Fabric, e.Kind, e.Feedback = 0, event.KindFeedback, &event.Feedback{Overall: &overall}
	return e
}

func applyAt(t *testing.T, s *live.Set, want live.Result, e event.Event, nowMs int64) {
	t.Helper()
	require.Equal(t, want.String(), s.Apply(&e, conferencetest.Base+nowMs).String())
}

func tickAt(t *testing.T, s *live.Set, nowMs int64) []conference.Summary {
	t.Helper()
	out, more := s.Tick(conferencetest.Base+nowMs, 1000)
	require.False(t, more)
	return out
}

// call applies a call of 10 s that begins at 0 and returns its summary.
func call(t *testing.T, s *live.Set) conference.Summary {
	t.Helper()
	applyAt(t, s, live.Applied, of("alice", 1, 0, "fabricAdded"), 0)
	applyAt(t, s, live.Applied, of("alice", 2, 10_000, "fabricTerminated"), 10_000)
	out := tickAt(t, s, 10_001)
	require.Len(t, out, 1)
	return out[0]
}

// TestAnAnnotationAloneMakesNothing: it waits for activity, and is counted when none followed;
// it never becomes a conference, an end or a summary.
//
// spec: CONF-01, CONF-02
func TestAnAnnotationAloneMakesNothing(t *testing.T) {
	s := newSet(10, hour)
	devices := of("alice", 2, 0, "activeDeviceList")
	devices.Fabric = 0
	applyAt(t, s, live.Waiting, survey("alice", 1, 0), 0)
	applyAt(t, s, live.Waiting, devices, 0)
	require.Equal(t, [2]int{0, 0}, [2]int{s.Live(), s.Len()})
	require.Empty(t, tickAt(t, s, 89_999))
	require.Zero(t, s.Unattached())
	require.Empty(t, tickAt(t, s, 90_000))
	require.Equal(t, 2, s.Unattached())
	require.Zero(t, s.Unattached(), "once")
	applyAt(t, s, live.Duplicate, survey("alice", 1, 0), 100_000)
	require.Empty(t, tickAt(t, s, 2*hour))
	require.Empty(t, s.Partials(), "there is no store")
	require.Zero(t, s.Unattached())
	applyAt(t, s, live.Waiting, survey("alice", 1, 0), 2*hour)
}

// TestAnAnnotationWaitsForItsConference, which begins within 30 s of it.
//
// spec: CONF-01
func TestAnAnnotationWaitsForItsConference(t *testing.T) {
	s := newSet(10, hour)
	applyAt(t, s, live.Waiting, survey("bob", 1, -30_000), 0)
	applyAt(t, s, live.Waiting, survey("bob", 2, -30_001), 0)
	first := call(t, s)
	require.Equal(t, 1, first.Feedback.Count)
	require.Equal(t, [2]int64{conferencetest.Base, conferencetest.Base + 10_000}, [2]int64{first.StartMs, first.EndMs}, "it moves no end")
	require.Len(t, first.Participants, 2)
	require.Empty(t, tickAt(t, s, 90_000))
	require.Equal(t, 1, s.Unattached())
}

// TestALateAnnotationRevises the nearest conference that ended up to 24 h before; it moves to
// another one that begins after it, and both are revised.
//
// spec: CONF-01, CONF-02
func TestALateAnnotationRevises(t *testing.T) {
	s := newSet(10, 48*hour)
	call(t, s)
	applyAt(t, s, live.Applied, survey("bob", 1, 10_000+24*hour), 25*hour)
	applyAt(t, s, live.Waiting, survey("bob", 2, 10_001+24*hour), 25*hour)
	out := tickAt(t, s, 25*hour)
	require.Len(t, out, 1)
	require.Equal(t, []int{2, 1, 1}, []int{out[0].Revision, out[0].Feedback.Count, out[0].Added})
	require.Equal(t, conferencetest.Base+10_000, out[0].EndMs)

	applyAt(t, s, live.Applied, of("alice", 5, 10_000+24*hour+30_000, "fabricAdded"), 25*hour)
	applyAt(t, s, live.Applied, of("alice", 6, 10_000+24*hour+31_000, "fabricTerminated"), 25*hour)
	out = tickAt(t, s, 25*hour+1)
	require.Len(t, out, 2)
	require.Equal(t, []int{3, 0}, []int{out[0].Revision, out[0].Feedback.Count})
	require.Equal(t, []int{1, 2}, []int{out[1].Revision, out[1].Feedback.Count}, "and the one that waited")
	require.Zero(t, s.Unattached())
}

// TestTheStoreHasTheConference of an annotation that no conference of the Set owns: it is restored
// with the annotation, and revised; if the store has none either, the annotation is unattached.
//
// spec: CONF-01, CONF-02
func TestTheStoreHasTheConference(t *testing.T) {
	s := newSet(10, 0)
	s.CompleteSince(conferencetest.Base - hour)
	stored := call(t, s)
	require.Zero(t, s.Len(), "released")
	late := survey("bob", 1, hour)
	applyAt(t, s, live.Waiting, late, hour)
	require.Empty(t, tickAt(t, s, hour))
	requested := s.Partials()
	require.Len(t, requested, 1)
	require.Equal(t, late.ConferenceAtMs, requested[0].AtMs, "the store has the owner of that time")
	require.Empty(t, tickAt(t, s, hour+1000))
	require.Empty(t, s.Partials(), "once")

	restore(s, requested[0], stored, hour+1000, of("alice", 1, 0, "fabricAdded"), of("alice", 2, 10_000, "fabricTerminated"), late)
	out := tickAt(t, s, hour+1000)
	require.Len(t, out, 1)
	require.Equal(t, []int{2, 1, 1}, []int{out[0].Revision, out[0].Feedback.Count, out[0].Added})

	applyAt(t, s, live.Waiting, survey("bob", 2, 30*hour), 30*hour)
	tickAt(t, s, 30*hour)
	for _, p := range s.Partials() {
		s.NotStored(p)
	}
	require.Empty(t, tickAt(t, s, 30*hour+90_000))
	require.Equal(t, 1, s.Unattached())
}

// restore restores the call that began at 0 from the store.
func restore(s *live.Set, p live.Partial, stored conference.Summary, nowMs int64, events ...event.Event) {
	span := instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 10_000}
	s.Restoring(p, span)
	for i := range events {
		s.Restore(&events[i], conferencetest.Base+nowMs)
	}
	s.Restored(p, span, stored, conferencetest.Base+nowMs)
}

// TestTheStoreDecides: if other processes write to the store, an annotation that the store does
// not attach to the conference is detached from it, and its owner is requested.
//
// spec: CONF-01
func TestTheStoreDecides(t *testing.T) {
	s := newSet(10, hour)
	s.Shared()
	begin, end := of("alice", 1, 0, "fabricAdded"), of("alice", 2, 10_000, "fabricTerminated")
	applyAt(t, s, live.Applied, begin, 0)
	applyAt(t, s, live.Applied, end, 10_000)
	near, far := survey("bob", 1, 5000), survey("bob", 2, 2*hour)
	applyAt(t, s, live.Applied, near, 10_000)
	applyAt(t, s, live.Applied, far, 2*hour) // of another call, which only the store has
	require.Empty(t, tickAt(t, s, 2*hour))
	requested := s.Partials()
	require.Len(t, requested, 1)
	restore(s, requested[0], conference.Summary{}, 2*hour, begin, near, end)
	out := tickAt(t, s, 2*hour)
	require.Len(t, out, 1)
	require.Equal(t, 1, out[0].Feedback.Count, "without the other's")
	require.True(t, slices.ContainsFunc(s.Partials(), func(p live.Partial) bool { return p.AtMs == far.ConferenceAtMs }))
}

// TestTheStoreDecidesAboutBoth: of two conferences that a stored record joins, both lose the annotations that the store
// does not attach to them.
//
// spec: CONF-01
func TestTheStoreDecidesAboutBoth(t *testing.T) {
	s := newSet(10, hour)
	s.Shared()
	begin, middle, end := of("alice", 1, 0, "fabricAdded"), of("alice", 2, 20_000, "customEvent"), of("alice", 3, 40_000, "fabricTerminated")
	far := survey("bob", 1, 2*hour)
	for _, e := range []event.Event{begin, end, far} { // middle arrived elsewhere
		applyAt(t, s, live.Applied, e, 2*hour)
	}
	require.Empty(t, tickAt(t, s, 3*hour))
	span := instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 40_000}
	p := s.Partials()[0]
	s.Restoring(p, span)
	for _, e := range []event.Event{begin, middle, end} {
		s.Restore(&e, conferencetest.Base+3*hour)
	}
	s.Restored(p, span, conference.Summary{}, conferencetest.Base+3*hour)
	out := tickAt(t, s, 3*hour)
	require.Len(t, out, 1)
	require.Zero(t, out[0].Feedback.Count)
}

// TestAnOwnerThatCannotBeRead is requested at growing intervals as long as a summary can be
// revised; then the annotation is unattached.
//
// spec: CONF-01, SRV-04
func TestAnOwnerThatCannotBeRead(t *testing.T) {
	s := newSet(10, 300_000)
	s.CompleteSince(conferencetest.Base)
	applyAt(t, s, live.Waiting, survey("bob", 1, 0), 0)
	var requested []int64
	for second := range int64(300) {
		require.Zero(t, s.Unattached())
		tickAt(t, s, second*1000)
		for _, p := range s.Partials() {
			requested = append(requested, second)
			s.NotRestored(p)
		}
	}
	require.Equal(t, []int64{0, 1, 2, 4, 8, 16, 32, 64, 124, 184, 244}, requested)
	tickAt(t, s, 400_000)
	require.Equal(t, 1, s.Unattached())
}

// TestAnOwnerIsReadLater: an annotation that arrived while the store was away reaches its
// conference.
//
// spec: CONF-01, SRV-04
func TestAnOwnerIsReadLater(t *testing.T) {
	s := newSet(10, hour)
	s.CompleteSince(conferencetest.Base + hour)
	begin, end, late := of("alice", 1, 0, "fabricAdded"), of("alice", 2, 10_000, "fabricTerminated"), survey("bob", 1, 5000)
	applyAt(t, s, live.Waiting, late, 120_000)
	for second := int64(120); second < 400; second++ {
		require.Empty(t, tickAt(t, s, second*1000))
		for _, p := range s.Partials() {
			s.NotRestored(p)
		}
	}
	var out []conference.Summary
	for second := int64(400); second < 470; second++ {
		for _, p := range s.Partials() {
			if s.IsComplete(p, instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 10_000}) {
				continue
			}
			restore(s, p, conference.Summary{Revision: 1, StartMs: conferencetest.Base, EndMs: conferencetest.Base + 10_000}, second*1000, begin, late, end)
		}
		out = append(out, tickAt(t, s, second*1000)...)
	}
	require.Len(t, out, 1)
	require.Equal(t, 2, out[0].Revision)
	require.Equal(t, 1, out[0].Feedback.Count)
}

// TestAnIdentityOfAnotherConference: of an identity that a client uses again for another conferenceID, the store has the
// first record, which replaces the one that waits.
//
// spec: CONF-01, SRV-04
func TestAnIdentityOfAnotherConference(t *testing.T) {
	for _, exists := range []bool{false, true} {
		s := newSet(10, hour)
		s.CompleteSince(conferencetest.Base)
		again := survey("bob", 1, 0)
		again.ConferenceID = "another"
		applyAt(t, s, live.Waiting, again, 0)
		first, want := survey("bob", 1, 0), live.Waiting
		if exists {
			applyAt(t, s, live.Applied, of("alice", 1, 0, "fabricAdded"), 0)
			want = live.Applied
		}
		require.Equal(t, want, s.Restore(&first, conferencetest.Base))
		again = of("bob", 2, 0, "fabricAdded")
		again.ConferenceID = "another"
		applyAt(t, s, live.Applied, again, 0)
		applyAt(t, s, live.Applied, of("alice", 2, 10_000, "fabricTerminated"), 10_000)
		out := tickAt(t, s, 60_000)
		require.Len(t, out, 2)
		require.Equal(t, [2]int{0, 1}, [2]int{out[0].Feedback.Count, out[1].Feedback.Count})
	}
}

// TestWaitingAnnotationsAreBounded, by number and by age: an application has three quarters at most, and another one
// always finds room. The oldest of those that were counted make room for new ones.
//
// spec: SRV-04
func TestWaitingAnnotationsAreBounded(t *testing.T) {
	s := newSet(10, hour)
	one := func(app string, n int) event.Event {
		e := survey(fmt.Sprint("s", n), 1, 0)
		e.AppID, e.ConferenceID = app, fmt.Sprint("c", n)
		return e
	}
	const most, rest = 7500, 1875
	for n := range most {
		applyAt(t, s, live.Waiting, one("big", n), 0)
	}
	applyAt(t, s, live.Full, one("big", most), 0)
	for n := range rest {
		applyAt(t, s, live.Waiting, one("small", n), 0)
	}
	applyAt(t, s, live.Full, one("small", rest), 0)
	tickAt(t, s, 90_000)
	require.Equal(t, most+rest, s.Unattached())
	for n := range 3 {
		applyAt(t, s, live.Waiting, one("big", most+n), 90_000)
	}
	applyAt(t, s, live.Duplicate, one("big", most-1), 90_000)
	applyAt(t, s, live.Waiting, one("big", 2), 90_000) // made room
	require.Empty(t, tickAt(t, s, 180_000))
	require.Equal(t, 4, s.Unattached())
	require.Empty(t, tickAt(t, s, 2*hour))
	for n := range most {
		applyAt(t, s, live.Waiting, one("big", n), 2*hour)
	}
}

// TestWaitingAnnotationsOfOneConference: as many wait for one conference as it can have.
//
// spec: SRV-04
func TestWaitingAnnotationsOfOneConference(t *testing.T) {
	s := newSet(10, hour)
	const most = 2000
	for n := range uint64(most) {
		applyAt(t, s, live.Waiting, survey("bob", n+1, int64(n%7)), 0)
	}
	applyAt(t, s, live.Full, survey("bob", most+1, 0), 0)
	other := survey("bob", most+2, 0)
	other.ConferenceID = "another"
	applyAt(t, s, live.Waiting, other, 0)
	tickAt(t, s, 90_007)
	require.Equal(t, most+1, s.Unattached())
	applyAt(t, s, live.Waiting, survey("bob", most+1, 0), 90_007)
	applyAt(t, s, live.Waiting, survey("bob", 1, 0), 90_007) // made room
	applyAt(t, s, live.Applied, of("alice", 1, 0, "fabricTerminated"), 90_007)
	out := tickAt(t, s, 90_008)
	require.Len(t, out, 1)
	require.Equal(t, most, out[0].Feedback.Count)
	require.Zero(t, out[0].Truncated)
}

// TestAFullApplicationAffectsNoOther: records for which an application had no room make its own conferences partial, no
// other one's.
//
// spec: SRV-04
func TestAFullApplicationAffectsNoOther(t *testing.T) {
	s := newSet(1000, hour)
	s.CompleteSince(conferencetest.Base - 1)
	for n := range uint64(2001) {
		s.Apply(new(survey("bob", n+1, 1000*hour)), conferencetest.Base+1000*hour)
	}
	at := 1000*hour + 1000
	for _, app := range []string{"app", "calm"} {
		e := of("alice", 1, at, "fabricTerminated")
		e.AppID, e.ConferenceID = app, "d"
		applyAt(t, s, live.Applied, e, at)
	}
	out := tickAt(t, s, at)
	require.Len(t, out, 1)
	require.Equal(t, "calm", out[0].AppID)
	require.True(t, slices.ContainsFunc(s.Partials(), func(p live.Partial) bool { return p.ConferenceID == "d" }))
}

// TestARecordExaminesFew: what a record of one of many instances of a conferenceID allocates does not depend on the
// number of the instances and of the annotations that wait, whether it prolongs, begins or joins instances.
//
// spec: SRV-04
func TestARecordExaminesFew(t *testing.T) {
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	// perKind returns the bytes of 100 records that prolong instances, and of 100 that join two.
	perKind := func(n int) (bytes [2]uint64) {
		s := newSet(100_000, hour)
		now := conferencetest.Base + 1000*hour
		apply := func(want live.Result, e event.Event) {
			require.Equal(t, want, s.Apply(&e, now))
		}
		seq := uint64(0)
		activity := func(atMs int64) {
			seq++
			apply(live.Applied, of("alice", seq, atMs, "customEvent"))
		}
		for i := range int64(n) {
			activity(100*hour + i*60_000)
			apply(live.Waiting, survey("bob", uint64(i)+1, i))
		}
		require.Equal(t, n, s.Len())
		for kind, after := range [...]int64{1, 30_000} {
			bytes[kind] = allocated(func() {
				for i := range int64(100) {
					activity(100*hour + (2*i+int64(n)/2)*60_000 + after)
				}
			})
		}
		require.Equal(t, n-100, s.Len())
		return bytes
	}
	few, many := perKind(500), perKind(1000)
	for kind := range few {
		t.Logf("%d bytes, %d of twice as many", few[kind], many[kind])
		require.Less(t, many[kind], few[kind]*3/2+10_000)
	}
}

// TestAnAttempt: failures of setup functions without any fabric are a conference of their own,
// which ends 30 s after the last, and makes no fabric.
//
// spec: CONF-02, CONF-05
func TestAnAttempt(t *testing.T) {
	s := newSet(10, hour)
	attempt := func(seq uint64, atMs int64, function string) event.Event {
		e := of("alice", seq, atMs, "")
		e.Fabric, e.Kind, e.Function, e.ConferenceAtMs = 0, event.KindError, function, conferencetest.Base-hour
		return e
	}
	applyAt(t, s, live.Applied, attempt(1, 0, "getUserMedia"), 0)
	applyAt(t, s, live.Duplicate, attempt(1, 0, "getUserMedia"), 0)
	applyAt(t, s, live.Applied, attempt(2, 25_000, "getUserMedia"), 25_000)
	applyAt(t, s, live.Applied, survey("bob", 1, 3000), 25_000)
	require.Empty(t, tickAt(t, s, 55_000))
	require.Equal(t, 1, s.Live())
	out := tickAt(t, s, 56_000) // the next second
	require.Len(t, out, 1)
	require.Equal(t, conference.OutcomeTotallyFailed, out[0].Outcome)
	require.Equal(t, []any{conferencetest.Base, conferencetest.Base + 25_000, 2, map[string]int{"getUserMedia": 2}, 1, 2},
		[]any{out[0].StartMs, out[0].EndMs, out[0].Errors, out[0].ErrorsByFunction, out[0].Feedback.Count, len(out[0].Participants)})
	for _, p := range out[0].Participants {
		require.Empty(t, p.Fabrics)
	}
	applyAt(t, s, live.Applied, attempt(3, 55_000, "createOffer"), 56_000)
	out = tickAt(t, s, 90_000)
	require.Len(t, out, 1, "within 30 s of it: the same")
	require.Equal(t, []int{2, 3}, []int{out[0].Revision, out[0].Errors})
}

// TestAnAttemptProlongs the conference that it joins.
//
// spec: CONF-02, CONF-05
func TestAnAttemptProlongs(t *testing.T) {
	s := newSet(10, hour)
	call(t, s)
	attempt := of("bob", 1, 20_000, "")
	attempt.Fabric, attempt.Kind, attempt.Function = 0, event.KindError, "getUserMedia"
	applyAt(t, s, live.Applied, attempt, 20_000)
	out := tickAt(t, s, 51_000)
	require.Len(t, out, 1)
	require.Equal(t, []any{2, conferencetest.Base + 20_000, 1}, []any{out[0].Revision, out[0].EndMs, out[0].Errors})
	applyAt(t, s, live.Waiting, survey("carol", 1, 20_001+24*hour), 25*hour)
	applyAt(t, s, live.Applied, of("dave", 1, 50_000, "fabricAdded"), 51_000)
	require.Equal(t, 1, s.Len(), "30 s after it: the same")
}

// TestTheStoreDecidesAfterARestart: an annotation long after a conference of before the start
// may be about another one that ended before the start, too: the store is read.
//
// spec: CONF-01
func TestTheStoreDecidesAfterARestart(t *testing.T) {
	s := newSet(10, hour)
	s.CompleteSince(conferencetest.Base + hour)
	begin, end := of("alice", 1, 0, "fabricAdded"), of("alice", 2, 10_000, "fabricTerminated")
	applyAt(t, s, live.Applied, begin, hour)
	applyAt(t, s, live.Applied, end, hour)
	require.Empty(t, tickAt(t, s, hour+40_000))
	restore(s, s.Partials()[0], conference.Summary{}, hour+40_000, begin, end)
	require.Len(t, tickAt(t, s, hour+40_000), 1)
	require.Empty(t, s.Partials())

	inside, far := survey("bob", 1, 5000), survey("bob", 2, hour/2)
	applyAt(t, s, live.Applied, inside, hour+50_000)
	require.Len(t, tickAt(t, s, hour+50_000), 1, "no other can have it")
	applyAt(t, s, live.Applied, far, hour+60_000)
	require.Empty(t, tickAt(t, s, hour+60_000))
	requested := s.Partials()
	require.Len(t, requested, 1)
	restore(s, requested[0], conference.Summary{}, hour+60_000, begin, inside, end)
	out := tickAt(t, s, hour+60_000)
	require.Equal(t, 1, out[len(out)-1].Feedback.Count, "it is another's")
	require.True(t, slices.ContainsFunc(s.Partials(), func(p live.Partial) bool { return p.AtMs == far.ConferenceAtMs }))
}
