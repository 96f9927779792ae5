package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	library "github.com/qosrtc/qos/client"
	"github.com/qosrtc/qos/tests/browser"
)

// benchClient makes the figures of the library's cost; it takes half an hour on a quiet machine:
//
//	go test -count=1 -timeout 1h -run TestLibraryCost ./tests/e2e -bench-client -v
var (
	benchClient  = flag.Bool("bench-client", false, "measure what the library costs the page")
	benchRounds  = flag.Int("bench-rounds", 9, "how often each way takes its turn")
	benchProfile = flag.Bool("bench-profile", false, "with -bench-client: print where the time of 20 connections goes")
)

const timesPerTurn = 5

var benchWays = []string{"bare", "read", "library", "looks"}

// TestLibraryCost measures the main thread's time of one interval (10 s: one measurement, what
// is sent and its acknowledgement, the application's callback, and a look at the states of
// each connection) against bare getStats() in the same page, turn by turn. It is a benchmark,
// not a test.
func TestLibraryCost(t *testing.T) {
	if !*benchClient {
		t.Skip("figures are made on demand: -bench-client")
	}
	c := newCollector(t)
	c.more = "receivers: {qoswss: {stats_interval: 10s}}"
	pages := startBenchPages(t)
	c.origins = []string{pages}
	c.start()
	var table strings.Builder
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		t.Run(kind, func(t *testing.T) { // -run takes one of them
			for _, count := range benchCounts() {
				table.WriteString(benchRow(t, c, pages, kind, count))
			}
		})
	}
	t.Logf("main thread's CPU time of an interval, medians of %d turns of %d, idle taken off:\n"+
		"| browser | connections | a second of the calls ms | bare getStats() ms | and its reports read ms | the library ms | of that, a look at states ms | of bare | of read |\n"+
		"| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n%s", *benchRounds, timesPerTurn, table.String())
	if *benchProfile {
		profileBench(t, c, pages)
	}
}

func benchRow(t *testing.T, c *collector, pages, kind string, count int) string {
	t.Helper()
	b := browser.Start(t, kind)
	defer b.Stop()
	p := openPage(t, b, strconv.Itoa(count), pages+"/bench/page.html")
	startBench(p, c, count, "/dist/qos.min.js")
	times := takeTurns(p)
	p.Context = "" // the browser goes
	ms := map[string]float64{}
	for way, all := range times {
		slices.Sort(all)
		ms[way] = all[len(all)/2]
		t.Logf("%s, %d connections, %s: %.2f (half of them %.2f to %.2f)", kind, count, way, ms[way], all[len(all)/4], all[len(all)*3/4])
	}
	return fmt.Sprintf("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f |\n", kind, count,
		ms["idle"], ms["bare"], ms["read"], ms["library"], ms["looks"], ms["library"]/ms["bare"], ms["library"]/ms["read"])
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
	p.T.Helper()
	p.Run(fmt.Sprintf("void start(%d, %q, %q).then(() => { bench.started = true; }, (e) => { bench.failed = String(e.stack || e); })", count, c.receiver+"/", script))
	p.Until(patience, "bench.started || bench.failed")
	var failed string
	p.Get("bench.failed ?? ''", &failed)
	require.Empty(p.T, failed)
	p.Until(patience, "bench.init.some(([csError]) => csError === 'success')")
	p.Until(patience, "ready()")
	p.Run("go('library', 1)") // what is new is announced, and the code is warm
	p.Run("go('read', 1)")
	p.Run("go('library', 1)")
}

// takeTurns returns one interval's times, in ms; those of idle are of a second. What the calls
// cost of themselves drifts, so each turn stands between two of doing nothing, whose mean is
// taken off.
func takeTurns(p *page) map[string][]float64 {
	p.T.Helper()
	thread := mainThread(p)
	times := map[string][]float64{}
	idle := thread.turn("idle")
	for range *benchRounds {
		for _, way := range benchWays {
			before, turn := idle, thread.turn(way)
			idle = thread.turn("idle")
			rate := (before.cpuMs + idle.cpuMs) / (before.wallMs + idle.wallMs)
			times["idle"] = append(times["idle"], rate*1000)
			times[way] = append(times[way], (turn.cpuMs-rate*turn.wallMs)/timesPerTurn)
		}
	}
	var missed int
	p.Get("bench.missed", &missed)
	require.Zero(p.T, missed, "measurements that did not come")
	return times
}

// cost is what several intervals took.
type cost struct{ cpuMs, wallMs float64 }

// thread is the main thread of a page, as the system knows it. The browser's own account
// (Performance.getMetrics) is of time that passed: with 20 calls that other threads of the
// page encode and decode on few processors it is mostly time in which the thread waited.
type thread struct {
	page     *page
	schedule string // the file with the ns that it ran
}

// mainThread finds it among the browser's by letting the page run in circles.
func mainThread(p *page) thread {
	p.T.Helper()
	schedules, err := filepath.Glob("/proc/[0-9]*/task/[0-9]*/schedstat")
	require.NoError(p.T, err)
	before := map[string]float64{}
	for _, file := range schedules {
		parts := strings.Split(file, "/")
		pid, _ := strconv.Atoi(parts[2])
		group, err := syscall.Getpgid(pid)
		if err == nil && group == p.Browser.Process.PID() && parts[2] == parts[4] {
			before[file] = ranMs(file)
		}
	}
	p.Run("(() => { const end = performance.now() + 2000; while (performance.now() < end); })()")
	var busiest string
	var most float64
	for file, ms := range before {
		if ran := ranMs(file) - ms; ran > most {
			busiest, most = file, ran
		}
	}
	require.NotEmpty(p.T, busiest)
	return thread{page: p, schedule: busiest}
}

// ranMs is how long a thread has run, 0 when it has ended.
func ranMs(schedule string) float64 {
	raw, err := os.ReadFile(schedule)
	if err != nil {
		return 0
	}
	ns, _, _ := strings.Cut(string(raw), " ")
	ran, _ := strconv.ParseFloat(ns, 64)
	return ran / 1e6
}

func (th thread) turn(way string) cost {
	th.page.T.Helper()
	var taken cost
	before := ranMs(th.schedule)
	th.page.Get(fmt.Sprintf("go(%q, %d)", way, timesPerTurn), &taken.wallMs)
	taken.cpuMs = ranMs(th.schedule) - before
	return taken
}

// cdp speaks Chromium's own protocol with one page.
type cdp struct {
	page    *page
	session string
}

func openCDP(p *page) *cdp {
	p.T.Helper()
	var answer struct {
		Session string `json:"session"`
	}
	require.NoError(p.T, p.Browser.Do("goog:cdp.getSession", map[string]any{"context": p.Context}, &answer))
	return &cdp{page: p, session: answer.Session}
}

func (c *cdp) do(method string, params map[string]any, result any) {
	c.page.T.Helper()
	var answer struct {
		Result json.RawMessage `json:"result"`
	}
	require.NoError(c.page.T, c.page.Browser.Do("goog:cdp.sendCommand",
		map[string]any{"method": method, "params": params, "session": c.session}, &answer))
	if result != nil {
		require.NoError(c.page.T, json.Unmarshal(answer.Result, result))
	}
}

// profileBench prints the functions that take most of the library's time.
func profileBench(t *testing.T, c *collector, pages string) {
	t.Helper()
	b := browser.Start(t, browser.Chromium)
	p := openPage(t, b, "profile", pages+"/bench/page.html")
	startBench(p, c, 20, "/dist/qos.js")
	cdp := openCDP(p)
	cdp.do("Profiler.enable", map[string]any{}, nil)
	cdp.do("Profiler.setSamplingInterval", map[string]any{"interval": 100}, nil)
	cdp.do("Profiler.start", map[string]any{}, nil)
	for range 20 {
		p.Run("go('library', 1)")
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
