package live_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// components is the model with which a Set is compared: the conferences, computed from all
// events at once, and the number of unattached annotations.
func components(events []event.Event) (spans []instance.Span, parts [][]event.Event, unattached int) {
	for i := range events {
		if events[i].Activity() {
			spans = joinModel(spans, instance.At(events[i].AtMs))
		}
	}
	owner := func(at int64) int {
		best, least := -1, int64(0)
		for i, span := range spans {
			far := max(0, span.Start-at, at-span.End)
			if span.Start-30_000 <= at && at <= span.End+24*3600_000 && (best < 0 || far < least || far == least && span.Start < spans[best].Start) {
				best, least = i, far
			}
		}
		return best
	}
	parts = make([][]event.Event, len(spans))
	for _, e := range events {
		at := e.ConferenceAtMs
		if e.Activity() {
			at = e.AtMs
		}
		if part := owner(at); part >= 0 {
			parts[part] = append(parts[part], e)
		} else {
			unattached++
		}
	}
	return spans, parts, unattached
}

func joinModel(spans []instance.Span, s instance.Span) []instance.Span {
	merged, absorbed := instance.Merge(spans, s)
	for _, i := range slices.Backward(absorbed) {
		spans = slices.Delete(spans, i, i+1)
	}
	return append(spans, merged)
}

// TestSetFindsConferences: for any order of arrival, repetition, division into batches and times
// of Tick, the newest summary of each conference is the fold of its events, and revisions
// only increase.
//
// spec: CONF-01, CONF-02, SRV-03
func TestSetFindsConferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := conferencetest.Events(t, 200_000)
		set := live.NewSet(live.Config{MaxConferences: 1000, KeepEndedMs: 3_600_000, Labels: quality.DefaultBounds()})
		now := conferencetest.Base + 150_000
		var out []conference.Summary
		seen := map[string]bool{}
		for _, e := range conferencetest.Shuffled(t, events) {
			id := fmt.Sprint(e.Session, e.Seq, e.Index)
			require.Equal(t, seen[id], set.Seen(&e))
			switch got := set.Apply(&e, now); {
			case seen[id]:
				require.Equal(t, live.Duplicate, got)
			case e.Activity():
				require.Equal(t, live.Applied, got)
			default:
				require.Contains(t, []live.Result{live.Applied, live.Waiting}, got)
			}
			seen[id] = true
			if rapid.Bool().Draw(t, "tick") {
				now += rapid.Int64Range(0, 40_000).Draw(t, "advance")
				out = append(out, tick(set, now)...)
			}
		}
		out = append(out, tick(set, now+200_000)...)
		require.Zero(t, set.Live())
		checkNewest(t, events, out, set)
	})
}

func checkNewest(t *rapid.T, events []event.Event, out []conference.Summary, set *live.Set) {
	spans, parts, unattached := components(events)
	require.Equal(t, len(spans), set.Len(), "conferences in memory")
	require.GreaterOrEqual(t, set.Unattached(), unattached, "annotations that no conference owns, for so long")
	for i, span := range spans {
		var newest *conference.Summary
		highest := 0 // of the earlier ones, also of what was joined
		for k := range out {
			if out[k].StartMs >= span.Start && out[k].EndMs <= span.End {
				if newest != nil {
					highest = max(highest, newest.Revision)
				}
				newest = &out[k]
			}
		}
		require.NotNil(t, newest, "no summary of %v", span)
		require.Greater(t, newest.Revision, highest, "the store keeps the highest revision")
		require.JSONEq(t, conferencetest.JSON(t, conferencetest.Fold(parts[i], quality.DefaultBounds())), conferencetest.JSON(t, *newest))
	}
}
