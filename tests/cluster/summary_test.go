package cluster

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/harness"
)

// summary waits until the one conference in a store has a summary that ok accepts.
func summary(t *testing.T, store storage.Reader, ok func(conference.Summary) bool) (s conference.Summary) {
	t.Helper()
	require.Eventually(t, func() bool {
		page, err := store.Conferences(t.Context(), storage.Query{})
		require.NoError(t, err)
		require.Len(t, page.Conferences, 1)
		found := page.Conferences[0]
		if found.Summary == nil {
			return false
		}
		found, err = store.Conference(t.Context(), storage.Ref{AppID: found.AppID, ConferenceID: found.ConferenceID, At: found.Start})
		require.NoError(t, err)
		s = conference.Summary{}
		require.NoError(t, json.Unmarshal(found.Summary.Document, &s))
		return ok(s)
	}, harness.Patience, 50*time.Millisecond, "%+v", &s)
	return s
}

// whole accepts the summary of a call that both have left.
func whole(s conference.Summary) bool {
	left := 0
	for _, p := range s.Participants {
		if p.EndReason == "application" {
			left++
		}
	}
	return left == 2
}

// equal compares two documents field by field: numbers to 1e-9, all but the revision.
func equal(t *testing.T, want, got conference.Summary) {
	t.Helper()
	fields := func(s conference.Summary) (v any) {
		s.Revision = 0
		text, err := json.Marshal(s)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &v))
		return v
	}
	equalValue(t, "summary", fields(want), fields(got))
}

func equalValue(t *testing.T, path string, want, got any) {
	t.Helper()
	require.Equal(t, reflect.TypeOf(want), reflect.TypeOf(got), path)
	switch want := want.(type) {
	case float64:
		require.InDelta(t, want, got, 1e-9, path)
	case []any:
		require.Len(t, got, len(want), path)
		for i := range want {
			equalValue(t, path+"[]", want[i], got.([]any)[i])
		}
	case map[string]any:
		require.Len(t, got, len(want), path)
		for name := range want {
			equalValue(t, path+"."+name, want[name], got.(map[string]any)[name])
		}
	default:
		require.Equal(t, want, got, path)
	}
}

// aloneOn starts one collector on a SQLite file, and returns how its store is read.
func aloneOn(t *testing.T, key string) (*harness.Collector, func() storage.Reader) {
	t.Helper()
	directory := filepath.Join(t.TempDir(), "store")
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(directory), KeyFile: key})
	c.Start()
	return c, func() storage.Reader {
		store, err := sqlite.Open(t.Context(), filepath.Join(directory, "qos.sqlite3"), sqlite.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, store.Close()) })
		return store
	}
}

func ended(collectors ...*harness.Collector) (first, revised float64) {
	for _, c := range collectors {
		m := c.Metrics()
		first += m.Sum("otelcol_processor_conference_ended")
		revised += m.Sum("otelcol_processor_conference_revised")
	}
	return first, revised
}

// TestSummariesSurvive: a recorded call has the same summary, whether one collector saw it
// undisturbed, or was killed in the middle, or two collectors saw a half each, were both
// killed and took over each other's sessions. Late words revise it.
//
// spec: CONF-01, CONF-02, SRV-03
func TestSummariesSurvive(t *testing.T) {
	begin := time.Now().UnixMilli() - 5000
	alice, bob := record("alice", 1, begin), record("bob", 2, begin)
	n := len(alice.frames)
	key := filepath.Join(t.TempDir(), "key") // one installation in many stores: sessions are good in all

	calm, read := aloneOn(t, key)
	for _, cut := range [][2]int{{0, 10}, {10, n}} {
		alice.play(t, calm, cut[0], cut[1])
		bob.play(t, calm, cut[0], cut[1])
	}
	require.Eventually(t, func() bool { first, _ := ended(calm); return first == 1 }, harness.Patience, 50*time.Millisecond)
	calm.Stop()
	want := summary(t, read(), whole)
	require.Equal(t, 1, want.Revision)
	require.Len(t, want.Participants, 2)
	require.NotNil(t, want.MOS)

	t.Run("killed", func(t *testing.T) {
		c, read := aloneOn(t, key)
		alice.play(t, c, 0, 10)
		bob.play(t, c, 0, 12)
		c.Kill()
		c.Start()
		alice.play(t, c, 7, n)
		bob.play(t, c, 12, n)
		require.Eventually(t, func() bool { first, _ := ended(c); return first == 1 }, harness.Patience, 50*time.Millisecond)
		c.Stop()
		equal(t, want, summary(t, read(), whole))
	})
	t.Run("two halves", func(t *testing.T) {
		c := newClusterOf(t, key)
		alice.play(t, c.collectors[0], 0, n-1) // she stays until all that is Bob's is there
		bob.play(t, c.collectors[1], 0, n)
		alice.play(t, c.collectors[0], n-1, n)
		got := summary(t, c.open(), whole)
		equal(t, want, got)
		require.Equal(t, 1, got.Revision, "nobody reported a half")
		first, revised := ended(c.collectors...)
		require.Equal(t, [2]float64{1, 0}, [2]float64{first, revised})
	})
	t.Run("both killed", func(t *testing.T) {
		c := newClusterOf(t, key)
		alice.play(t, c.collectors[0], 0, 10)
		bob.play(t, c.collectors[1], 0, 10)
		c.collectors[0].Kill()
		c.collectors[0].Start()
		alice.play(t, c.collectors[1], 5, 20)
		c.collectors[1].Kill()
		c.collectors[1].Start()
		alice.play(t, c.collectors[1], 18, n)
		bob.play(t, c.collectors[0], 7, n)
		store := c.open()
		equal(t, want, summary(t, store, whole))

		late := record("bob", 2, begin)
		late.session = bob.session
		late.event(begin+14_000, "customEvent", `{}`)
		late.frames = append(late.frames, fmt.Sprintf(
			`{"type":"feedback","seq":%d,"at":%d,"conferenceID":%q,"conferenceAt":%d,"userID":"bob","overall":2}`, n+2, time.Now().UnixMilli(), callID, begin+5000))
		late.play(t, c.collectors[0], n, n+2)
		got := summary(t, store, func(s conference.Summary) bool { return s.Feedback.Count == 1 })
		require.Greater(t, got.Revision, 1)
		first, revised := ended(c.collectors...)
		require.InDelta(t, 1, first, 0, "it is counted once")
		require.NotZero(t, revised)
	})
}
