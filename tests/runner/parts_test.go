package main

import (
	"bufio"
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/runner/plan"
)

// TestQueueOrder: the longest job is the first, those that run alone are the last and run alone.
func TestQueueOrder(t *testing.T) {
	short, long := &job{name: "short", browser: true}, &job{name: "long", browser: true}
	lonely, other := &job{name: "lonely", browser: true, alone: true}, &job{name: "other"}
	seconds := history{"short": 1, "long": 2, "lonely": 9, "other": 5}
	q := newQueue()
	q.add(seconds.expected, short, lonely, long)
	q.add(seconds.expected, other)
	ctx, cancel := context.WithCancel(t.Context())
	require.Same(t, long, q.next(ctx, true))
	require.Same(t, other, q.next(ctx, false))
	require.Same(t, short, q.next(ctx, true))
	q.close()
	require.Nil(t, q.next(ctx, false))
	next := make(chan *job)
	go func() { next <- q.next(ctx, true) }()
	q.done(long)
	q.done(short)
	select {
	case <-next:
		t.Fatal("it does not run alone")
	default:
	}
	q.done(other)
	require.Same(t, lonely, <-next)
	running, waiting := q.status()
	require.Equal(t, []*job{lonely}, running)
	require.Empty(t, waiting)
	cancel()
	require.Nil(t, q.next(ctx, true))
}

func TestBatchesHaveDifferentNames(t *testing.T) {
	a, b, c := &testPackage{folder: "x/app"}, &testPackage{folder: "y/app"}, &testPackage{folder: "z"}
	require.Equal(t, [][]*testPackage{{a, c}, {b}}, batches([]*testPackage{a, b, c}))
}

// TestVerdict: a second run decides only where the first one had no processor; else the test is flaky.
func TestVerdict(t *testing.T) {
	bad, good := &result{failed: []string{"TestA"}}, &result{}
	for want, r := range map[verdict]*result{
		passed:  {},
		failed:  {failed: []string{"TestA"}, second: bad},
		flaky:   {failed: []string{"TestA"}, second: good, starved: starvation{share: .24}},
		starved: {failed: []string{"TestA"}, second: good, starved: starvation{share: .25}},
	} {
		require.Equal(t, want, r.verdict())
	}
	require.Equal(t, failed, (&result{failure: errors.New("a goroutine is left"), second: bad}).verdict())
	require.Equal(t, failed, (&result{failed: []string{"TestA"}}).verdict(), "it did not run again")
	require.Equal(t, starved, (&result{failure: errors.New("x"), second: good, starved: starvation{stalls: 1}}).verdict())
}

// TestReason: the excerpt begins with the assertion of the innermost test, indented, and ends after twelve lines.
func TestReason(t *testing.T) {
	output := []string{"=== RUN   TestA\n", "collector: ready\n", "    a_test.go:7: \n", "        \tError: no\n"}
	for range 20 {
		output = append(output, strings.Repeat("x", 300)+"\n")
	}
	r := &result{tests: map[string]*outcome{
		"TestA":   {action: "fail", output: []string{"    a_test.go:9: what the browser's console had\n"}},
		"TestA/b": {action: "fail", output: output}, "TestB": {action: "pass"},
	}}
	lines := strings.Split(r.reason(), "\n")
	require.Equal(t, []string{"", "          a_test.go:7:", "              \tError: no"}, lines[:3])
	require.Len(t, lines, 1+reasonLines)
	require.Len(t, lines[3], len("      ")+reasonColumns)
}

func TestLongestWait(t *testing.T) {
	before := map[int]int64{1: 5e8, 2: 0}
	require.InDelta(t, .75, longest(before, map[int]int64{1: 6e8, 2: 75e7, 3: 9e9}), 1e-9, "a thread that began meanwhile has no share")
	require.Contains(t, descendants(os.Getpid()), os.Getpid())
	require.NotEmpty(t, waits(os.Getpid()))
}

func TestEventsOfATest(t *testing.T) {
	r := newResult(&job{tests: []string{"TestA"}})
	r.read(bufio.NewReader(strings.NewReader(`{"Action":"run","Test":"TestA"}
{"Action":"output","Test":"TestA/b","Output":"=== RUN   TestA/b\n"}
{"Action":"output","Test":"TestA/b","Output":"    a_test.go:7: initdb is not installed\n"}
{"Action":"output","Test":"TestA/b","Output":"--- SKIP: TestA/b (0.00s)\n"}
{"Action":"skip","Test":"TestA/b","Elapsed":0}
{"Action":"pass","Test":"TestA","Elapsed":2.5}
{"Action":"output","Test":"TestTwice","Output":"why\n"}
{"Action":"fail","Test":"TestTwice","Elapsed":1}
{"Action":"pass","Test":"TestTwice","Elapsed":1}
{"Action":"run","Test":"TestEndless"}
not an event
`)), true)
	r.finish(errors.New("exit status 2"), r.job.tests)
	require.Equal(t, counts{passed: 1, failed: 2, skipped: 1}, r.counts)
	require.Equal(t, []string{"TestEndless", "TestTwice"}, r.failed)
	require.Equal(t, []string{"why\n"}, r.tests["TestTwice"].output, "of its first failure")
	require.Equal(t, "initdb is not installed", reasonOf(r.tests["TestA/b"].output))
	require.InDelta(t, 2.5, r.tests["TestA"].took, 0)
	require.Equal(t, []string{"not an event\n"}, r.output)
}

func TestNothingRan(t *testing.T) {
	r := newResult(&job{tests: []string{"TestA"}})
	r.finish(nil, r.job.tests)
	require.EqualError(t, r.failure, "it ran no test")
	r = newResult(&job{tests: []string{"TestA"}})
	r.tests["TestA"] = &outcome{action: "pass"}
	r.finish(errors.New("exit status 1"), r.job.tests)
	require.EqualError(t, r.failure, "no test failed, but exit status 1")
}

func TestNearest(t *testing.T) {
	of := func(folder string, imports ...string) *testPackage {
		for i := range imports {
			imports[i] = module + imports[i]
		}
		return &testPackage{ImportPath: module + folder, folder: folder, Imports: imports, tests: []string{"TestA"}}
	}
	packages := []*testPackage{
		of("protocol"), of("internal/call/event", "protocol"), of("internal/call/quality", "internal/call/event"), of("agent"),
		of("storage/sqlite", "internal/call/event"), of("tests/cause", "internal/call/quality"),
	}
	rings, skipped := nearest(packages, []string{"protocol/testdata/a.json", "docs/api.md"})
	require.Equal(t, [][]string{{module + "protocol"}, {module + "internal/call/event"}, {module + "internal/call/quality"}}, rings)
	require.Equal(t, []string{"storage/sqlite", "tests/cause"}, skipped)
	rings, skipped = nearest(packages, []string{"README.md"})
	require.Empty(t, rings)
	require.Empty(t, skipped)
}

func TestSpace(t *testing.T) {
	require.NoError(t, hasSpace(t.TempDir(), 1))
	require.ErrorContains(t, hasSpace(t.TempDir(), math.MaxUint64), "MiB free, a run needs 17592186044415 MiB")
	require.Error(t, hasSpace("/no/such/directory", 1))
}

func TestTimeLeft(t *testing.T) {
	h := history{"a": 60, "b": 100, "c": 300}
	running := []*job{{name: "a", browser: true}}
	const browsers = (30 + 100) / 3.
	require.InDelta(t, browsers+(300-2*browsers)/4, h.left(running, []*job{{name: "b", browser: true}, {name: "c"}}), 1e-9)
	require.InDelta(t, browsers, h.left(running, []*job{{name: "b", browser: true}, {name: "a"}}), 1e-9, "the others end before")
	require.Equal(t, "12:05", clock(12*time.Minute+4600*time.Millisecond))
}

func TestOthersStepBackForBrowsers(t *testing.T) {
	q, ctx := newQueue(), t.Context()
	last := &job{name: "alone", browser: true, alone: true}
	q.add(func(*job) float64 { return 0 }, &job{name: "a"}, &job{name: "b"}, &job{name: "c"}, &job{name: "page", browser: true}, last)
	q.close()
	a, b := q.next(ctx, false), q.next(ctx, false)
	require.Equal(t, "a b", a.name+" "+b.name)
	require.False(t, q.mayRun(q.waiting[0]), "a browser test waits")
	page := q.next(ctx, true)
	require.False(t, q.mayRun(q.waiting[0]), "a browser test runs")
	q.done(page)
	c := q.next(ctx, false)
	require.Equal(t, "c", c.name)
	require.False(t, q.mayRun(last))
	for _, j := range []*job{a, b, c} {
		q.done(j)
	}
	require.Equal(t, last, q.next(ctx, true))
	require.Nil(t, q.next(ctx, false))
}

// TestRapidTakesItsTries: packages with property tests get the library's flag, and their properties run in both commands.
func TestRapidTakesItsTries(t *testing.T) {
	p := &testPackage{folder: "internal/a", TestImports: []string{library}, tests: []string{"TestA", "TestB"}, properties: []string{"TestB"}}
	require.Equal(t, []string{"-rapid.checks=250"}, p.flags(moreTries))
	require.Equal(t, []string{"TestA", "TestB"}, p.selected(nil, plan.Test))
	require.Equal(t, []string{"TestB"}, p.selected(nil, plan.Long))
	require.Empty(t, (&testPackage{}).flags(tries))
	p.folder = "storage/postgres"
	require.Equal(t, []int{20, 50}, []int{p.tries(plan.Test), p.tries(plan.Long)})
}

// TestPropertiesAgain: what `make test` checks too is checked more often by `make test-long`; what it alone runs is not.
func TestPropertiesAgain(t *testing.T) {
	b := binary{race: true, testPackage: &testPackage{folder: "storage/a", TestImports: []string{library}, tests: []string{"TestA", "TestB"}, properties: []string{"TestB"}}}
	r := &run{command: plan.Long, plan: plan.Plan{{Package: "storage/a", Tests: []string{"TestA"}, Runs: []plan.Run{plan.Long}}}}
	jobs := r.jobsOf(b)
	require.Len(t, jobs, 2)
	require.Equal(t, []string{"TestA", "-rapid.checks=50"}, append(jobs[0].tests, jobs[0].flags...))
	require.Equal(t, []string{"TestB", "-rapid.checks=250"}, append(jobs[1].tests, jobs[1].flags...))
	r.command = plan.Test
	b.tests = []string{"TestB"}
	require.Len(t, r.jobsOf(b), 1)
}

// TestStoresAreRacedLater: tests of a store with several goroutines run in both commands, once with the race detector.
func TestStoresAreRacedLater(t *testing.T) {
	p := &testPackage{folder: "storage/sqlite", tests: []string{"TestBackup", "TestSearch"}}
	require.Equal(t, []string{"TestBackup"}, p.selected(nil, plan.Long))
	with, without := divide(p, plan.Test)
	require.Empty(t, with)
	require.Equal(t, p.tests, without)
	with, without = divide(p, plan.Long)
	require.Equal(t, []string{"TestBackup"}, with)
	require.Equal(t, []string{"TestSearch"}, without)
}
