package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	library "github.com/qosrtc/qos/client"
)

// benchClient makes the figures of the library's cost; it takes minutes on a quiet machine:
//
//	go test -count=1 -run TestLibraryCost ./tests/e2e -bench-client -v
var (
	benchClient  = flag.Bool("bench-client", false, "measure what the library costs the page")
	benchRounds  = flag.Int("bench-rounds", 15, "how often each way takes its turn")
	benchProfile = flag.Bool("bench-profile", false, "with -bench-client: print where the time of 20 connections goes")
)

const timesPerTurn = 5

// TestLibraryCost measures the main thread's time of one interval (10 s: one measurement, what
// is sent and its acknowledgement, the application's callback, and five looks at the states of
// each connection) against bare getStats() in the same page, turn by turn. It is a benchmark,
// not a test.
func TestLibraryCost(t *testing.T) {
	if !*benchClient {
		t.Skip("figures are made on demand: -bench-client")
	}
	c := newCollector(t)
	pages := startBenchPages(t)
	c.origins = []string{pages}
	c.start()
	var table strings.Builder
	fmt.Fprintf(&table, "| connections | a second of the calls ms | bare getStats() ms | and its reports read ms | the library ms | of that, looks at states ms | of bare | of read |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, count := range benchCounts() {
		b := startBrowser(t, chromium)
		p := openPage(t, b, strconv.Itoa(count), pages+"/bench/page.html")
		startBench(p, c, count, "/dist/qos.min.js")
		ms := takeTurns(p)
		fmt.Fprintf(&table, "| %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n", count,
			ms["idle"], ms["bare"], ms["read"], ms["library"], ms["polls"], ms["library"]/ms["bare"], ms["library"]/ms["read"])
		t.Log(count, ms)
		b.stop()
	}
	t.Logf("main thread, medians of %d turns of %d intervals, idle taken off:\n%s", *benchRounds, timesPerTurn, table.String())
	if *benchProfile {
		profileBench(t, c, pages)
	}
}

// benchCounts are the numbers of connections; QOS_ONLY takes one of them.
func benchCounts() []int {
	if only, err := strconv.Atoi(os.Getenv("QOS_ONLY")); err == nil {
		return []int{only}
	}
	return []int{1, 4, 20}
}

func startBenchPages(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir("testdata")))
	mux.Handle("GET /bench/", http.StripPrefix("/bench/", http.FileServer(http.Dir("../../client/bench"))))
	mux.Handle("GET /dist/", http.FileServerFS(library.Dist))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func startBench(p *page, c *collector, count int, script string) {
	p.t.Helper()
	p.run(fmt.Sprintf("void start(%d, %q, %q).then(() => { bench.started = true; }, (e) => { bench.failed = String(e.stack || e); })", count, c.receiver+"/", script))
	p.until(2*time.Minute, "bench.started || bench.failed")
	var failed string
	p.get("bench.failed ?? ''", &failed)
	require.Empty(p.t, failed)
	p.until(30*time.Second, "bench.init.some(([csError]) => csError === 'success')")
	p.until(30*time.Second, "ready()")
	p.run("go('library', 1)") // what is new is announced, and the code is warm
	p.run("go('read', 1)")
	p.run("go('library', 1)")
}

// takeTurns returns the medians of one interval's time, in ms; that of idle is of a second.
func takeTurns(p *page) map[string]float64 {
	p.t.Helper()
	cdp := openCDP(p)
	cdp.do("Performance.setTimeDomain", map[string]any{"timeDomain": "threadTicks"}, nil)
	cdp.do("Performance.enable", map[string]any{}, nil)
	times := map[string][]float64{}
	for range *benchRounds {
		idle := cdp.turn("idle")
		times["idle"] = append(times["idle"], idle.taskMs/idle.wallMs*1000)
		for _, way := range []string{"bare", "library", "read", "polls"} {
			turn := cdp.turn(way)
			times[way] = append(times[way], (turn.taskMs-idle.taskMs/idle.wallMs*turn.wallMs)/timesPerTurn)
		}
	}
	var missed int
	p.get("bench.missed", &missed)
	require.Zero(p.t, missed, "measurements that did not come")
	medians := map[string]float64{}
	for way, all := range times {
		slices.Sort(all)
		medians[way] = all[len(all)/2]
	}
	return medians
}

// cost is what several intervals took.
type cost struct{ taskMs, wallMs float64 }

func (c *cdp) turn(way string) cost {
	c.page.t.Helper()
	var taken cost
	before := c.taskMs()
	c.page.get(fmt.Sprintf("go(%q, %d)", way, timesPerTurn), &taken.wallMs)
	taken.taskMs = c.taskMs() - before
	return taken
}

// cdp speaks Chromium's own protocol with one page.
type cdp struct {
	page    *page
	session string
}

func openCDP(p *page) *cdp {
	p.t.Helper()
	var answer struct {
		Session string `json:"session"`
	}
	require.NoError(p.t, p.browser.do("goog:cdp.getSession", map[string]any{"context": p.context}, &answer))
	return &cdp{page: p, session: answer.Session}
}

func (c *cdp) do(method string, params map[string]any, result any) {
	c.page.t.Helper()
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	require.NoError(c.page.t, c.page.browser.do("goog:cdp.sendCommand",
		map[string]any{"method": method, "params": params, "session": c.session}, &answer))
	if result != nil {
		require.NoError(c.page.t, json.Unmarshal(answer.Result, result))
	}
}

// taskMs is the main thread's time in tasks so far.
func (c *cdp) taskMs() float64 {
	c.page.t.Helper()
	var answer struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	c.do("Performance.getMetrics", map[string]any{}, &answer)
	for _, metric := range answer.Metrics {
		if metric.Name == "TaskDuration" {
			return metric.Value * 1000
		}
	}
	c.page.t.Fatalf("no TaskDuration: %+v", answer)
	return 0
}

// profileBench prints the functions that take most of the library's time.
func profileBench(t *testing.T, c *collector, pages string) {
	t.Helper()
	b := startBrowser(t, chromium)
	p := openPage(t, b, "profile", pages+"/bench/page.html")
	startBench(p, c, 20, "/dist/qos.js")
	cdp := openCDP(p)
	cdp.do("Profiler.enable", map[string]any{}, nil)
	cdp.do("Profiler.setSamplingInterval", map[string]any{"interval": 100}, nil)
	cdp.do("Profiler.start", map[string]any{}, nil)
	for range 20 {
		p.run("go('library', 1)")
	}
	var answer struct {
		Profile struct {
			Nodes []struct {
				ID        int
				CallFrame struct {
					FunctionName string
					URL          string
					LineNumber   int
				}
			}
			Samples    []int
			TimeDeltas []int
		}
	}
	cdp.do("Profiler.stop", map[string]any{}, &answer)
	names := map[int]string{}
	for _, node := range answer.Profile.Nodes {
		frame := node.CallFrame
		names[node.ID] = fmt.Sprintf("%s %s:%d", frame.FunctionName, frame.URL[strings.LastIndex(frame.URL, "/")+1:], frame.LineNumber+1)
	}
	self := map[string]float64{}
	for i, sample := range answer.Profile.Samples {
		self[names[sample]] += float64(answer.Profile.TimeDeltas[i]) / 1000 / 20
	}
	top := make([]string, 0, len(self))
	for name := range self {
		top = append(top, name)
	}
	sort.Slice(top, func(i, j int) bool { return self[top[i]] > self[top[j]] })
	var out strings.Builder
	for _, name := range top[:min(len(top), 25)] {
		fmt.Fprintf(&out, "%8.3f ms  %s\n", self[name], name)
	}
	t.Logf("self time of one interval of 20 connections, most first:\n%s", out.String())
}
