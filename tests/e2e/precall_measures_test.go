package e2e

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/network"
)

// precallLine is an access line through which the network is tested, and what a test of it must find.
type precallLine struct {
	name    string
	delay   time.Duration // each way
	loss    float64       // of what is sent
	rateBps float64       // each way; 0: no limit
	mostBps float64       // of the test
	within  float64       // of the rate, as a fraction; 0: the rate does not bind
}

var precallLines = []precallLine{
	{name: "20 ms", delay: 10 * time.Millisecond, mostBps: 1e6},
	{name: "60 ms, 10 %", delay: 30 * time.Millisecond, loss: 0.1, mostBps: 1e6},
	{name: "100 ms, 5 %", delay: 50 * time.Millisecond, loss: 0.05, mostBps: 1e6},
	{name: "200 ms, 20 %", delay: 100 * time.Millisecond, loss: 0.2, mostBps: 1e6},
	{name: "100 kbit/s", rateBps: 100e3, mostBps: 1e7, within: 0.2},
	{name: "150 kbit/s, 200 ms", delay: 100 * time.Millisecond, rateBps: 150e3, mostBps: 1e7, within: 0.2},
	{name: "300 kbit/s, 120 ms", delay: 60 * time.Millisecond, rateBps: 300e3, mostBps: 1e7, within: 0.2},
	{name: "500 kbit/s, 40 ms", delay: 20 * time.Millisecond, rateBps: 500e3, mostBps: 1e7, within: 0.2},
	{name: "700 kbit/s, 200 ms", delay: 100 * time.Millisecond, rateBps: 700e3, mostBps: 1e7, within: 0.2},
	{name: "2 Mbit/s", rateBps: 2e6, mostBps: 1e7, within: 0.2},
	{name: "5 Mbit/s, 30 ms", delay: 15 * time.Millisecond, rateBps: 5e6, mostBps: 1e7, within: 0.2},
	{name: "10 Mbit/s", rateBps: 1e7, mostBps: 2e7, within: 0.2},
	{name: "600 ms", delay: 300 * time.Millisecond, mostBps: 1e6},
	{name: "1,000 ms", delay: 500 * time.Millisecond, mostBps: 1e6},
	{name: "2,000 ms", delay: time.Second, mostBps: 1e6},
	{name: "1 Mbit/s, 600 ms", delay: 300 * time.Millisecond, rateBps: 1e6, mostBps: 1e7},
}

// mostRampDelay is half of the longest round trip at which throughput is measured.
const mostRampDelay = 125 * time.Millisecond

// leastPings is how many pings a test of a good line sends in 3 s, one each 25 ms.
const leastPings = 100

// TestBeforeTheCallMeasures tests the network through lines of known delay, loss and rate. docs/library.md
// has the table.
//
// spec: PRE-02, PRE-04
func TestBeforeTheCallMeasures(t *testing.T) {
	browser.Require(t, browser.Chromium, browser.Firefox)
	testenv.Program(t, "certutil")
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		t.Run(kind, func(t *testing.T) {
			sites, authority := startPrecallSites(t, 2)
			b := browser.StartTrusting(t, kind, authority)
			measure := func(line precallLine, s *precallSite) {
				t.Run(line.name, func(t *testing.T) { line.measure(t, s, b) })
			}
			measure(precallLines[0], sites[0]) // of the first, milliseconds count: no other page is to take the processor
			t.Parallel()
			var both sync.WaitGroup
			defer both.Wait()
			for i, s := range sites {
				both.Go(func() {
					for _, line := range everySecond(precallLines[1:], i) {
						measure(line, s)
					}
				})
			}
		})
	}
}

// everySecond returns every second line from one on.
func everySecond(lines []precallLine, from int) (half []precallLine) {
	for i := from; i < len(lines); i += 2 {
		half = append(half, lines[i])
	}
	return half
}

func (l precallLine) measure(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	access := network.StartLine(t)
	h := network.Harm{Delay: l.delay, RateBps: l.rateBps}
	access.Set(h)
	offer := offering(turnServer("line", access.URL()))
	offer["preCall"].(map[string]any)["maxThroughputBps"] = l.mostBps
	s.answers(offer)
	p := s.open(t, b, l.name)
	p.beginsTest()
	h.Loss = l.loss // from here: a connection is not to fail by chance
	access.Up.Set(h)
	lineMs := access.RoundTrips(t)
	p.Run(fmt.Sprintf("new Promise((resolve) => setTimeout(resolve, %d))", max(2500, 14*l.delay.Milliseconds()))) // of 3 s of pings, or until the line answered six times
	rttMs := lineMs()
	f := p.frame()
	p.Run("monitor.stopPrecallTests()")
	t.Logf("| %s | %s | %.1f (line %.1f) | %.3f | %.0f | %.1f s, %.2f MB |", l.name, b.Kind, deref(f.RTTMs), rttMs, deref(f.LossFraction),
		deref(f.ThroughputBps)/1000, f.DurationMs/1000, f.BytesSent/1e6)
	require.True(t, f.MediaConnectivity, jsonOf(f))
	require.GreaterOrEqual(t, rttMs, 2*float64(l.delay.Milliseconds()), "the line itself")
	if l.rateBps == 0 { // a ping waits on a slow line
		require.InDelta(t, rttMs, *f.RTTMs, math.Max(3, 0.1*rttMs), l.name)
		deviation := math.Sqrt(l.loss * (1 - l.loss) / leastPings) // of the binomial distribution
		require.InDelta(t, l.loss, *f.LossFraction, 1.96*deviation, l.name)
	}
	if l.delay > mostRampDelay {
		require.Nil(t, f.ThroughputBps, "that of SCTP's window")
	} else if l.within > 0 {
		require.InDelta(t, l.rateBps, *f.ThroughputBps, l.within*l.rateBps, l.name)
	}
}

func deref(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
