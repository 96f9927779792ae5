package series

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// maxIssueID bounds the ID of an issue.
const maxIssueID = 128

// openIssues counts the open issues of live conferences. It identifies them by ID: a repeated issue
// counts once, and the end of an issue that was not raised does not count.
type openIssues struct {
	mu    sync.Mutex
	limit int
	open  map[string]*entry // by id
}

// issue counts a change of an issue. If again is true it was reported before: then it does not count as
// raised, but it may be open.
func (b *batch) issue(attrs pcommon.Map, again bool) Reason {
	kind, id := eventlog.Text(attrs, semconv.IssueKind), eventlog.Text(attrs, semconv.IssueID)
	site := b.label(eventlog.Text(attrs, semconv.IssueSite))
	state := live.IssueState(eventlog.Text(attrs, semconv.IssueState))
	switch {
	case !contains(kinds, kind) || id == "" || len(id) > maxIssueID:
		return ReasonAttribute
	case state == live.IssueRaised:
		v := values{b.app(), site, intern(kinds, kind)}
		if !again {
			b.increment(famRaised, v, 1)
		}
		b.raise(id, v)
	case state == live.IssueResolved || state == live.IssueWithdrawn:
		b.end(id)
	default:
		return ReasonAttribute
	}
	return noReason
}

func (b *batch) raise(id string, v values) {
	o := &b.set.issues
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.open[id] != nil:
	case len(o.open) >= o.limit:
		b.left.Untracked++
	default:
		e := b.entry(famOpen, v)
		o.open[clone(id)] = e
		b.add(e, famOpen, 0, 1)
	}
}

func (b *batch) end(id string) {
	o := &b.set.issues
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.open[id]; e != nil {
		delete(o.open, id)
		b.add(e, famOpen, 0, -1)
	}
}
