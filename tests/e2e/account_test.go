package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/browser"
)

// held is what the store holds of one conference.
type held struct {
	conference storage.Conference
	summary    conference.Summary
	sessions   map[string][]storage.Record
}

// awaits waits until the conference has ended and its summary knows the feedback of who
// hung up, which comes after that.
//
// spec: CONF-02
func (one *story) awaits(t *testing.T) {
	t.Helper()
	ratings := 0
	for _, last := range one.tabs {
		if last.Finished != "" {
			ratings++
		}
	}
	c := one.stores.collectors[0]
	browser.Eventually(t, patience, one.tab.room+" has its summary", func() (bool, string) {
		var answer struct{ Conferences []row }
		c.ask("/api/conferences", url.Values{"app": {appID}, "id": {one.tab.room}}, &answer)
		if len(answer.Conferences) != 1 || answer.Conferences[0].State != "ended" {
			return false, fmt.Sprintf("%+v", answer.Conferences)
		}
		var d detail
		at := strconv.FormatInt(answer.Conferences[0].StartAt, 10)
		c.ask("/api/conference", url.Values{"app": {appID}, "id": {one.tab.room}, "at": {at}}, &d)
		return d.Summary.Feedback.Count == ratings, jsonOf(d.Summary.Feedback)
	})
}

// check holds the store against what went over the wire, and against what the pages said.
func (one *story) check(t *testing.T) {
	t.Helper()
	sent, faults := one.tab.front.wire.all()
	require.Empty(t, faults)
	h := one.read(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(sent)), slices.Collect(maps.Keys(h.sessions)))
	require.Len(t, h.sessions, len(one.tabs), "a session for each page")
	again := 0
	for session, own := range sent {
		require.Empty(t, own.nacks)
		again += own.again
		one.checkNumbers(t, own, h.sessions[session])
		one.checkTimes(t, h.sessions[session])
	}
	if one.resent {
		require.Positive(t, again, "nothing was sent twice: this proves less than it says")
	}
	for _, last := range one.tabs {
		one.checkTicks(t, last, h)
	}
	checkSummary(t, h)
	require.Equal(t, one.outcome, string(h.summary.Outcome))
	t.Logf("%d sessions, %d frames sent again, lost %d measurements and %d events, revision %d",
		len(sent), again, h.summary.LostMeasurements, h.summary.LostEvents, h.summary.Revision)
}

// read reads the one conference of that name.
func (one *story) read(t *testing.T) *held {
	t.Helper()
	store, err := one.stores.open(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	page, err := store.Conferences(t.Context(), storage.Query{AppID: appID, ConferenceID: one.tab.room})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 1)
	ref := storage.Ref{AppID: appID, ConferenceID: one.tab.room, At: page.Conferences[0].Start}
	h := &held{sessions: map[string][]storage.Record{}}
	h.conference, err = store.Conference(t.Context(), ref)
	require.NoError(t, err)
	require.NotNil(t, h.conference.Summary)
	require.NoError(t, json.Unmarshal(h.conference.Summary.Document, &h.summary))
	require.NoError(t, store.Records(t.Context(), ref, func(session string, r storage.Record) bool {
		h.sessions[session] = append(h.sessions[session], r)
		return true
	}))
	return h
}

// checkNumbers: each number once, none missing, nothing that was not sent, and all that
// was acknowledged.
//
// spec: SRV-03, STAT-07
func (one *story) checkNumbers(t *testing.T, own *spoken, records []storage.Record) {
	t.Helper()
	type identity struct {
		seq   uint64
		index int
	}
	seen := map[identity]bool{}
	covered := map[uint64]bool{}
	for _, r := range records {
		require.False(t, seen[identity{r.Seq, r.Index}], "number %d, record %d stands twice", r.Seq, r.Index)
		seen[identity{r.Seq, r.Index}] = true
		first := r.Seq
		if r.Name == semconv.EventSkip {
			first = own.froms[r.Seq]
			require.Equal(t, int64(first), r.Attributes[semconv.SkipFrom])
		}
		for n := first; n <= r.Seq; n++ {
			covered[n] = true
		}
		checkContent(t, own.texts[r.Seq], &r)
	}
	last := slices.Max(slices.Collect(maps.Keys(covered)))
	require.Len(t, covered, int(last), "numbers are missing")
	require.GreaterOrEqual(t, last, own.acked, "acknowledged")
	if !one.killed {
		require.Equal(t, slices.Max(slices.Collect(maps.Keys(own.texts))), last, "the last number that was sent")
	}
}

// checkContent holds a record against the frame that it came in.
func checkContent(t *testing.T, text string, r *storage.Record) {
	t.Helper()
	var frame struct {
		Type  string          `json:"type"`
		At    int64           `json:"at"`
		Event string          `json:"event"`
		Data  json.RawMessage `json:"data"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &frame), "number %d was never sent: %s", r.Seq, text)
	require.Equal(t, "qos."+frame.Type, r.Name)
	require.Equal(t, frame.At, r.At.UnixMilli())
	if frame.Type == "event" {
		require.Equal(t, frame.Event, r.Attributes[semconv.EventName])
		require.JSONEq(t, cutAddresses(t, frame.Data), r.Attributes[semconv.EventData].(string))
	}
}

// cutAddresses is the data of an event with the addresses as the receiver keeps them: IPv4 /24,
// and no member where there is none.
func cutAddresses(t *testing.T, text []byte) string {
	t.Helper()
	var data map[string]any
	require.NoError(t, json.Unmarshal(text, &data))
	cut := func(address any) any {
		prefix, err := netip.MustParseAddr(address.(string)).Prefix(24)
		require.NoError(t, err)
		return prefix.Addr().String()
	}
	for _, name := range []string{"localAddress", "relatedAddress"} {
		if address, there := data[name]; there && address != nil {
			data[name] = cut(address)
		} else {
			delete(data, name)
		}
	}
	all, _ := data["localAddresses"].([]any)
	for i := range all {
		all[i] = cut(all[i])
	}
	if len(all) == 0 {
		delete(data, "localAddresses")
	}
	return jsonOf(data)
}

// begun is when these tests were started: nothing is older.
var begun = time.Now()

// checkTimes: no record is from before the tests or after its arrival; checkTicks is exact.
func (one *story) checkTimes(t *testing.T, records []storage.Record) {
	t.Helper()
	for _, r := range records {
		// Clocks are compared by an exchange, which takes long on a busy machine, but no hour.
		const exchange = time.Minute
		require.WithinRange(t, r.At, begun.Add(-exchange), r.ObservedAt.Add(exchange), "number %d", r.Seq)
	}
}

// pauseMs is for how long a busy machine may pause a page between two lines of its script.
const pauseMs = 500

// checkTicks holds the store against what the page counted, and when: the page's own clock was
// set by hours meanwhile.
func (one *story) checkTicks(t *testing.T, last tabAccount, h *held) {
	t.Helper()
	counts := map[string]map[int]bool{"tick": {}, "filler": {}}
	between := false // the machine fell asleep between two lines of the page's script
	for _, records := range h.sessions {
		for _, r := range records {
			var data struct {
				Name, Run string
				N         int
				At        float64 // by the clock of this machine, which is the collector's too
			}
			if r.Attributes[semconv.EventName] != "customEvent" ||
				json.Unmarshal([]byte(r.Attributes[semconv.EventData].(string)), &data) != nil || data.Run != last.Run {
				continue
			}
			require.False(t, counts[data.Name][data.N], "%s %d stands twice", data.Name, data.N)
			counts[data.Name][data.N] = true
			if data.Name == "tick" && last.ExchangeMs > 0 { // other pages than tab.html measure no exchanges
				late := float64(r.At.UnixMilli()) - data.At
				if slept := float64(one.tab.asleep.Milliseconds()); slept > 0 && late > slept/2 && !between {
					late, between = late-slept, true
				}
				require.InDelta(t, 0, late, last.ExchangeMs/2+pauseMs, "the time of tick %d", data.N)
			}
		}
	}
	ticks, fillers := counts["tick"], counts["filler"]
	switch {
	case one.killed:
		require.NotEmpty(t, ticks)
		require.Len(t, ticks, slices.Max(slices.Collect(maps.Keys(ticks))), "a tick is missing in between")
	case one.dropped:
		require.Positive(t, h.summary.LostEvents)
		require.Positive(t, h.summary.LostMeasurements, "measurements go first")
		require.Equal(t, last.Ticks+last.Filled, len(ticks)+len(fillers)+h.summary.LostEvents, "declared, or there")
	default:
		require.Zero(t, h.summary.LostEvents+h.summary.LostMeasurements)
		require.Len(t, ticks, last.Ticks)
		require.Equal(t, last.Ticks, slices.Max(slices.Collect(maps.Keys(ticks))))
	}
}

// checkSummary: the counts of the summary are those of the records.
//
// spec: CONF-02, STAT-07
func checkSummary(t *testing.T, h *held) {
	t.Helper()
	names := map[string]int{}
	intervals := map[string]int{}
	var lost event.Lost
	start, end := time.Unix(1<<40, 0), time.Time{}
	for session, records := range h.sessions {
		for _, r := range records {
			names[r.Name]++
			switch r.Name {
			case semconv.EventStats:
				ssrc, _ := r.Attributes[eventtest.Stats("ssrc")].(int64)
				if kind, ok := r.Attributes[semconv.StatsType].(string); ok { // else the frame had no rows
					intervals[streamName(session, r.Fabric, kind, ssrc)]++
				}
			case semconv.EventSkip:
				lost.Stats += integer(r.Attributes[semconv.SkipStats])
				lost.Events += integer(r.Attributes[semconv.SkipEvents])
			}
			if r.Activity && r.At.Before(start) {
				start = r.At
			}
			if r.Activity && r.At.After(end) {
				end = r.At
			}
		}
	}
	sum := h.summary
	require.Equal(t, lost.Stats, sum.LostMeasurements)
	require.Equal(t, lost.Events, sum.LostEvents)
	require.Equal(t, names[semconv.EventError], sum.Errors)
	require.Equal(t, names[semconv.EventFeedback], sum.Feedback.Count)
	require.Len(t, sum.Participants, len(h.sessions))
	require.Equal(t, intervals, summaryIntervals(&sum))
	require.Equal(t, []int64{start.UnixMilli(), end.UnixMilli()}, []int64{sum.StartMs, sum.EndMs})
}

func integer(v any) int {
	n, _ := v.(int64)
	return int(n)
}

func streamName(session string, fabric int, statsType string, ssrc int64) string {
	return fmt.Sprint(session, " ", fabric, " ", statsType, " ", ssrc)
}

func summaryIntervals(sum *conference.Summary) map[string]int {
	m := map[string]int{}
	for _, p := range sum.Participants {
		for _, f := range p.Fabrics {
			if f.CandidatePair != nil {
				m[streamName(p.Session, f.Fabric, "candidate-pair", 0)] = f.CandidatePair.Intervals
			}
			for _, stream := range f.Streams {
				m[streamName(p.Session, f.Fabric, stream.StatsType, stream.SSRC)] = stream.Intervals
			}
		}
	}
	return m
}
