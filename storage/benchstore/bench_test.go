package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// small is an engine of SQLite, and a table for its figures.
func small(t *testing.T) (*env, *table) {
	t.Helper()
	eng, err := newEngine("SQLite normal", t.TempDir(), nil)
	require.NoError(t, err)
	all := &table{}
	return &env{ctx: t.Context(), engine: eng, report: report{"SQLite normal", all}, conferences: 300, seconds: 20 * time.Millisecond, now: noon}, all
}

// TestSections measures everything, as small as can be: the figures mean nothing, but all are
// there.
func TestSections(t *testing.T) {
	e, all := small(t)
	for _, s := range sections {
		require.NoError(t, s.run(e), s.name)
	}
	figure := func(what, metric string) float64 { return all.cells[[3]string{"SQLite normal", what, metric}] }
	for _, writers := range []string{"1 writer", "8 writers", "64 writers"} {
		for _, metric := range []string{"commits/s", "p50 ms", "p99 ms", "max ms", "of plain"} {
			require.Positive(t, figure("Append, "+writers, metric), "%s, %s", writers, metric)
		}
	}
	require.Positive(t, figure("loose", "B/row, all indexes"))
	require.Positive(t, figure("packed", "B/row, chunks alone"))
	require.Positive(t, figure("loose", "Records ms"))
	require.Positive(t, figure("retention, a whole day", "conferences/s"))
	require.Equal(t, 50.0, figure("newest of all", "rows"))
	require.Equal(t, 1.0, figure("conferenceID, used once", "rows"))
	require.Zero(t, figure("outcome that none has", "rows"))
	for _, s := range searches {
		require.Positive(t, figure(s.what, "asked"), s.what)
	}
	for _, page := range pages {
		require.Positive(t, figure(page.what+", first", "p99 ms"), page.what)
		require.Positive(t, figure(page.what+", later", "p99 ms"), page.what)
	}
}

// TestFramesAreDistinct: what is measured as new is new, however often templates repeat.
func TestFramesAreDistinct(t *testing.T) {
	e, _ := small(t)
	s, err := e.create(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	sources := newSources(2, 4, noon)
	for range 3 * loopFrames * 4 {
		for _, source := range sources {
			got, err := s.Append(t.Context(), []storage.Batch{source.next()})
			require.NoError(t, err)
			require.Equal(t, storage.Appended{New: 5}, got)
		}
	}
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 4, "calls of two that go on without a gap")
}

// TestCatalogue: the conferences have the lengths and summaries that the searches count on.
func TestCatalogue(t *testing.T) {
	e, _ := small(t)
	e.conferences = 2100
	c := newCatalogue(e.conferences, noon)
	s, err := e.fill(c)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, i := range []int{0, 7, 2001, c.n - 1} {
		app, conference := c.named(i)
		got, err := s.Conference(t.Context(), storage.Ref{AppID: app, ConferenceID: conference, At: c.start(i)})
		require.NoError(t, err)
		require.Equal(t, c.start(i).UTC(), got.Start)
		require.Len(t, got.Participants, len(c.batches(i)))
		require.Equal(t, c.summary(i) == nil, got.Summary == nil)
		require.LessOrEqual(t, got.End.Sub(got.Start), 26*time.Hour)
		if got.Summary != nil {
			require.Greater(t, len(got.Summary.Document), 5000)
		}
	}
	open, err := s.Conferences(t.Context(), storage.Query{Unsummarised: true, Limit: 200})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(open.Conferences), live)
	require.Less(t, len(open.Conferences), live+5)
	few, err := s.Conferences(t.Context(), storage.Query{Outcome: rare})
	require.NoError(t, err)
	require.Len(t, few.Conferences, 2)
}

func TestQuantiles(t *testing.T) {
	l := latencies{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	require.Equal(t, time.Duration(6), l.at(0.5))
	require.Equal(t, time.Duration(10), l.at(0.99))
	require.Equal(t, time.Duration(10), l.at(1))
	var none table
	report{"x", &none}.latency("nothing", nil)
	require.Empty(t, none.rows, "no latency is not a latency of 0")
}

func TestTable(t *testing.T) {
	var all table
	report{"x", &all}.add("one", "a", 1234.4)
	report{"y", &all}.add("one", "b", 0.01234)
	require.Equal(t, "| engine | what | a | b |\n| --- | --- | ---: | ---: |\n| x | one | 1,234 | |\n| y | one | | 0.012 |\n", all.String())
	for v, want := range map[float64]string{0: "0", 3: "3", 0.996: "1.00", 9.876: "9.88", 41.26: "41.3", 99.7: "100", 1e6: "1,000,000"} {
		require.Equal(t, want, short(v))
	}
}

func TestUnknownEngine(t *testing.T) {
	_, err := newEngine("Oracle", t.TempDir(), nil)
	require.ErrorContains(t, err, `"Oracle"`)
	_, err = newEngine(postgresName, t.TempDir(), nil)
	require.ErrorContains(t, err, "no server")
}
