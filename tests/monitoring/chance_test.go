package monitoring

import (
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// traffic are the conferences of an app that ended, in order.
type traffic struct {
	ends   []time.Duration
	failed []int // so many of the conferences before each index
}

// drawTraffic draws conferences by chance until end; of those that end after outage all fail.
func drawTraffic(r *rand.Rand, perHour, share float64, outage, end time.Duration) *traffic {
	t := &traffic{failed: []int{0}}
	for at := time.Duration(0); ; {
		at += time.Duration(r.ExpFloat64() / perHour * float64(time.Hour))
		if at > end {
			return t
		}
		n := t.failed[len(t.failed)-1]
		if at >= outage || r.Float64() < share {
			n++
		}
		t.ends, t.failed = append(t.ends, at), append(t.failed, n)
	}
}

// window returns the conferences in a window that ends at a time, and those of them that failed.
func (t *traffic) window(at, length time.Duration) (all, failed float64) {
	from, _ := slices.BinarySearch(t.ends, at-length)
	to, _ := slices.BinarySearch(t.ends, at)
	return float64(to - from), float64(t.failed[to] - t.failed[from])
}

// chance is the rule QoSConferencesFail. Objective is the share that may fail.
type chance struct{ objective, evidence float64 }

// enough reports whether failures are so many times the objective, and beyond chance.
func (c chance) enough(all, failed, times float64) bool {
	share := failed / max(all, 1)
	return share > times*c.objective && all*(share*math.Log(share/c.objective)-share+c.objective) > c.evidence
}

// pages reports whether the rule is true at a time.
func (c chance) pages(t *traffic, at time.Duration) bool {
	for _, fast := range []struct{ window, recent time.Duration }{{5 * time.Minute, 0}, {15 * time.Minute, 0}, {time.Hour, 30 * time.Minute}} {
		all, failed := t.window(at, fast.window)
		if c.enough(all, failed, 14.4) && c.recent(t, at, fast.recent, 14.4) {
			return true
		}
	}
	all, failed := t.window(at, 6*time.Hour)
	return c.enough(all, failed, 6) && c.recent(t, at, 30*time.Minute, 6)
}

func (c chance) recent(t *traffic, at, window time.Duration, times float64) bool {
	all, failed := t.window(at, window)
	return window == 0 || all > 0 && failed/all > times*c.objective
}

// minute is the step in which the tests evaluate rules.
const minute = time.Minute

// falsePages returns the pages a day of an app at its objective. Pages within an hour are one.
func (c chance) falsePages(t *traffic, days int) float64 {
	pages, last := 0, -time.Hour
	for at := time.Duration(0); at < time.Duration(days)*24*time.Hour; at += minute {
		if !c.pages(t, at) {
			continue
		}
		if at-last > time.Hour {
			pages++
		}
		last = at
	}
	return float64(pages) / float64(days)
}

// delays returns the times from the begin of total outages to their pages, ascending; at most half a day.
func (c chance) delays(r *rand.Rand, perHour float64, outages int) []time.Duration {
	const begin = 12 * time.Hour
	found := make([]time.Duration, outages)
	for i := range found {
		t := drawTraffic(r, perHour, c.objective, begin, 2*begin)
		for found[i] < begin && !c.pages(t, begin+found[i]) {
			found[i] += minute
		}
	}
	slices.Sort(found)
	return found
}

// rule reads the numbers of QoSConferencesFail.
func rule(t *testing.T) chance {
	t.Helper()
	text, err := os.ReadFile(rulesDir + "/qos.rules.yaml")
	require.NoError(t, err)
	number := func(pattern string) float64 {
		found := regexp.MustCompile(pattern).FindSubmatch(text)
		require.NotNil(t, found, pattern)
		v, err := strconv.ParseFloat(string(found[1]), 64)
		require.NoError(t, err)
		return v
	}
	return chance{number(`conferences_failed\n +expr: vector\((\S+)\)`), number(`evidence_5m > (\S+)`)}
}

// TestChance: an app at its objective pages by chance at most once in a year each, and a total outage pages after a few conferences. The
// figures are those of deploy/prometheus/README.md.
//
// spec: DASH-04
func TestChance(t *testing.T) {
	t.Parallel()
	c, days := rule(t), 1000
	for _, app := range []struct {
		perHour       float64
		median, worst time.Duration
	}{{4, 80 * minute, 6 * time.Hour}, {20, 16 * minute, time.Hour}, {100, 5 * minute, 15 * minute}} {
		r := rand.New(rand.NewPCG(1, uint64(app.perHour)))
		pages := c.falsePages(drawTraffic(r, app.perHour, c.objective, math.MaxInt64, time.Duration(days)*24*time.Hour), days)
		delays := c.delays(r, app.perHour, 200)
		t.Logf("%v an hour: %.4f pages a day, a total outage after %v (95 %%: %v, worst: %v)", app.perHour, pages, delays[len(delays)/2], delays[len(delays)*95/100], delays[len(delays)-1])
		require.LessOrEqual(t, pages, 1.0/365)
		require.LessOrEqual(t, delays[len(delays)/2], app.median)
		require.LessOrEqual(t, delays[len(delays)-1], app.worst)
	}
}
