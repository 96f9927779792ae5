package timeseriesexporter

import (
	"slices"
	"sync"

	"github.com/VictoriaMetrics/metrics"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/conference/live"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/semconv"
)

// maxOpenIssues bounds the issues whose end is waited for.
const maxOpenIssues = 100_000

// openIssues counts issues of live conferences that are open. It identifies them by id: one that is
// reported twice counts once, and the end of one that was never raised does not count.
type openIssues struct {
	mu   sync.Mutex
	most int
	open map[string]*metrics.Gauge // by id
}

var issueKinds = func() []string {
	kinds := make([]string, len(detect.Kinds))
	for i, kind := range detect.Kinds {
		kinds[i] = string(kind)
	}
	return kinds
}()

// observeIssue takes what became of an issue. It reports false when there are too many open
// ones to follow it. Again says that it was reported before: then it is not raised once more.
func (a *aggregates) observeIssue(app *appMetrics, attrs pcommon.Map, again bool) (followed bool) {
	kind, id := eventlog.Text(attrs, semconv.IssueKind), eventlog.Text(attrs, semconv.IssueID)
	if !slices.Contains(issueKinds, kind) || id == "" {
		return true
	}
	switch live.IssueState(eventlog.Text(attrs, semconv.IssueState)) {
	case live.IssueRaised:
		if !again {
			a.count(semconv.MetricIssuesRaised, app.name, semconv.LabelKind, kind)
		}
		return a.issues.raise(id, a.metrics.GetOrCreateGauge(name(semconv.MetricOpenIssues, semconv.LabelApp, app.name, semconv.LabelKind, kind), nil))
	case live.IssueResolved, live.IssueWithdrawn:
		a.issues.end(id)
	}
	return true
}

func (o *openIssues) raise(id string, gauge *metrics.Gauge) (followed bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.open[id] != nil:
	case len(o.open) >= o.most:
		return false
	default:
		o.open[id] = gauge
		gauge.Inc()
	}
	return true
}

func (o *openIssues) end(id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if gauge := o.open[id]; gauge != nil {
		delete(o.open, id)
		gauge.Dec()
	}
}
