package live

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/qosrtc/qos/internal/conference"
)

// A conference that goes on notifies of its issues when they begin and end. They are found by
// the same walk over the time-lines as for the summary, again and again; this file remembers
// the notices, so that each span of an issue is raised once and resolved once, whatever late
// data does to its edges.

// IssueState is what became of an issue.
type IssueState string

// The states. Each issue that is raised is resolved or withdrawn in the end.
const (
	IssueRaised    IssueState = "raised"
	IssueResolved  IssueState = "resolved"  // it is well again, or there is nothing left that it could be wrong with
	IssueWithdrawn IssueState = "withdrawn" // a later record excuses it: it was none
)

// IssueChange notifies of one span of an issue of a conference that goes on.
type IssueChange struct {
	AppID, ConferenceID string

	ID    string // of the span: the same in all its states, at all collectors and after a restart
	State IssueState
	// Issue is what was wrong. SinceMs and UntilMs are those of the span, which ends at the
	// newest evidence while it is raised. Value and Worst are those of a duration or a count
	// in this span; of other metrics those of the stream so far. It has no Spans.
	Issue conference.Issue
	// Again says that another process may have notified of the same before.
	Again bool
}

// maxNotices bounds what is remembered of one conference.
const maxNotices = 64

// notices are those of a conference.
type notices struct {
	list    []notice
	untilMs int64 // what ended by then was notified, or is left to the process before this one
}

// notice is a span of an issue.
type notice struct {
	id    string
	issue conference.Issue // as it was notified last
	open  bool
	found bool // in this evaluation
}

func (n *notices) open() bool {
	return slices.ContainsFunc(n.list, func(i notice) bool { return i.open })
}

func (n *notices) merge(o *notices) {
	n.list = append(n.list, o.list...)
	n.untilMs = max(n.untilMs, o.untilMs)
}

// evaluator is one evaluation of a conference.
type evaluator struct {
	*conf
	startMs int64                        // of this process: what began before may have been notified by another
	own     func(*conference.Issue) bool // whether it is ours to notify of
	out     []IssueChange
	alike   []int // in the list, of the issue at hand
	left    int   // found and not raised, for there was no room
}

// run reports whether time alone may raise something.
func (v *evaluator) run(nowMs int64) (again bool) {
	for i := range v.notices.list {
		v.notices.list[i].found = false
	}
	again = v.Evaluate(nowMs, v.issue)
	v.withdraw()
	return again
}

// issue takes the spans of one issue.
func (v *evaluator) issue(spans []conference.Issue) {
	v.findAlike(&spans[0])
	for _, span := range spans {
		v.span(span)
	}
}

// span compares one span with the notices.
func (v *evaluator) span(issue conference.Issue) {
	was, until := false, int64(0)
	open := false
	for _, i := range v.alike {
		t := &v.notices.list[i]
		if t.issue.SinceMs > issue.UntilMs || issue.SinceMs > t.issue.UntilMs {
			continue
		}
		t.found, was = true, true
		until = max(until, t.issue.UntilMs)
		if t.open {
			open = true
			v.goOn(t, issue)
		}
	}
	switch {
	case open, !issue.Open && (was || issue.UntilMs <= v.notices.untilMs):
	case was && issue.UntilMs == until:
	case was: // it was over, and goes on all the same: the rest is another
		for issue.SinceMs = until; v.began(issue.SinceMs); {
			issue.SinceMs++
		}
		v.raise(issue)
	default:
		v.raise(issue)
	}
}

// began reports whether one of those that are alike began then.
func (v *evaluator) began(sinceMs int64) bool {
	return slices.ContainsFunc(v.alike, func(i int) bool { return v.notices.list[i].issue.SinceMs == sinceMs })
}

// goOn updates an issue that is open.
func (v *evaluator) goOn(t *notice, issue conference.Issue) {
	issue.SinceMs = t.issue.SinceMs // as it was notified
	t.issue = issue
	if !issue.Open {
		t.open = false
		v.notify(t, IssueResolved, false)
	}
}

func (v *evaluator) raise(issue conference.Issue) {
	if !v.own(&issue) {
		return
	}
	if len(v.notices.list) >= maxNotices && !v.notices.forget() {
		v.left++
		return
	}
	t := notice{id: v.id(&issue), issue: issue, open: issue.Open, found: true}
	t.issue.Open = true
	v.notify(&t, IssueRaised, issue.SinceMs < v.startMs)
	t.issue.Open = issue.Open
	if !issue.Open {
		v.notify(&t, IssueResolved, false)
	}
	v.notices.list = append(v.notices.list, t)
	v.findAlike(&issue)
}

// findAlike finds the notices of the same thing.
func (v *evaluator) findAlike(issue *conference.Issue) {
	v.alike = v.alike[:0]
	for i := range v.notices.list {
		if v.notices.list[i].of(issue) {
			v.alike = append(v.alike, i)
		}
	}
}

// forget drops the one of those that are over that ended first. It reports false when all are
// open.
func (n *notices) forget() bool {
	first := -1
	for i := range n.list {
		if !n.list[i].open && (first < 0 || n.list[i].issue.UntilMs < n.list[first].issue.UntilMs) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	n.untilMs = max(n.untilMs, n.list[first].issue.UntilMs)
	n.list = slices.Delete(n.list, first, first+1)
	return true
}

// withdraw withdraws what is open and was not found: late data excused it. What was
// resolved stays so; the summary has the last word.
func (v *evaluator) withdraw() {
	for i := range v.notices.list {
		if t := &v.notices.list[i]; t.open && !t.found {
			t.open, t.issue.Open = false, false
			v.notify(t, IssueWithdrawn, false)
		}
	}
}

func (v *evaluator) notify(t *notice, state IssueState, again bool) {
	v.out = append(v.out, IssueChange{
		AppID: v.key.appID, ConferenceID: v.key.conferenceID, ID: t.id, State: state, Issue: t.issue, Again: again,
	})
}

// of reports whether the notice is of the same thing as an issue.
func (n *notice) of(o *conference.Issue) bool {
	i := &n.issue
	return i.Kind == o.Kind && i.Session == o.Session && i.Fabric == o.Fabric && i.SSRC == o.SSRC &&
		i.MediaType == o.MediaType && i.Direction == o.Direction
}

// id names a span by what it is about and when it began.
func (v *evaluator) id(i *conference.Issue) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q%q%q %d %d %d",
		v.key.appID, v.key.conferenceID, i.Session, i.Kind, i.MediaType, i.Direction, i.Fabric, i.SSRC, i.SinceMs))
	return hex.EncodeToString(sum[:16])
}
