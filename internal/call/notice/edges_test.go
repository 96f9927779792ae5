package notice

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A part of a window that a clock which was ahead left behind does not hide what is counted now.
//
// spec: OUT-02
func TestPartsOfAnotherTime(t *testing.T) {
	w := newWindow(time.Hour)
	ahead := noon.Add(time.Duration(len(w.parts)) * w.width) // the same slot
	w.add(ahead, ahead, true)
	w.add(noon, noon, true)
	w.add(noon, noon, false)
	count, total, _ := w.sum(noon)
	require.Equal(t, []int{1, 2}, []int{count, total})
}

// A reason whose windows are switched off counts nothing, and what was counted before notifies no more.
//
// spec: OUT-02
func TestIntervalOff(t *testing.T) {
	rules := DefaultRules()
	rules[0].MinSamples = 4
	tr := NewTracker(func(string) *Rules { return &rules })
	tr.conferences(4, noon, "totallyFailed")
	rules[0].Interval = false
	require.Empty(t, tr.step(noon))
	off := NewTracker(func(string) *Rules { return &rules })
	off.conferences(4, noon, "totallyFailed")
	require.Nil(t, off.app("demo").windows[FailedConferences.index()])
	require.NotNil(t, off.app("demo").windows[DroppedConferences.index()])
}

// With a recovery of 0 a reason recovers when its share is first found at most at the threshold.
//
// spec: OUT-02
func TestRecoveryAtOnce(t *testing.T) {
	tr := tracker(func(r *Rules) { r[0].Recovery = 0 })
	tr.conferences(4, noon, "totallyFailed")
	require.Len(t, tr.step(noon), 1)
	changes := tr.step(noon.Add(2 * time.Hour))
	require.Len(t, changes, 1)
	require.True(t, changes[0].Resolved)
}

// A clock that is set back for years delays recovery and the next notification by their times alone.
//
// spec: OUT-02
func TestTimesAfterAClockJump(t *testing.T) {
	change := func(r *Rules) {
		r[0].Window, r[0].HoldDown, r[0].Recovery = 10*time.Minute, 30*time.Minute, 5*time.Minute
	}
	back := noon.AddDate(-10, 0, 0)
	tr := tracker(change)
	tr.conferences(4, noon, "totallyFailed")
	require.Len(t, tr.step(noon), 1)
	require.Empty(t, tr.step(noon.Add(time.Hour)), "below since now")
	require.Empty(t, tr.step(back))
	changes := tr.step(back.Add(5 * time.Minute))
	require.Len(t, changes, 1)
	require.True(t, changes[0].Resolved)

	require.Empty(t, tr.step(back.Add(6*time.Minute)))
	tr.conferences(4, back.Add(29*time.Minute), "totallyFailed")
	require.Empty(t, tr.step(back.Add(29*time.Minute)), "held down since the clock was set back")
	tr.conferences(4, back.Add(30*time.Minute), "totallyFailed")
	require.Len(t, tr.step(back.Add(30*time.Minute)), 1)
}

// An app without a state gets one.
func TestRestoreNothing(t *testing.T) {
	tr := tracker(nil)
	tr.Restore("demo", nil)
	tr.conferences(4, noon, "totallyFailed")
	require.Len(t, tr.step(noon), 1)
	require.Equal(t, 1, tr.Statuses("demo")[FailedConferences].Episode)
}

// The measures of a conference are the worst of candidate pairs and streams.
//
// spec: OUT-05
func TestWorstOfPairsAndStreams(t *testing.T) {
	f, _, err := ReadSummary([]byte(`{"outcome":"success","setupMs":[],"participants":[{"session":"s","feedback":[],"fabrics":[
		{"candidatePair":{"rttMs":{"p50":400}},"streams":[{"rttMs":{"p50":20},"lossFraction":0.01},{"lossFraction":0.005}]}]}]}`))
	require.NoError(t, err)
	require.Equal(t, Fact{Outcome: "success", RTTMs: new(400.0), Loss: new(0.01)}, f)
}

// PagerDuty joins events of one incident: an episode, or a conference, is another one.
//
// spec: OUT-02
func TestIncidents(t *testing.T) {
	c := Change{AppID: "demo", Reason: FailedConferences, Next: Status{Episode: 1}, From: noon, To: noon}
	first := Interval(c, "https://q.example").Incident
	c.Next.Episode = 2
	require.NotEqual(t, first, Interval(c, "https://q.example").Incident)

	individual := func(start time.Time) string {
		return Individual("demo", "daily", start, start, FailedConferences, 0, Fact{}, "https://q.example").Incident
	}
	require.NotEqual(t, individual(noon), individual(noon.Add(24*time.Hour)), "the same ID another day")
	require.Equal(t, individual(noon), individual(noon.In(time.Local)))
}

// The period of a body is that of its message.
func TestPeriodOfABody(t *testing.T) {
	m := Interval(Change{AppID: "demo", Reason: LowQuality, From: noon, To: noon.Add(1500 * time.Millisecond)}, "https://q.example")
	body, err := (&Hook{}).Body(m, noon)
	require.NoError(t, err)
	var native struct{ Period struct{ Start, End int64 } }
	require.NoError(t, json.Unmarshal(body, &native))
	require.Equal(t, []int64{noon.Unix(), noon.Unix() + 2}, []int64{native.Period.Start, native.Period.End}, "the part of a second is within")
}
