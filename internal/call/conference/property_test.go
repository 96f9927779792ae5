package conference_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// TestWildNumbersMakeASummary: values that are out of range cause neither a panic nor an invalid
// document.
//
// spec: CONF-03
func TestWildNumbersMakeASummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := conference.New("app", "c", nil, quality.DefaultBounds())
		for seq := range rapid.IntRange(1, 12).Draw(t, "frames") {
			c.Apply(&event.Event{
				AppID: "app", ConferenceID: "c", Session: "s", Seq: uint64(seq + 1), Fabric: 1, ConferenceAtMs: conferencetest.Base,
				AtMs: conferencetest.Base + int64(seq)*10_000, Kind: event.KindStats, Measured: conferencetest.Wild.Draw(t, "wild"),
			})
		}
		s := c.Summary(quality.DefaultBounds())
		conferencetest.JSON(t, s)
		for _, issue := range s.Issues {
			if issue.SinceMs > issue.UntilMs || issue.Count == 0 || issue.TotalMs < 0 {
				t.Fatalf("%+v", issue)
			}
		}
	})
}

// TestFoldDependsOnTheSetAlone: any order of arrival and any repetition give the same
// summary, to the last digit.
//
// spec: CONF-02, CONF-03, SRV-03
func TestFoldDependsOnTheSetAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := conferencetest.Events(t, 25_000)
		want := conferencetest.JSON(t, conferencetest.Fold(events, quality.DefaultBounds()))
		require.JSONEq(t, want, conferencetest.JSON(t, conferencetest.Fold(conferencetest.Shuffled(t, events), quality.DefaultBounds())))
	})
}

// TestApplyReportsRepetitions: only the first arrival of a record counts.
func TestApplyReportsRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := conference.New("app", "c", nil, quality.DefaultBounds())
		seen := map[string]bool{}
		for _, e := range conferencetest.Shuffled(t, conferencetest.Events(t, 25_000)) {
			id := fmt.Sprint(e.Session, e.Seq, e.Index)
			require.Equal(t, seen[id], c.Seen(&e))
			require.Equal(t, seen[id], c.Apply(&e))
			seen[id] = true
		}
	})
}
