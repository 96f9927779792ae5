package conference

import (
	"cmp"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// finder finds the issues of a conference. The mutes, holds and ends in its summary are excuses.
type finder struct {
	c        *Conference
	s        *Summary
	rules    *detect.Rules
	labels   quality.Bounds
	received map[int64]bool          // streams that their receiver measured
	everyone []int                   // all participants; empty if there are more than maxSilenced
	shares   func() *shares          // computed on demand: few conferences need it
	named    map[string][]int        // participants by each of their userIDs
	times    mediaTimes              // times that several fabrics need
	devices  map[string][]deviceList // lists of devices by session
	now      moment
	pending  bool                       // an issue may be raised or end without another record
	report   func(Issue, []detect.Span) // receives each issue; nil: they are added to issues
	issues   []Issue
}

// findIssues returns all issues, by kind, worst first.
func (c *Conference) findIssues(s *Summary, labels quality.Bounds, now moment) []Issue {
	f := c.newFinder(s, labels, now)
	f.findAll()
	slices.SortStableFunc(f.issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), a.compareSeverity(b))
	})
	return f.issues
}

func (c *Conference) newFinder(s *Summary, labels quality.Bounds, now moment) *finder {
	f := &finder{c: c, s: s, rules: c.criteria.rules, labels: labels, now: now, received: receivedSSRCs(s.Participants), shares: sync.OnceValue(c.shares), times: newMediaTimes()}
	if len(s.Participants) <= maxSilenced {
		for i := range s.Participants {
			f.everyone = append(f.everyone, i)
		}
	}
	f.named, f.devices = namesOf(s.Participants), c.deviceLists()
	return f
}

func (f *finder) findAll() {
	for i := range f.s.Participants {
		f.findInParticipant(i)
	}
}

// receivedSSRCs returns the streams whose receiver measured the loss. The remote reports at the sender
// repeat that loss.
func receivedSSRCs(participants []Participant) map[int64]bool {
	received := map[int64]bool{}
	for i := range participants {
		for j := range participants[i].Fabrics {
			for _, s := range participants[i].Fabrics[j].Streams {
				if s.StatsType == inboundRTP && s.LossFraction != nil {
					received[s.SSRC] = true
				}
			}
		}
	}
	return received
}

// add adds an issue with its spans. Without spans there is no issue.
func (f *finder) add(issue Issue, spans []detect.Span) {
	if len(spans) == 0 {
		return
	}
	if f.report != nil {
		f.report(issue, spans)
		return
	}
	issue.Count = len(spans)
	issue.SinceMs, issue.UntilMs = spans[0].FromMs, spans[len(spans)-1].ToMs
	issue.Spans = make([]IssueSpan, 0, min(len(spans), maxIssueSpans))
	for _, span := range spans {
		issue.TotalMs += span.ToMs - span.FromMs
		if len(issue.Spans) < maxIssueSpans {
			issue.Spans = append(issue.Spans, IssueSpan{span.FromMs, span.ToMs})
		}
	}
	issue.Value, issue.Worst = round4(issue.Value), round4(issue.Worst)
	f.issues = append(f.issues, issue)
}

// addTimes adds an issue whose metric is the duration of its spans; after is the threshold.
func (f *finder) addTimes(issue Issue, spans []detect.Span, after time.Duration) {
	issue.Threshold, issue.times = float64(after.Milliseconds()), true
	for _, span := range spans {
		ms := float64(span.ToMs - span.FromMs)
		issue.Value += ms
		issue.Worst = max(issue.Worst, ms)
	}
	f.add(issue, spans)
}

// addPoints adds an issue whose metric is the number of events.
func (f *finder) addPoints(issue Issue, at []int64) {
	slices.Sort(at)
	spans := make([]detect.Span, len(at))
	for i, ms := range at {
		spans[i] = detect.Span{FromMs: ms, ToMs: ms}
	}
	issue.Value, issue.Worst, issue.points = float64(len(at)), float64(len(at)), true
	f.add(issue, spans)
}

func (f *finder) findInParticipant(index int) {
	p := &f.s.Participants[index]
	about := Issue{Session: p.Session, UserID: p.UserID, Alias: p.Alias, SiteID: p.Client.SiteID}
	whole := []detect.Span{{FromMs: p.StartMs, ToMs: p.EndMs}}
	if fair := f.labels[2]; p.MOS != nil && *p.MOS < fair {
		low := about.withKind(detect.LowQuality, "mos", detect.Medium)
		low.Value, low.Worst, low.Threshold = *p.MOS, *p.MOS, fair
		low.Open = p.isPresent()
		f.add(low, whole)
	}
	f.findLateJoin(about, p)
	f.addPoints(about.withKind(detect.DeviceChange, "device_changes", detect.High), f.deviceChanges(p.Session))
	for w := range f.fabrics(index) {
		w.about = about
		w.about.Fabric = w.out.Fabric
		w.find()
	}
}

// fabrics yields a finder for each fabric of the participant at an index.
func (f *finder) fabrics(index int) iter.Seq[*fabricFinder] {
	return func(yield func(*fabricFinder) bool) {
		p := &f.s.Participants[index]
		for i := range p.Fabrics {
			out := &p.Fabrics[i]
			if !yield(f.ofFabric(index, p, out)) {
				return
			}
		}
	}
}

// findLateJoin finds the issue of a participant that joined for the first time long after the beginning of
// the conference.
func (f *finder) findLateJoin(about Issue, p *Participant) {
	rule := f.rules.LateJoin
	lateMs := p.StartMs - f.s.StartMs
	if rule.Disabled || len(p.Fabrics) == 0 || lateMs <= rule.After.Milliseconds() {
		return
	}
	for _, i := range f.named[p.UserID] {
		if f.s.Participants[i].StartMs < p.StartMs {
			return // a re-join
		}
	}
	f.addTimes(about.withKind(detect.LateJoin, "late_ms", detect.High), []detect.Span{{FromMs: f.s.StartMs, ToMs: p.StartMs}}, rule.After)
}

// namesOf returns the participants by each of their userIDs.
func namesOf(participants []Participant) map[string][]int {
	named := make(map[string][]int, len(participants))
	for i := range participants {
		p := &participants[i]
		named[p.UserID] = append(named[p.UserID], i)
		for _, name := range p.UserIDs {
			if name != p.UserID {
				named[name] = append(named[name], i)
			}
		}
	}
	return named
}

// deviceList is an activeDeviceList of a session.
type deviceList struct {
	at      int64
	seq     uint64
	devices event.Devices
}

func (c *Conference) deviceLists() map[string][]deviceList {
	var lists map[string][]deviceList
	for id, r := range c.sessionRecords {
		if r.devices == (event.Devices{}) {
			continue
		}
		if lists == nil {
			lists = map[string][]deviceList{}
		}
		lists[id.session] = append(lists[id.session], deviceList{r.atMs, id.seq, r.devices})
	}
	return lists
}

// deviceChanges returns the times at which a session's devices changed.
func (f *finder) deviceChanges(session string) (at []int64) {
	lists := f.devices[session]
	slices.SortFunc(lists, func(a, b deviceList) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq), slices.Compare(a.devices[:], b.devices[:]))
	})
	for i := 1; i < len(lists); i++ {
		if lists[i].devices.Replaces(lists[i-1].devices) {
			at = append(at, lists[i].at)
		}
	}
	return at
}
