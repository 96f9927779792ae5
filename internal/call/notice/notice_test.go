package notice

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var noon = time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)

const summary = `{"appID":"demo","outcome":"partiallyFailed","setupMs":[120,4000.5,30],"mos":3.1,"participants":[
	{"session":"s1","fabrics":[{"candidatePair":{"rttMs":{"p50":80,"p95":900},"lossFraction":null},
		"streams":[{"lossFraction":0.02,"rttMs":{"p50":310.5}},{"lossFraction":0.07,"rttMs":null}]},{"candidatePair":null,"streams":[]}],
	 "feedback":[{"atMs":5,"overall":2},{"atMs":6,"overall":null},{"seq":9,"index":1,"atMs":7,"overall":5}]},
	{"session":"s2","fabrics":[],"feedback":[]}]}`

// spec: OUT-05
func TestReadSummary(t *testing.T) {
	f, ratings, err := ReadSummary([]byte(summary))
	require.NoError(t, err)
	require.Equal(t, Fact{Outcome: "partiallyFailed", SetupMs: new(4000.5), RTTMs: new(310.5), Loss: new(0.07), MOS: new(3.1)}, f)
	require.Equal(t, []Rated{{Session: "s1", AtMs: 5, Overall: 2}, {Session: "s1", AtMs: 7, Overall: 5, Seq: 9, Index: 1}}, ratings)
	f, ratings, err = ReadSummary([]byte(`{"outcome":"missed","setupMs":[],"mos":null,"participants":[]}`))
	require.NoError(t, err)
	require.Equal(t, Fact{Outcome: "missed"}, f)
	require.Empty(t, ratings)
	for _, bad := range []string{``, `[]`, `{"outcome":5}`, `{}`, `{"outcome":"` + strings.Repeat("x", 1<<20) + `"}`} {
		_, _, err := ReadSummary([]byte(bad))
		require.Error(t, err)
		require.Less(t, len(err.Error()), 200)
	}
}

// Each reason has its own samples and its own limit, which is exclusive but for ratings.
//
// spec: OUT-02, OUT-05
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		reason           Reason
		limit            float64
		past, not, other Fact
	}{
		{FailedConferences, 0, Fact{Outcome: "totallyFailed"}, Fact{Outcome: "partiallyFailed"}, Fact{Rating: new(1)}},
		{PartiallyFailedConferences, 0, Fact{Outcome: "partiallyFailed"}, Fact{Outcome: "totallyFailed"}, Fact{Rating: new(1)}},
		{DroppedConferences, 0, Fact{Outcome: "dropped"}, Fact{Outcome: "aborted"}, Fact{}},
		{HighSetupDelays, 5000, Fact{SetupMs: new(5000.1)}, Fact{SetupMs: new(5000.0)}, Fact{Outcome: "totallyFailed"}},
		{HighRoundTripTime, 300, Fact{RTTMs: new(301.0)}, Fact{RTTMs: new(300.0)}, Fact{Outcome: "success"}},
		{HighPacketLoss, 0.05, Fact{Loss: new(0.051)}, Fact{Loss: new(0.05)}, Fact{Outcome: "success"}},
		{LowQuality, 3.2, Fact{MOS: new(3.19)}, Fact{MOS: new(3.2)}, Fact{Outcome: "success"}},
		{DissatisfactoryUserFeedback, 2, Fact{Rating: new(2)}, Fact{Rating: new(3)}, Fact{Outcome: "totallyFailed"}},
	} {
		require.True(t, c.past.Measured(c.reason) && c.past.Counts(c.reason, c.limit), c.reason)
		require.True(t, c.not.Measured(c.reason) && !c.not.Counts(c.reason, c.limit), c.reason)
		require.False(t, c.other.Measured(c.reason) || c.other.Counts(c.reason, c.limit), c.reason)
	}
	require.Len(t, Reasons, reasons)
	require.False(t, Fact{Outcome: "x"}.Measured(Test))
}

// at is a tracker whose only rule is failedConferences, above 10 % of at least 4.
func tracker(change func(*Rules)) *Tracker {
	rules := DefaultRules()
	for i := range rules {
		rules[i].Interval = false
	}
	rules[0].Threshold, rules[0].MinSamples, rules[0].Interval, rules[0].Individual = 0.1, 4, true, false
	if change != nil {
		change(&rules)
	}
	return NewTracker(func(string) *Rules { return &rules })
}

func (t *Tracker) conferences(n int, at time.Time, outcome string) {
	for range n {
		t.Add("demo", at, at, Fact{Outcome: outcome})
	}
}

func (t *Tracker) step(at time.Time) []Change {
	changes := t.Evaluate(at)
	for _, c := range changes {
		t.Commit(c)
	}
	return changes
}

// One failure of two at night notifies nobody; the threshold itself does not either.
//
// spec: OUT-02
func TestThreshold(t *testing.T) {
	tr := tracker(nil)
	tr.conferences(1, noon, "totallyFailed")
	tr.conferences(1, noon, "success")
	require.Empty(t, tr.step(noon))
	tr.conferences(8, noon, "success")
	require.Empty(t, tr.step(noon), "1 of 10 is the threshold, not above it")
	tr.conferences(1, noon, "totallyFailed")
	changes := tr.step(noon)
	require.Len(t, changes, 1)
	c := changes[0]
	require.Equal(t, Change{
		AppID: "demo", Reason: FailedConferences, Next: Status{Episode: 1, Firing: true, TriggeredMs: noon.UnixMilli()}, Count: 2, Total: 11,
		Rule: Rule{Threshold: 0.1, MinSamples: 4, Interval: true, Window: time.Hour, HoldDown: 15 * time.Minute, Recovery: 5 * time.Minute}, From: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC), To: noon, Last: noon,
	}, c)
	require.Empty(t, tr.step(noon), "a notification leaves once")
}

// The window is of event time: what ended before it is not counted, what arrives late but ended
// within it is, and a time of the near future counts now.
//
// spec: OUT-02
func TestWindow(t *testing.T) {
	tr := tracker(nil)
	add := func(at time.Time) { tr.Add("demo", at, noon, Fact{Outcome: "totallyFailed"}) }
	add(noon.Add(-61 * time.Minute))
	add(noon.Add(-25 * time.Hour))
	add(noon.Add(-59 * time.Minute))
	add(noon.Add(time.Minute))
	add(noon)
	require.Empty(t, tr.step(noon), "3 samples")
	add(noon.Add(-time.Minute))
	changes := tr.step(noon)
	require.Len(t, changes, 1)
	require.Equal(t, 4, changes[0].Count)
	later := noon.Add(59 * time.Minute)
	require.Empty(t, tr.step(later))
	count, total, _ := tr.app("demo").windows[0].sum(later.Add(3 * time.Minute))
	require.Zero(t, count+total, "all have left the window")
	for at, want := range map[time.Duration]Timing{0: InTime, -MaxLate: InTime, -MaxLate - 1: Late, MaxAhead: InTime, MaxAhead + 1: Ahead} {
		require.Equal(t, want, TimingOf(noon.Add(at), noon), at)
	}
	require.Equal(t, Late, TimingOf(time.Unix(0, 0), noon))
	require.Equal(t, Ahead, TimingOf(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), noon))
}

// A share that falls for a moment is no recovery, and hold-down keeps the next notification back.
//
// spec: OUT-02
func TestHoldDownAndRecovery(t *testing.T) {
	tr := tracker(func(r *Rules) {
		r[0].Window, r[0].HoldDown, r[0].Recovery = 10*time.Minute, 30*time.Minute, 5*time.Minute
	})
	at := func(minutes float64) time.Time { return noon.Add(time.Duration(minutes * float64(time.Minute))) }
	tr.conferences(4, at(0), "totallyFailed")
	require.Len(t, tr.step(at(0)), 1)
	tr.conferences(40, at(1), "success")
	require.Empty(t, tr.step(at(1)), "at the threshold since now")
	tr.conferences(4, at(4), "totallyFailed")
	require.Empty(t, tr.step(at(4)), "above again")
	require.Empty(t, tr.step(at(16)), "nothing counted since now")
	require.Empty(t, tr.step(at(20.9)))
	changes := tr.step(at(21))
	require.Len(t, changes, 1)
	require.True(t, changes[0].Resolved)
	require.Equal(t, Status{Episode: 1, TriggeredMs: at(0).UnixMilli()}, changes[0].Next)
	tr.conferences(4, at(22), "totallyFailed")
	require.Empty(t, tr.step(at(22)), "held down")
	tr.conferences(4, at(29.9), "totallyFailed")
	require.Empty(t, tr.step(at(29.9)))
	changes = tr.step(at(30))
	require.Len(t, changes, 1)
	require.Equal(t, 2, changes[0].Next.Episode)
	require.False(t, changes[0].Resolved)
}

// A restart goes on where the state was; a change that was not committed is found again, under the
// same episode.
//
// spec: OUT-03
func TestRestoreAndRepeat(t *testing.T) {
	tr := tracker(nil)
	tr.conferences(4, noon, "totallyFailed")
	first := tr.Evaluate(noon)
	require.Len(t, first, 1)
	require.Equal(t, first[0].Next.Episode, tr.Evaluate(noon.Add(time.Second))[0].Next.Episode)
	tr.Commit(first[0])
	next := tracker(nil)
	next.Restore("demo", tr.Statuses("demo"))
	next.conferences(4, noon, "totallyFailed")
	require.Empty(t, next.step(noon.Add(time.Minute)))
	next.Retain(func(string) bool { return false })
	require.Empty(t, next.apps)
}

// A clock that is set back for years neither panics nor silences for years.
func TestClockJumps(t *testing.T) {
	tr := tracker(nil)
	for _, now := range []time.Time{noon, noon.AddDate(74, 0, 0), noon.AddDate(-20, 0, 0), time.Unix(0, 0), noon} {
		tr.conferences(4, now, "totallyFailed")
		tr.step(now)
	}
	for i := range 25 {
		tr.step(noon.Add(time.Duration(i) * time.Minute * 5))
	}
	later := noon.Add(3 * time.Hour)
	tr.conferences(9, later, "totallyFailed")
	require.Len(t, tr.step(later), 1)
}

// The sums of a window are those of a plain list, whatever the order of arrival.
func TestWindowProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := time.Duration(rapid.IntRange(1, 90).Draw(t, "minutes")) * time.Minute
		w := newWindow(length)
		now := noon
		var ended []time.Time
		var counts []bool
		for range rapid.IntRange(0, 40).Draw(t, "facts") {
			now = now.Add(time.Duration(rapid.IntRange(0, 600).Draw(t, "pause")) * time.Second)
			at := now.Add(-time.Duration(rapid.IntRange(0, 7200).Draw(t, "age")) * time.Second)
			ended, counts = append(ended, at), append(counts, rapid.Bool().Draw(t, "counts"))
			w.add(at, now, counts[len(counts)-1])
		}
		count, total, from := w.sum(now)
		wantCount, wantTotal := 0, 0
		for i, at := range ended {
			if at.Before(from) {
				continue
			}
			wantTotal++
			if counts[i] {
				wantCount++
			}
		}
		require.Equal(t, []int{wantCount, wantTotal}, []int{count, total})
		require.LessOrEqual(t, now.Sub(from), length+max(length/buckets, time.Second))
		require.GreaterOrEqual(t, now.Sub(from), length)
	})
}

// spec: OUT-02, OUT-04
func TestNativeBody(t *testing.T) {
	c := Change{AppID: "a&b", Reason: HighPacketLoss, Count: 3, Total: 12, Rule: Rule{Threshold: 0.1, Limit: 0.05}, From: noon.Add(-time.Hour), To: noon}
	m := Interval(c, "https://qos.example/dash/")
	hook := Hook{ID: "h", Format: ""}
	body, err := hook.Body(m, time.Unix(1800000000, 999))
	require.NoError(t, err)
	require.JSONEq(t, `{"reason":"highPacketLoss","timestamp":1800000000,"appId":"a&b","triggerType":"interval","actualValue":3,"threshold":0.1,
		"fractionalValue":0.25,"period":{"start":1772362830,"end":1772366431},
		"url":"https://qos.example/dash/search?app=a%26b&from=1772362830000&past=0.05&reason=highPacketLoss&to=1772366431000",
		"text":"3 of 12 conferences of app a&b had a packet loss above 5.0 % (25.0 %, above the threshold of 10.0 %) from 2026-03-01 11:00:30 to 2026-03-01 12:00:31 UTC."}`, string(body))
	var keys map[string]any
	require.NoError(t, json.Unmarshal(body, &keys))
	require.Len(t, keys, 10)
	c.Reason = FailedConferences
	require.Contains(t, Interval(c, "https://qos.example").URL, "/search?app=a%26b&from=1772362830000&outcome=totallyFailed&reason=failedConferences&to=")
}

// spec: OUT-02, OUT-05
func TestIndividualBody(t *testing.T) {
	start := time.UnixMilli(1772366430123)
	m := Individual("demo", "stand up/1", start, start.Add(90*time.Second), FailedConferences, 0, Fact{Outcome: "totallyFailed"}, "http://localhost:8481")
	require.Equal(t, []any{TriggerIndividual, 1, 1.0, 1.0, int64(1772366430), int64(1772366520)}, []any{m.TriggerType, m.Actual, m.Threshold, m.Fraction, m.Start, m.End})
	u, err := url.Parse(m.URL)
	require.NoError(t, err)
	require.Equal(t, "/search", u.Path)
	require.Equal(t, url.Values{"app": {"demo"}, "id": {"stand up/1"}, "from": {"1772366430123"}, "to": {"1772366430124"}}, u.Query())
	require.Equal(t, "Conference stand up/1 of app demo, which started at 2026-03-01 12:00:30 UTC, failed.", m.Text)
	bad := Individual("demo", "c", start, start, DissatisfactoryUserFeedback, 2, Fact{Rating: new(1)}, "http://x")
	require.Contains(t, bad.Text, "was rated 1 of 5.")
	body, err := m.Encode()
	require.NoError(t, err)
	back, err := DecodeMessage(body)
	require.NoError(t, err)
	require.Equal(t, m, back)
}

// Resolve notices have templates, and no native form. Ids of clients cannot mention or link.
//
// spec: OUT-05
func TestTemplates(t *testing.T) {
	c := Change{AppID: "<!channel>", Reason: FailedConferences, Count: 3, Total: 4, Next: Status{Episode: 7}, From: noon, To: noon}
	fired := Interval(c, "https://q.example")
	c.Resolved = true
	resolved := Interval(c, "https://q.example")
	render := func(f Format, m Message) string {
		h := Hook{Format: f, Secrets: []string{"the-integration-key"}}
		require.True(t, h.Takes(m))
		body, err := h.Body(m, noon)
		require.NoError(t, err)
		require.True(t, json.Valid(body))
		return string(body)
	}
	var slack struct {
		Text   string
		Blocks []struct{ Text struct{ Text string } }
	}
	require.NoError(t, json.Unmarshal([]byte(render(Slack, fired)), &slack))
	require.Contains(t, slack.Blocks[0].Text.Text, "&lt;!channel&gt;")
	require.NotContains(t, slack.Text+slack.Blocks[0].Text.Text, "<!channel")
	require.NotContains(t, render(Teams, fired), `"TextBlock"`)
	require.Contains(t, render(Teams, resolved), "Resolved: failedConferences")
	var pages [2]struct {
		Key     string `json:"routing_key"`
		Action  string `json:"event_action"`
		Dedup   string `json:"dedup_key"`
		Payload struct{ Summary, Source, Severity string }
	}
	require.NoError(t, json.Unmarshal([]byte(render(PagerDuty, fired)), &pages[0]))
	require.NoError(t, json.Unmarshal([]byte(render(PagerDuty, resolved)), &pages[1]))
	require.Equal(t, []string{"trigger", "resolve"}, []string{pages[0].Action, pages[1].Action})
	require.Equal(t, pages[0].Dedup, pages[1].Dedup)
	require.NotEmpty(t, pages[0].Dedup)
	require.Equal(t, "the-integration-key", pages[0].Key)
	require.Equal(t, fired.Text, pages[0].Payload.Summary)
	for _, f := range []Format{"", Native} {
		require.False(t, (&Hook{Format: f}).Takes(resolved))
		require.True(t, (&Hook{Format: f}).Takes(fired))
	}
}

func TestID(t *testing.T) {
	ids := []string{ID("a", "b"), ID("ab"), ID("a", "b", ""), ID("", "a", "b"), ID("b", "a")}
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 5)
	require.Regexp(t, "^msg_[0-9a-f]{32}$", ID("a"))
}

// Whatever samples a window has, late, at its edge or ahead of the clock, its link has all of them, none before it, and none
// that ends after the last and is recorded later. Every link of the package is a search.
//
// spec: OUT-04
func TestLinkEndsWithTheLastSample(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		reason := rapid.SampledFrom(Reasons[:]).Draw(r, "reason")
		length := time.Duration(rapid.IntRange(0, 60_000).Draw(r, "length")) * time.Millisecond
		rules := DefaultRules()
		for i := range rules {
			rules[i].Threshold, rules[i].MinSamples, rules[i].Individual = 0, 1, false
			rules[i].Window = time.Hour + length
		}
		tr := NewTracker(func(string) *Rules { return &rules })
		f := Fact{Outcome: outcomes[reason], SetupMs: new(9e3), RTTMs: new(9e3), Loss: new(0.9), MOS: new(1.0), Rating: new(1), PreCall: new(true), Providers: map[string]bool{"eu": true}}
		var ends []time.Time
		_, _, begin := newWindow(rules[0].Window).sum(noon)
		for range rapid.IntRange(1, 9).Draw(r, "samples") {
			edge := begin.Add(time.Duration(rapid.IntRange(-1000, 500).Draw(r, "edge")) * time.Millisecond).Truncate(time.Millisecond).Sub(noon)
			at := noon.Add(rapid.SampledFrom([]time.Duration{edge, edge, -50 * time.Minute, -time.Minute, -time.Second, -time.Millisecond, 0, time.Minute}).Draw(r, "at"))
			tr.Add("demo", at, noon, f)
			ends = append(ends, at)
		}
		for _, c := range tr.Evaluate(noon) {
			u, err := url.Parse(Interval(c, "https://qos.example.org/dash/").URL)
			require.NoError(r, err)
			require.Equal(r, "/dash/search", u.Path)
			require.Equal(r, string(c.Reason), u.Query().Get(ParameterReason))
			from, to := u.Query().Get("from"), u.Query().Get("to")
			last, linked := ends[0], 0
			for _, at := range ends {
				if from <= ms(at) && ms(at) < to {
					linked++
				}
				last = later(last, at)
			}
			require.Equal(r, c.Total, linked)
			require.Equal(r, ms(last.Add(time.Millisecond)), to)
		}
	})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
