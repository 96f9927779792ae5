package conference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// A conference that goes on tells of its issues as they come and go. What is wrong is found by
// the same walk over the time-lines as for the summary, again and again; this file remembers
// what was told of it, so that each span of an issue is told raised once and resolved once,
// whatever late data does to its edges.

// IssueState is what became of an issue.
type IssueState string

// The states. Each issue that is raised is resolved or withdrawn in the end.
const (
	IssueRaised    IssueState = "raised"
	IssueResolved  IssueState = "resolved"  // it is well again, or there is nothing left that it could be wrong with
	IssueWithdrawn IssueState = "withdrawn" // what came later excuses it: it was none
)

// IssueChange tells of one span of an issue of a conference that goes on.
type IssueChange struct {
	AppID, ConferenceID string

	ID    string // of the span: the same in all its states, at all collectors and after a restart
	State IssueState
	// Issue is what was wrong. SinceMs and UntilMs are those of the span, which ends at the
	// newest evidence while it is raised. Value and Worst are those of a duration or a count
	// in this span; of other metrics those of the stream so far. It has no Spans.
	Issue Issue
	// Again says that another process may have told the same before.
	Again bool
}

// maxTold bounds what is remembered of one conference.
const maxTold = 64

// tellings are what was told of a conference.
type tellings struct {
	list    []toldIssue
	untilMs int64 // what ended by then was told, or is left to who was here before
}

// toldIssue is a span that was told.
type toldIssue struct {
	id    string
	issue Issue // as it was told last
	open  bool
	seen  bool // in this look
}

func (t *tellings) open() bool {
	return slices.ContainsFunc(t.list, func(i toldIssue) bool { return i.open })
}

func (t *tellings) merge(o *tellings) {
	t.list = append(t.list, o.list...)
	t.untilMs = max(t.untilMs, o.untilMs)
}

// look is one search for issues.
type look struct {
	*conf
	startMs int64             // of this process: what began before may have been told by another
	own     func(*Issue) bool // whether it is ours to tell
	out     []IssueChange
	same    []int // in the list, of the issue that is looked at
	lasts   bool  // it has to be looked at again though nothing is told of it
	left    int   // raised and not told, for there was no room
}

func (l *look) run(now moment) {
	for i := range l.issues.list {
		l.issues.list[i].seen = false
	}
	f := l.newFinder(l.brief(now), l.judge.labels, now)
	f.see = l.see
	f.all()
	l.lasts = f.lasts
	l.withdraw()
}

// see takes the times at which something was so.
func (l *look) see(issue Issue, spans []detect.Span) {
	goesOn := issue.Open
	l.alike(&issue)
	for i, span := range spans {
		issue.SinceMs, issue.UntilMs = span.FromMs, span.ToMs
		issue.TotalMs = span.ToMs - span.FromMs
		issue.Open = goesOn && i == len(spans)-1
		switch {
		case issue.times:
			issue.Value = float64(issue.TotalMs)
			issue.Worst = issue.Value
		case issue.points:
			issue.Value, issue.Worst = 1, 1
		}
		issue.Value, issue.Worst = round4(issue.Value), round4(issue.Worst)
		l.span(issue)
	}
}

// span compares one span with what was told.
func (l *look) span(issue Issue) {
	was, until := false, int64(0)
	open := false
	for _, i := range l.same {
		t := &l.issues.list[i]
		if t.issue.SinceMs > issue.UntilMs || issue.SinceMs > t.issue.UntilMs {
			continue
		}
		t.seen, was = true, true
		until = max(until, t.issue.UntilMs)
		if t.open {
			open = true
			l.goOn(t, issue)
		}
	}
	switch {
	case open, !issue.Open && (was || issue.UntilMs <= l.issues.untilMs):
	case was && issue.UntilMs == until:
	case was: // it was over, and goes on all the same: the rest is another
		for issue.SinceMs = until; l.began(issue.SinceMs); {
			issue.SinceMs++
		}
		l.raise(issue)
	default:
		l.raise(issue)
	}
}

// began reports whether one of those that are alike was told to begin then.
func (l *look) began(sinceMs int64) bool {
	return slices.ContainsFunc(l.same, func(i int) bool { return l.issues.list[i].issue.SinceMs == sinceMs })
}

// goOn takes what is known now of an issue that is open.
func (l *look) goOn(t *toldIssue, issue Issue) {
	issue.SinceMs = t.issue.SinceMs // as it was told
	t.issue = issue
	if !issue.Open {
		t.open = false
		l.tell(t, IssueResolved, false)
	}
}

func (l *look) raise(issue Issue) {
	if !l.own(&issue) {
		return
	}
	if len(l.issues.list) >= maxTold && !l.issues.forget() {
		l.left++
		return
	}
	t := toldIssue{id: l.id(&issue), issue: issue, open: issue.Open, seen: true}
	t.issue.Open = true
	l.tell(&t, IssueRaised, issue.SinceMs < l.startMs)
	t.issue.Open = issue.Open
	if !issue.Open {
		l.tell(&t, IssueResolved, false)
	}
	l.issues.list = append(l.issues.list, t)
	l.alike(&issue)
}

// alike finds what was told of the same thing.
func (l *look) alike(issue *Issue) {
	l.same = l.same[:0]
	for i := range l.issues.list {
		if l.issues.list[i].issue.sameAs(issue) {
			l.same = append(l.same, i)
		}
	}
}

// forget drops the one of those that are over that ended first. It reports false when all are
// open.
func (t *tellings) forget() bool {
	first := -1
	for i := range t.list {
		if !t.list[i].open && (first < 0 || t.list[i].issue.UntilMs < t.list[first].issue.UntilMs) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	t.untilMs = max(t.untilMs, t.list[first].issue.UntilMs)
	t.list = slices.Delete(t.list, first, first+1)
	return true
}

// withdraw takes back what was told open and is not there: late data excused it. What was
// resolved stays told; the summary has the last word.
func (l *look) withdraw() {
	for i := range l.issues.list {
		if t := &l.issues.list[i]; t.open && !t.seen {
			t.open, t.issue.Open = false, false
			l.tell(t, IssueWithdrawn, false)
		}
	}
}

func (l *look) tell(t *toldIssue, state IssueState, again bool) {
	l.out = append(l.out, IssueChange{
		AppID: l.key.appID, ConferenceID: l.key.conferenceID, ID: t.id, State: state, Issue: t.issue, Again: again,
	})
}

// sameAs reports whether two spans are of the same thing.
func (i *Issue) sameAs(o *Issue) bool {
	return i.Kind == o.Kind && i.Session == o.Session && i.Fabric == o.Fabric && i.SSRC == o.SSRC &&
		i.MediaType == o.MediaType && i.Direction == o.Direction
}

// id names a span by what it is about and when it began.
func (l *look) id(i *Issue) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q%q%q%q%q%q %d %d %d",
		l.key.appID, l.key.conferenceID, i.Session, i.Kind, i.MediaType, i.Direction, i.Fabric, i.SSRC, i.SinceMs))
	return hex.EncodeToString(sum[:16])
}
