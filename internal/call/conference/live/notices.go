package live

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
)

// A live conference notifies of its issues when they begin and end. Each evaluation finds them in
// the time-lines, as the summary does. The notices ensure that each span of an issue is raised
// once and resolved once, even if late data changes its bounds.

// IssueState is the state of a reported issue.
type IssueState string

// The states. Each issue that is raised is finally resolved or withdrawn.
const (
	IssueRaised    IssueState = "raised"
	IssueResolved  IssueState = "resolved"  // the metric has recovered, or the stream, participant or conference has ended
	IssueWithdrawn IssueState = "withdrawn" // a later record excuses it
)

// IssueChange is a change of state of one span of an issue of a live conference.
type IssueChange struct {
	AppID, ConferenceID string

	ID    string // of the span: equal in all its states, at all collectors and after a restart
	State IssueState
	// Issue is the issue. SinceMs and UntilMs are those of the span, which ends at the
	// newest evidence while it is raised. Value and Worst are those of a duration or a count
	// in this span; of other metrics those of the stream so far. It has no Spans.
	Issue conference.Issue
	// Again is true if another process may have reported the same before.
	Again bool
}

// maxNotices bounds the notices of one conference.
const maxNotices = 64

// notices are the reported spans of a conference's issues.
type notices struct {
	list    []notice
	untilMs int64 // spans that ended by then were reported, by this process or the previous one
}

// notice is a reported span of an issue.
type notice struct {
	id    string
	issue conference.Issue // as reported last
	open  bool
	found bool // in the current evaluation
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
	startMs    int64                        // of this process: the previous one may have reported spans that began before
	isOwn      func(*conference.Issue) bool // filter of the issues that this process reports
	sameID     []*conf                      // the conferences of the same conferenceID, this one too
	out        []IssueChange
	sameStream []int // indexes of the notices of the current issue
	unraised   int   // issues that were found and not raised because of maxNotices
}

// run evaluates the conference. It reports whether an issue may be raised or end without another record.
func (v *evaluator) run(nowMs int64) (again bool) {
	for i := range v.notices.list {
		v.notices.list[i].found = false
	}
	again = v.Evaluate(nowMs, v.issue)
	v.withdraw()
	return again
}

// issue compares the spans of one issue with the notices.
func (v *evaluator) issue(spans []conference.Issue) {
	v.findSameStream(&spans[0])
	for _, span := range spans {
		v.span(span)
	}
}

// span compares one span with the notices.
func (v *evaluator) span(issue conference.Issue) {
	was, until := false, int64(0)
	open := false
	for _, i := range v.sameStream {
		t := &v.notices.list[i]
		if t.issue.SinceMs > issue.UntilMs || issue.SinceMs > t.issue.UntilMs {
			continue
		}
		t.found, was = true, true
		until = max(until, t.issue.UntilMs)
		if t.open {
			open = true
			v.update(t, issue)
		}
	}
	switch {
	case open, !issue.Open && (was || issue.UntilMs <= v.notices.untilMs):
	case was && issue.UntilMs == until:
	case was: // it lasts longer than the resolved notice: the rest is another span
		for issue.SinceMs = until; v.began(issue.SinceMs); {
			issue.SinceMs++
		}
		v.raise(issue)
	default:
		v.raise(issue)
	}
}

// began reports whether a notice of the current issue began at sinceMs.
func (v *evaluator) began(sinceMs int64) bool {
	return slices.ContainsFunc(v.sameStream, func(i int) bool { return v.notices.list[i].issue.SinceMs == sinceMs })
}

// update updates a notice that is open, and resolves it if the issue has ended.
func (v *evaluator) update(t *notice, issue conference.Issue) {
	issue.SinceMs = t.issue.SinceMs // as reported
	t.issue = issue
	if !issue.Open {
		t.open = false
		v.notify(t, IssueResolved, false)
	}
}

func (v *evaluator) raise(issue conference.Issue) {
	if !v.isOwn(&issue) {
		return
	}
	if len(v.notices.list) >= maxNotices && !v.notices.evict() {
		v.unraised++
		return
	}
	t := notice{id: v.id(&issue), issue: issue, open: issue.Open, found: true}
	if v.wasReported(t.id) {
		t.open = false
	} else {
		v.report(&t)
	}
	v.notices.list = append(v.notices.list, t)
	v.findSameStream(&issue)
}

// report notifies that an issue was raised, and that it was resolved if it has ended.
func (v *evaluator) report(t *notice) {
	t.issue.Open = true
	v.notify(t, IssueRaised, t.issue.SinceMs < v.startMs)
	t.issue.Open = t.open
	if !t.open {
		v.notify(t, IssueResolved, false)
	}
}

// wasReported reports whether another conference of the same conferenceID reported a span: a record between two
// conferences may be attached to the earlier one first, and then to a later one that is nearer.
func (v *evaluator) wasReported(id string) bool {
	return slices.ContainsFunc(v.sameID, func(c *conf) bool {
		return c != v.conf && slices.ContainsFunc(c.notices.list, func(n notice) bool { return n.id == id })
	})
}

// findSameStream finds the notices of the same kind and stream as an issue.
func (v *evaluator) findSameStream(issue *conference.Issue) {
	v.sameStream = v.sameStream[:0]
	for i := range v.notices.list {
		if v.notices.list[i].isAbout(issue) {
			v.sameStream = append(v.sameStream, i)
		}
	}
}

// evict drops the resolved notice that ended first. It reports false if all are open.
func (n *notices) evict() bool {
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

// withdraw withdraws open notices whose issue was not found: late data excused it. A resolved
// one is not withdrawn; the summary is final.
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

// isAbout reports whether the notice has the kind and the stream of an issue.
func (n *notice) isAbout(o *conference.Issue) bool {
	i := &n.issue
	return i.Kind == o.Kind && i.Session == o.Session && i.Fabric == o.Fabric && i.SSRC == o.SSRC &&
		i.MediaType == o.MediaType && i.Direction == o.Direction
}

// id returns the ID of a span: a hash of its kind, its stream and its beginning.
func (v *evaluator) id(i *conference.Issue) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q%q%q %d %d %d",
		v.key.appID, v.key.conferenceID, i.Session, i.Kind, i.MediaType, i.Direction, i.Fabric, i.SSRC, i.SinceMs))
	return hex.EncodeToString(sum[:16])
}
