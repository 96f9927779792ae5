package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
)

// TestMain is also the process that measures a section for TestAll.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-child" {
		o, err := readOptions(os.Args[1:])
		if err == nil {
			err = measureOne(context.Background(), o, os.Stdout)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// TestAll measures everything, as small as can be: the figures mean nothing, but there
// they are.
func TestAll(t *testing.T) {
	dir := t.TempDir()
	docs, lines := filepath.Join(dir, "docs.md"), filepath.Join(dir, "figures.jsonl")
	require.NoError(t, os.WriteFile(docs, []byte("# Figures\n\n"+beginMark+"old\n"+endMark+"\nthe rest\n"), 0o600))
	t.Setenv("TMPDIR", t.TempDir())
	var out bytes.Buffer
	require.NoError(t, measureAll(t.Context(), options{
		conferences: 300, seconds: 0.02, engines: "SQLite normal,SQLite full", json: lines, docs: docs,
	}, &out))

	found := map[string]map[string]float64{}
	file, err := os.Open(lines)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	for dec := json.NewDecoder(file); dec.More(); {
		var r result
		require.NoError(t, dec.Decode(&r))
		row := r.Engine + ", " + r.Case
		if found[row] == nil {
			found[row] = map[string]float64{}
		}
		found[row][r.Metric] = r.Value
	}
	for _, how := range []string{"normal", "full"} {
		for _, writers := range []string{"1 writer", "8 writers", "64 writers"} {
			for _, metric := range []string{"commits/s", "p50 ms", "p99 ms", "max ms", "of plain"} {
				require.Positive(t, found["SQLite "+how+", Append, "+writers][metric], "%s, %s", writers, metric)
			}
		}
	}
	require.Positive(t, found["SQLite normal, loose"]["B/row, all indexes"])
	require.Positive(t, found["SQLite normal, loose"]["Records ms"])
	require.Positive(t, found["SQLite normal, retention, a whole day"]["conferences/s"])
	require.Equal(t, 50.0, found["SQLite normal, newest of all"]["rows"])
	require.Equal(t, 1.0, found["SQLite normal, conferenceID, used once"]["rows"])
	require.Zero(t, found["SQLite normal, outcome that none has"]["rows"])
	require.Len(t, searches, len(searchesIn(found)))

	text, err := os.ReadFile(docs)
	require.NoError(t, err)
	require.Contains(t, string(text), "| SQLite full | Append, 64 writers |")
	require.Contains(t, string(text), "\nthe rest\n")
	require.NotContains(t, string(text), "old\n")
	require.Contains(t, out.String(), "### Search")
	require.Contains(t, out.String(), "300 conferences to search, 0.02 s a rate.")
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	require.Empty(t, left, "temporary files")
}

// TestSomeSections: the others stay as they were measured before.
func TestSomeSections(t *testing.T) {
	d := figures{"head 1\n", [][2]string{{"A", "| a1 |\n"}, {"B", "| b1 |\n"}, {"C", "| c1 |\n"}}}
	text, err := d.whole([]byte("before\n" + beginMark + endMark + "after\n"))
	require.NoError(t, err)
	for _, title := range []string{"A", "C"} {
		text, err = figures{"head 2\n", [][2]string{{title, "| 2 |\n"}}}.some(text)
		require.NoError(t, err)
	}
	require.Equal(t, "before\n"+beginMark+"\nhead 1\n"+
		"\n### A\n\nhead 2\n\n| 2 |\n\n### B\n\n| b1 |\n\n### C\n\nhead 2\n\n| 2 |\n\n"+endMark+"after\n", string(text))
	_, err = figures{"", [][2]string{{"D", ""}}}.some(text)
	require.ErrorContains(t, err, "D")
}

func searchesIn(found map[string]map[string]float64) (out []string) {
	for _, s := range searches {
		if found["SQLite normal, "+s.what]["asked"] > 0 {
			out = append(out, s.what)
		}
	}
	return out
}

// TestFramesAreDistinct: what is measured as new is new, however often templates repeat.
func TestFramesAreDistinct(t *testing.T) {
	s := temporary(t)
	sources, err := newSources(t.Context(), 2, 4, noon)
	require.NoError(t, err)
	for range 3 * loopFrames * 4 {
		for _, source := range sources {
			got, err := s.Append(t.Context(), []storage.Batch{source.next()})
			require.NoError(t, err)
			require.Equal(t, storage.Appended{New: rowsAFrame}, got)
		}
	}
	page, err := s.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 4, "calls of two that go on without a gap")
}

// TestFramesAreScored: they are what the pipeline makes.
func TestFramesAreScored(t *testing.T) {
	p, err := startPipeline(t.Context())
	require.NoError(t, err)
	b, err := p.frame(meeting("call", 2, noon, 1)[0])
	require.NoError(t, err)
	require.NoError(t, p.stop())
	require.Len(t, b.Records, rowsAFrame)
	for _, r := range b.Records[:4] {
		require.Contains(t, r.Attributes, "qos.quality.mos")
		require.True(t, r.Activity)
	}
	require.Len(t, meeting("call", longPeople, noon, 1)[0].streams, 2*longPeople+1)
}

// TestBulkIsWhatTheEngineReads: conferences made in bulk are found as others are.
func TestBulkIsWhatTheEngineReads(t *testing.T) {
	const n = 200
	dir := t.TempDir()
	e, err := newEngine("SQLite normal", dir, "")
	require.NoError(t, err)
	s, err := e.open(t.Context(), true)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	c, err := newCatalogue(n, noon)
	require.NoError(t, err)
	require.NoError(t, e.bulk(t.Context(), n, c.listing))
	s, err = e.open(t.Context(), false)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	for _, i := range []int{0, 7, n - 1} {
		want := c.listing(i)
		got, err := s.Conference(t.Context(), storage.Ref{AppID: want.app, ConferenceID: want.conference, At: want.start})
		require.NoError(t, err)
		require.Equal(t, want.start, got.Start)
		require.Equal(t, want.end, got.End)
		require.Len(t, got.Participants, len(want.sessions))
		require.Equal(t, want.summary == nil, got.Summary == nil)
	}
	all, err := s.Conferences(t.Context(), storage.Query{Unsummarised: true})
	require.NoError(t, err)
	require.Len(t, all.Conferences, live)
}

// TestCatalogue has rare outcomes, few apps have most conferences, and each is the same
// every time.
func TestCatalogue(t *testing.T) {
	const n = 20_000
	c, err := newCatalogue(n, noon)
	require.NoError(t, err)
	outcomes, byApp := map[string]int{}, map[string]int{}
	for i := range n - live {
		l := c.listing(i)
		outcomes[l.summary.Outcome]++
		byApp[l.app]++
	}
	require.InDelta(t, n*0.0005, outcomes[rare], 10)
	require.Greater(t, outcomes[frequent], n*9/10)
	require.Len(t, byApp, apps)
	require.Greater(t, byApp[appName(0)], 10*byApp[appName(apps-1)])
	again, err := newCatalogue(n, noon)
	require.NoError(t, err)
	require.Equal(t, c.at(17, true), again.at(17, true))
	require.NotEqual(t, c.at(17, true), c.at(17, false))
}

func TestQuantiles(t *testing.T) {
	l := latencies{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	require.Equal(t, time.Duration(6), l.at(0.5))
	require.Equal(t, time.Duration(10), l.at(0.99))
	require.Equal(t, time.Duration(10), l.at(1))
	var out bytes.Buffer
	require.NoError(t, report{out: &out}.latency("nothing", nil))
	require.Empty(t, out.String(), "no latency is not a latency of 0")
}

func TestTable(t *testing.T) {
	require.Equal(t, "| engine | what | a | b |\n| --- | --- | ---: | ---: |\n| x | one | 1,234 | |\n| y | one | | 0.012 |\n",
		table([]result{{"s", "x", "one", "a", 1234.4}, {"s", "y", "one", "b", 0.01234}}))
	for v, want := range map[float64]string{0: "0", 3: "3", 0.996: "1.00", 9.876: "9.88", 41.26: "41.3", 99.7: "100", 1e6: "1,000,000"} {
		require.Equal(t, want, short(v))
	}
}

func TestBetweenNeedsMarks(t *testing.T) {
	_, err := figures{}.whole([]byte("nothing"))
	require.ErrorContains(t, err, "marks")
}

func TestUnknownNames(t *testing.T) {
	_, err := newEngine("Oracle", t.TempDir(), "")
	require.ErrorContains(t, err, `"Oracle"`)
	require.ErrorContains(t, measureOne(t.Context(), options{child: "nothing/SQLite normal"}, &bytes.Buffer{}), `"nothing"`)
}

func temporary(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}
