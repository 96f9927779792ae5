package monitoring

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/metrics/series"
	"github.com/qosrtc/qos/tests/fleet"
)

// monday is the day of the fleet.
var monday = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// scrapeInterval is that of the Prometheus that the day's block comes from.
const scrapeInterval = time.Minute

// lookback is that of the Prometheus that reads the block, and mostSkipped the number of scrapes in
// which a series without a new value is left out, so that the block is small.
const (
	lookback    = time.Hour
	mostSkipped = 50
)

// exposition is a text of samples with times, in the OpenMetrics format.
type exposition struct {
	text bytes.Buffer
	last map[string]*last // by series
}

type last struct {
	value   string
	at      time.Time
	skipped int
}

// add adds the samples of a scrape. Before a new value it adds the last one that was left out.
func (x *exposition) add(scrape []byte, at time.Time) {
	for line := range bytes.Lines(scrape) {
		if line[0] == '#' {
			continue
		}
		line = bytes.TrimSpace(line)
		space := bytes.LastIndexByte(line, ' ')
		name, value := line[:space], string(line[space+1:])
		before := x.last[string(name)]
		switch {
		case before == nil:
			before = &last{}
			x.last[string(name)] = before
		case before.value == value && before.skipped < mostSkipped:
			before.skipped, before.at = before.skipped+1, at
			continue
		case before.skipped > 0:
			x.write(name, before.value, before.at)
		}
		x.write(name, value, at)
		*before = last{value, at, 0}
	}
}

func (x *exposition) write(name []byte, value string, at time.Time) {
	x.text.Write(name)
	x.text.WriteString(" " + value + " " + strconv.FormatInt(at.Unix(), 10) + "\n")
}

// blocks makes blocks of the samples in dir/data.
func (x *exposition) blocks(t *testing.T, dir string) {
	t.Helper()
	x.text.WriteString("# EOF\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "samples"), x.text.Bytes(), 0o600))
	run(t, dir, "promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=54h", "samples", "data")
}

// draw returns the fleet of these tests.
func draw() *fleet.Day {
	cfg := fleet.DefaultConfig(monday)
	cfg.Conferences = 300
	return fleet.Draw(cfg)
}

// record passes the day through the pipeline and returns what a Prometheus would have scraped.
func record(t *testing.T, d *fleet.Day) *exposition {
	t.Helper()
	x := &exposition{last: map[string]*last{}}
	set := series.New(series.Config{MaxApps: 10, MaxSeries: 2000}, d.Start)
	fleet.Run(t, d, scrapeInterval, func(logs plog.Logs, now time.Time) {
		left := set.Observe(logs, now)
		require.True(t, left.Empty(), "%+v", left)
	}, func(now time.Time) {
		var scrape bytes.Buffer
		require.NoError(t, set.Write(&scrape, false))
		x.add(scrape.Bytes(), now)
	})
	return x
}
