package cause

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// What a call with a starved machine must be like to count as harmed: in its last harmLasts
// fewer pictures were shown to somebody, or more of what somebody heard was made up. It was set
// before the third draw, and uses nothing that the rules say.
const (
	harmLasts  = 15 * time.Second
	fewFPS     = 15 // of the 20 that the cameras here give
	muchMadeUp = 0.03
)

// heard is what one participant saw and heard.
type heard struct{ pictures, seconds, samples, madeUp float64 }

func harmed(trace *Trace) bool {
	var end time.Time
	for _, logs := range trace.Logs {
		eachRecord(logs, func(r plog.LogRecord) {
			if at := r.Timestamp().AsTime(); at.After(end) {
				end = at
			}
		})
	}
	people := map[string]*heard{}
	for _, logs := range trace.Logs {
		for _, resource := range logs.ResourceLogs().All() {
			user := eventlog.Text(resource.Resource().Attributes(), semconv.UserID)
			if people[user] == nil {
				people[user] = new(heard)
			}
			for _, scope := range resource.ScopeLogs().All() {
				for _, r := range scope.LogRecords().All() {
					if end.Sub(r.Timestamp().AsTime()) < harmLasts {
						people[user].add(r.Attributes())
					}
				}
			}
		}
	}
	for _, h := range people {
		if h.seconds > 0 && h.pictures/h.seconds < fewFPS || h.samples > 0 && h.madeUp/h.samples >= muchMadeUp {
			return true
		}
	}
	return false
}

func (h *heard) add(row pcommon.Map) {
	number := func(name string) float64 {
		v, ok := row.Get(eventtest.Stats(name))
		switch {
		case !ok:
			return 0
		case v.Type() == pcommon.ValueTypeInt:
			return float64(v.Int())
		}
		return v.Double()
	}
	if eventlog.Text(row, semconv.StatsType) != "inbound-rtp" {
		return
	}
	interval, _ := row.Get(semconv.IntervalMs)
	if eventlog.Text(row, semconv.MediaType) == "video" {
		h.seconds += interval.Double() / 1000
		h.pictures += number("fps") * interval.Double() / 1000
		return
	}
	h.samples += number("samples")
	h.madeUp += number("concealedSamples") - number("silentConcealedSamples")
}

// TestStarvedCallsAreHarmed says which calls with a starved machine were bad for anybody. Those
// of the first two draws starved hardly anything: docs/cause.md.
func TestStarvedCallsAreHarmed(t *testing.T) {
	for dir, want := range map[string][]string{
		"testdata":        {"cpu-receive-a", "cpu-receive-firefox", "cpu-receive-server", "cpu-send-a", "cpu-send-b", "cpu-send-firefox", "cpu-send-mesh", "cpu-send-server"},
		"testdata/fresh":  {"fresh-24", "fresh-34"},
		"testdata/second": nil,
		"testdata/third":  {"third-02", "third-07", "third-12", "third-30"},
	} {
		var found []string
		for _, trace := range traces(t, dir) {
			if starves := trace.Label.Cause == "receivingMachine" || trace.Label.Cause == "sendingMachineCpu"; starves && harmed(trace) {
				found = append(found, trace.Name)
			}
		}
		require.Equal(t, want, found, dir)
	}
}
