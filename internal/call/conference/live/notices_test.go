package live_test

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// driver runs a Set, whose evaluation interval is 15 s, second by second.
type driver struct {
	set       *live.Set
	now       int64
	changes   []live.IssueChange
	summaries []conference.Summary
	refresh   func(live.Partial) // restores from the store; nil: there is none
}

func newDriver() *driver {
	return &driver{now: conferencetest.Base, set: live.NewSet(live.Config{
		MaxConferences: 100, KeepEndedMs: 600_000, Labels: quality.DefaultBounds(), EvaluateMs: 15_000,
	})}
}

// until advances the clock.
func (w *driver) until(ms int64) {
	for w.now < ms {
		w.now += 1000
		w.summaries = append(w.summaries, tick(w.set, w.now)...)
		for more := true; more; {
			found := w.set.Evaluate(w.now, 10)
			w.changes = append(w.changes, found.Changes...)
			more = found.More
			for _, p := range w.set.ToRefresh() {
				w.refresh(p)
				w.set.Refreshed(p)
				more = true
			}
		}
	}
}

// play applies records at their times, then advances the clock to a second.
func (w *driver) play(events []event.Event, second float64) {
	slices.SortStableFunc(events, func(a, b event.Event) int { return cmp.Compare(a.AtMs, b.AtMs) })
	for i := range events {
		w.until(events[i].AtMs - 999)
		w.set.Apply(&events[i], max(w.now, events[i].AtMs))
	}
	w.until(conferencetest.Base + int64(second*1000))
}

// take returns the changes since the last call, as "<state> <kind> <session> <since>-<until>" in
// seconds.
func (w *driver) take() (lines []string) {
	for _, c := range w.changes {
		lines = append(lines, fmt.Sprintf("%s %s %s %d-%d", c.State, c.Issue.Kind, c.Issue.Session, (c.Issue.SinceMs-conferencetest.Base)/1000, (c.Issue.UntilMs-conferencetest.Base)/1000))
	}
	w.changes = nil
	return lines
}

// TestAnIssueIsReportedOnce: raised while it lasts, resolved when the metric has recovered, and
// not again.
//
// spec: CONF-03
func TestAnIssueIsReportedOnce(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 20, 100, 0)
	c.Sound("a", 20, 100, 80, 20)
	c.Sound("a", 100, 200, 100, 0)
	c.Sound("b", 0, 200, 100, 0)
	w := newDriver()
	w.play(c.Events, 200)
	require.Len(t, w.changes, 2)
	raised, resolved := w.changes[0], w.changes[1]
	require.Equal(t, raised.ID, resolved.ID)
	require.Len(t, raised.ID, 32)
	require.True(t, raised.Issue.Open)
	require.False(t, raised.Again)
	require.Equal(t, [2]string{"app", "c"}, [2]string{raised.AppID, raised.ConferenceID})
	i := resolved.Issue
	require.Equal(t, []any{"inbound", "audio", int64(1), 1, "loss_fraction", "high"}, []any{i.Direction, i.MediaType, i.SSRC, i.Fabric, i.Metric, i.Confidence})
	require.InDelta(t, 0.2, i.Worst, 0.001)
	require.Less(t, raised.Issue.UntilMs, conferencetest.Base+46_000, "8 s to raise, and an interval")
	require.Equal(t, []string{"raised highPacketLoss a 20-", "resolved highPacketLoss a 20-100"}, func() []string {
		lines := w.take()
		return []string{lines[0][:len("raised highPacketLoss a 20-")], lines[1]}
	}())
	w.until(conferencetest.Base + 400_000)
	require.Len(t, w.summaries, 1)
	require.Empty(t, w.take())
}

// TestOpenIssuesEndWithTheirConference, and when their participant leaves.
//
// spec: CONF-03, CONF-02
func TestOpenIssuesEndWithTheirConference(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 60, 80, 20)
	c.Sound("b", 0, 60, 100, 0)
	w := newDriver()
	w.play(c.Events, 60)
	require.Len(t, w.take(), 1)
	w.until(conferencetest.Base + 95_000)
	require.Len(t, w.summaries, 1)
	require.Equal(t, []string{"resolved highPacketLoss a 0-60"}, w.take())

	c = conferencetest.NewCall()
	c.Sound("a", 0, 60, 80, 20)
	c.Event("a", 61, "fabricTerminated", `{"reason":"application"}`)
	c.Sound("b", 0, 200, 100, 0)
	w = newDriver()
	w.play(c.Events, 100)
	require.Len(t, w.changes, 2)
	require.Equal(t, "resolved highPacketLoss a 0-60", w.take()[1])
}

// TestHoveringIsReportedOnce: a metric near its threshold raises one issue.
//
// spec: CONF-03
func TestHoveringIsReportedOnce(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 20, 80, 20)
	for second := 20.0; second < 600; second += 4 {
		c.Sound("a", second, second+2, 97.5, 2.5) // neither
		c.Sound("a", second+2, second+4, 96, 4)
	}
	c.Sound("b", 0, 600, 100, 0)
	w := newDriver()
	w.play(c.Events, 600)
	require.Len(t, w.take(), 1)
}

// TestExcusedIssuesAreWithdrawn: the mute is reported late.
//
// spec: CONF-03
func TestExcusedIssuesAreWithdrawn(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 20, 100, 0)
	c.Sound("b", 0, 60, 100, 0)
	silent := func(from, to float64) {
		c.Sound("a", from, to, 100, 0)
		for i := range c.Events {
			if e := &c.Events[i]; e.Session == "a" && e.Index == 1 && e.AtMs > conferencetest.Base+20_000 {
				e.Measured.Set(protocol.Packets, 0)
				e.Measured.Clear(protocol.RTTMs)
			}
		}
	}
	silent(20, 60)
	w := newDriver()
	w.play(c.Events, 60)
	require.Len(t, w.changes, 1)
	require.Equal(t, string(detect.NoMedia), w.changes[0].Issue.Kind)
	id := w.changes[0].ID
	w.take()
	c.Events = nil
	c.Event("a", 19, "audioMute", `{}`)
	silent(60, 100)
	c.Sound("b", 60, 100, 100, 0)
	w.play(c.Events, 100)
	require.Len(t, w.changes, 1)
	require.Equal(t, live.IssueWithdrawn, w.changes[0].State)
	require.Equal(t, id, w.changes[0].ID)
}

// TestABacklogMakesAnotherIssueOfTheRest: an issue that silence resolved is not raised again; its
// continuation is another issue.
//
// spec: CONF-03, SRV-03
func TestABacklogMakesAnotherIssueOfTheRest(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 30, 80, 20)
	c.Sound("b", 0, 100, 100, 0)
	w := newDriver()
	w.play(c.Events, 100)
	require.Equal(t, "resolved highPacketLoss a 0-30", w.take()[1])
	c.Events = nil
	c.Sound("a", 30, 100, 80, 20) // the client was offline
	late := slices.Clone(c.Events)
	for i := range late {
		w.set.Apply(&late[i], w.now)
	}
	w.until(conferencetest.Base + 125_000)
	lines := w.take()
	require.Len(t, lines, 1)
	require.Contains(t, lines[0], "raised highPacketLoss a 30-")
}

// TestARestartReportsOpenIssuesAgain with the same IDs, marked, when their conference was read
// from the store; and none that ended long before.
//
// spec: CONF-03, SRV-03
func TestARestartReportsOpenIssuesAgain(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 30, 80, 20) // over before
	c.Sound("a", 30, 200, 100, 0)
	c.Sound("a", 200, 400, 80, 20) // still open
	c.Sound("b", 0, 400, 100, 0)
	first := newDriver()
	first.play(slices.Clone(c.Events), 300)
	reported := first.changes
	require.Len(t, reported, 3)

	second := newDriver()
	second.now = conferencetest.Base + 300_000
	second.set.CompleteSince(second.now + 90_000)
	second.set.StartedAt(second.now)
	second.refresh = func(live.Partial) {
		for i := range c.Events {
			if c.Events[i].AtMs <= second.now {
				second.set.Restore(&c.Events[i], second.now)
			}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(c.Events), func(e event.Event) bool { return e.AtMs <= second.now })
	second.play(rest, 400)
	require.Len(t, second.changes, 1)
	require.Equal(t, live.IssueRaised, second.changes[0].State)
	require.Equal(t, reported[2].ID, second.changes[0].ID)
	require.True(t, second.changes[0].Again)
	second.take()
	c.Events = nil
	c.Sound("a", 400, 440, 100, 0)
	second.play(c.Events, 440)
	require.Len(t, second.changes, 1)
	require.Equal(t, live.IssueResolved, second.changes[0].State)
	require.Equal(t, reported[2].ID, second.changes[0].ID)
}

// TestOtherCollectorsExcuse: a hold at another collector is an excuse here, and an issue stays
// raised though only the store has its remote end. Each collector reports its own issues.
//
// spec: CONF-01, CONF-03
func TestOtherCollectorsExcuse(t *testing.T) {
	f := func(held bool, want int) {
		t.Helper()
		c := conferencetest.NewCall()
		c.Sound("a", 0, 20, 100, 0)
		c.Sound("a", 20, 400, 0, 0)
		c.Sound("b", 0, 20, 100, 0)
		if held {
			c.Event("b", 19, "fabricHold", `{}`)
		}
		c.Sound("b", 20, 400, 100, 0)
		total := 0
		for _, here := range []string{"a", "b"} {
			w := newDriver()
			w.set.Shared()
			w.set.StartedAt(conferencetest.Base - 1000)
			w.refresh = func(live.Partial) {
				for i := range c.Events {
					if c.Events[i].AtMs <= w.now {
						w.set.Restore(&c.Events[i], w.now)
					}
				}
			}
			own := slices.DeleteFunc(slices.Clone(c.Events), func(e event.Event) bool { return e.Session != here })
			w.play(own, 400)
			for _, change := range w.changes {
				require.Equal(t, live.IssueRaised, change.State)
				require.Equal(t, here, change.Issue.Session)
			}
			total += len(w.changes)
		}
		require.Equal(t, want, total)
	}
	f(true, 0)
	f(false, 1)
}

// TestNoticesAreBounded, and issues without a notice are counted.
//
// spec: CONF-03
func TestNoticesAreBounded(t *testing.T) {
	w := newDriver()
	seq := uint64(0)
	left := 0
	for second := int64(2); second < 60; second += 2 {
		seq++
		for ssrc := range 200 {
			w.set.Apply(&event.Event{
				AppID: "app", ConferenceID: "c", Session: "a", Seq: seq, Index: ssrc, Fabric: 1, ConferenceAtMs: conferencetest.Base, AtMs: conferencetest.Base + second*1000,
				Kind: event.KindStats, Measured: new(eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "video", SSRC: int64(ssrc), IntervalMs: 2000}, eventtest.Values{protocol.Packets: 80, protocol.PacketsLost: 20})),
			}, conferencetest.Base+second*1000)
		}
		found := w.set.Evaluate(conferencetest.Base+second*1000, 10)
		w.changes, left = append(w.changes, found.Changes...), max(left, found.Left)
	}
	require.Len(t, w.changes, 64)
	require.Equal(t, 136, left)
}

// TestEvaluationsAreSpreadOut, at most one in an interval, and none of conferences without faults
// or after their end.
//
// spec: CONF-03
func TestEvaluationsAreSpreadOut(t *testing.T) {
	set := live.NewSet(live.Config{MaxConferences: 10_000, KeepEndedMs: 60_000, Labels: quality.DefaultBounds(), EvaluateMs: 15_000})
	const calls = 3000
	measure := func(at int64, lost float64) {
		for c := range calls {
			set.Apply(&event.Event{
				AppID: "app", ConferenceID: strconv.Itoa(c), Session: "s" + strconv.Itoa(c), Seq: uint64(at-conferencetest.Base) / 1000, Fabric: 1, ConferenceAtMs: conferencetest.Base, AtMs: at, Kind: event.KindStats,
				Measured: new(eventtest.With(event.Measurement{StatsType: "inbound-rtp", MediaType: "audio", SSRC: 1, IntervalMs: 5000}, eventtest.Values{protocol.Packets: 100 - lost, protocol.PacketsLost: lost})),
			}, at)
		}
	}
	evaluations := func(from, to int64, lost float64) (most, all int) {
		for at := from; at < to; at += 1000 {
			if at%5000 == 0 {
				measure(at, lost)
			}
			found := set.Evaluate(at, calls)
			most, all = max(most, found.Conferences), all+found.Conferences
		}
		return most, all
	}
	_, all := evaluations(conferencetest.Base, conferencetest.Base+60_000, 0)
	require.Zero(t, all)
	most, all := evaluations(conferencetest.Base+60_000, conferencetest.Base+120_000, 20)
	require.InDelta(t, 4*calls, all, calls)
	require.Less(t, most, calls/15*3/2)
	tick(set, conferencetest.Base+200_000)
	_, all = evaluations(conferencetest.Base+200_000, conferencetest.Base+201_000, 0)
	require.Equal(t, calls, all, "open issues are resolved at the end")
	_, all = evaluations(conferencetest.Base+201_000, conferencetest.Base+260_000, 0)
	require.LessOrEqual(t, all, calls)
}

// TestAnIssueThatMovesIsReportedOnce: a change of devices belongs to the conference that is there, until another one of
// that ID begins nearer to the time that it is about.
//
// spec: CONF-03
func TestAnIssueThatMovesIsReportedOnce(t *testing.T) {
	c := conferencetest.NewCall()
	c.Sound("a", 0, 7, 100, 0)
	devices := func(second float64, name string, about int64) {
		c.Event("a", second, "activeDeviceList", `{"deviceList":[{"deviceId":"`+name+`"}]}`)
		e := &c.Events[len(c.Events)-1]
		e.Fabric, e.ConferenceAtMs = 0, conferencetest.Base+about
	}
	devices(47, "x", 78_450)
	devices(47.8, "y", 78_450)
	c.Sound("a", 66, 80, 100, 0)
	w := newDriver()
	w.play(c.Events, 200)
	require.Equal(t, []string{"raised deviceChange a 47-47", "resolved deviceChange a 47-47"}, w.take())
	starts := map[int64]bool{}
	for _, s := range w.summaries {
		starts[s.StartMs] = true
	}
	require.Len(t, starts, 2, "two conferences")
}

// TestReportsAreInOrder: for any records in any order each issue is raised once, ends at most
// once, and has ended when its conference has.
//
// spec: CONF-03, SRV-03
func TestReportsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := conferencetest.Events(t, 120_000)
		inOrder := rapid.Bool().Draw(t, "in order")
		w := newDriver()
		if inOrder {
			w.play(slices.Clone(events), 120)
		} else {
			for _, e := range conferencetest.Shuffled(t, events) {
				w.until(w.now + rapid.Int64Range(0, 8000).Draw(t, "later"))
				w.set.Apply(&e, max(w.now, e.AtMs))
			}
		}
		w.until(w.now + 400_000)
		state := map[string]live.IssueState{}
		kinds := map[string]bool{}
		for _, c := range w.changes {
			was, known := state[c.ID]
			require.Equal(t, c.State != live.IssueRaised, known, "raised first, and once")
			if known {
				require.Equal(t, live.IssueRaised, was, "it ends once")
			}
			state[c.ID], kinds[c.Issue.Kind] = c.State, true
			require.LessOrEqual(t, c.Issue.SinceMs, c.Issue.UntilMs)
		}
		for id, s := range state {
			require.NotEqual(t, live.IssueRaised, s, id)
		}
		if !inOrder {
			return
		}
		for _, s := range w.summaries {
			for _, i := range s.Issues {
				never := i.Kind == string(detect.LowQuality) || i.Kind == string(detect.DeviceChange) && i.Fabric == 0 // of a session without fabrics
				require.True(t, never || kinds[i.Kind], "%s is in the summary", i.Kind)
			}
		}
	})
}
