package conference

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/quality"
)

// Limits of the list and of an issue's times.
const (
	maxIssues     = 100
	maxIssueSpans = 20
)

// finder looks for issues in a conference whose participants are summed up.
type finder struct {
	c         *Conference
	s         *Summary
	rules     *detect.Rules
	labels    quality.Bounds
	received  map[int64]bool          // streams that their receiver measured
	everybody []int                   // all participants, unless there are many
	named     map[string][]int        // participants by all their userIDs
	devices   map[string][]deviceList // lists of devices by session
	issues    []Issue
}

// findIssues names all that was wrong, by kind, worst first.
func (c *Conference) findIssues(s *Summary, labels quality.Bounds) []Issue {
	f := finder{c: c, s: s, rules: c.judge.rules, labels: labels, received: receivedSSRCs(s.Participants)}
	if len(s.Participants) <= maxSilenced {
		for i := range s.Participants {
			f.everybody = append(f.everybody, i)
		}
	}
	f.named, f.devices = namesOf(s.Participants), c.deviceLists()
	for i := range s.Participants {
		f.participant(&s.Participants[i])
	}
	slices.SortStableFunc(f.issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(kindOrder[a.Kind], kindOrder[b.Kind]), a.compareSeverity(b))
	})
	return f.issues
}

var kindOrder = func() map[string]int {
	order := make(map[string]int, len(detect.Kinds))
	for i, kind := range detect.Kinds {
		order[string(kind)] = i
	}
	return order
}()

// tell puts the issues that there is room for into the summary, and counts all. Of each
// kind the worst are told, and no kind crowds out others.
func (s *Summary) tell(issues []Issue) {
	s.IssueCounts = map[string]int{}
	for i := range issues {
		s.IssueCounts[issues[i].Kind]++
	}
	room := roomByKind(s.IssueCounts, min(len(issues), maxIssues))
	s.Issues = make([]Issue, 0, min(len(issues), maxIssues))
	for i := range issues {
		if kind := issues[i].Kind; room[kind] > 0 {
			room[kind]--
			s.Issues = append(s.Issues, issues[i])
		}
	}
}

// roomByKind shares out places, one to each kind in turn, as long as there are takers.
func roomByKind(counts map[string]int, places int) map[string]int {
	room := make(map[string]int, len(counts))
	for left := places + 1; left > places; {
		left = places
		for _, kind := range detect.Kinds {
			if k := string(kind); places > 0 && room[k] < counts[k] {
				room[k]++
				places--
			}
		}
	}
	return room
}

// compareSeverity puts the worse one first, of equals the longer one.
func (i Issue) compareSeverity(o Issue) int {
	worse := cmp.Compare(o.Value, i.Value)
	if lowerIsWorse[i.Kind] {
		worse = -worse
	}
	return cmp.Or(worse, cmp.Compare(o.TotalMs, i.TotalMs))
}

var lowerIsWorse = func() map[string]bool {
	m := map[string]bool{IssueLowQuality: true, string(detect.WeakWiFi): true}
	for l := range detect.NumLevels {
		m[string(l.Kind())] = l.Below()
	}
	return m
}()

// receivedSSRCs tells for which streams a participant's own receiving end was measured:
// then what the sender heard of the loss is the same thing a second time.
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

// add takes an issue with the times at which it was so. Without any it was none.
func (f *finder) add(issue Issue, spans []detect.Span) {
	if len(spans) == 0 {
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

// addTimes takes an issue whose metric is how long it was so; after is how long it had to be.
func (f *finder) addTimes(issue Issue, spans []detect.Span, after time.Duration) {
	issue.Threshold = float64(after.Milliseconds())
	for _, span := range spans {
		ms := float64(span.ToMs - span.FromMs)
		issue.Value += ms
		issue.Worst = max(issue.Worst, ms)
	}
	f.add(issue, spans)
}

// addPoints takes an issue that is so many events.
func (f *finder) addPoints(issue Issue, at []int64) {
	slices.Sort(at)
	spans := make([]detect.Span, len(at))
	for i, ms := range at {
		spans[i] = detect.Span{FromMs: ms, ToMs: ms}
	}
	issue.Value, issue.Worst = float64(len(at)), float64(len(at))
	f.add(issue, spans)
}

func (i Issue) of(kind detect.Kind, metric string, confidence detect.Confidence) Issue {
	i.Kind, i.Metric, i.Confidence = string(kind), metric, string(confidence)
	return i
}

func (f *finder) participant(p *Participant) {
	about := Issue{Session: p.Session, UserID: p.UserID, Alias: p.Alias}
	whole := []detect.Span{{FromMs: p.StartMs, ToMs: p.EndMs}}
	if fair := f.labels[2]; p.MOS != nil && *p.MOS < fair {
		low := about.of(detect.LowQuality, "mos", detect.High)
		low.Value, low.Worst, low.Threshold = *p.MOS, *p.MOS, fair
		f.add(low, whole)
	}
	f.lateJoin(about, p)
	f.addPoints(about.of(detect.DeviceChange, "device_changes", detect.High), f.deviceChanges(p.Session))
	state := f.c.participants[p.Session]
	for i := range p.Fabrics {
		out := &p.Fabrics[i]
		about.Fabric = out.Fabric
		w := watched{finder: f, p: p, out: out, state: state.fabrics[out.Fabric], about: about}
		w.fabric()
	}
}

// lateJoin finds who came long after the conference began, and was not there before.
func (f *finder) lateJoin(about Issue, p *Participant) {
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
	f.addTimes(about.of(detect.LateJoin, "late_ms", detect.High), []detect.Span{{FromMs: f.s.StartMs, ToMs: p.StartMs}}, rule.After)
}

// namesOf finds participants by any of their userIDs.
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
	devices uint64
}

func (c *Conference) deviceLists() map[string][]deviceList {
	var lists map[string][]deviceList
	for id, r := range c.remarks {
		if r.devices == 0 {
			continue
		}
		if lists == nil {
			lists = map[string][]deviceList{}
		}
		lists[id.session] = append(lists[id.session], deviceList{r.atMs, id.seq, r.devices})
	}
	return lists
}

// deviceChanges returns when a session's devices were others than before.
func (f *finder) deviceChanges(session string) (at []int64) {
	lists := f.devices[session]
	slices.SortFunc(lists, func(a, b deviceList) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.seq, b.seq)) })
	for i := 1; i < len(lists); i++ {
		if lists[i].devices != lists[i-1].devices {
			at = append(at, lists[i].at)
		}
	}
	return at
}

// watched is a fabric in which a finder looks for issues.
type watched struct {
	*finder
	p     *Participant
	out   *Fabric
	state *fabric
	about Issue
}

func (w *watched) fabric() {
	w.connection()
	w.media()
	if pair := w.out.CandidatePair; pair != nil {
		w.stream(w.about, streamKey{candidatePair, pair.MediaType, pair.SSRC}, w.own("hold"))
	}
	for i := range w.out.Streams {
		s := &w.out.Streams[i]
		about := w.about
		about.SSRC, about.MediaType, about.Direction = s.SSRC, s.MediaType, DirectionInbound
		var excused []detect.Span
		if s.StatsType == outboundRTP {
			about.Direction, excused = DirectionOutbound, w.own("hold", s.MediaType)
		} else {
			excused = detect.Merge(append(w.own("hold"), w.others(s.MediaType, s.UserID)...))
		}
		w.stream(about, streamKey{s.StatsType, s.MediaType, s.SSRC}, excused)
	}
}

// stream finds what its metrics tell.
func (w *watched) stream(about Issue, key streamKey, excused []detect.Span) {
	s := w.state.streams[key]
	if s == nil {
		return
	}
	for _, b := range s.watch.broken {
		if w.toldElsewhere(key, b.level) {
			continue
		}
		rule := w.rules.Level(b.level)
		issue := about.of(b.level.Kind(), b.level.Metric(), b.level.Confidence())
		issue.Value, issue.Worst, issue.Threshold = b.mean(), b.worst, rule.Raise
		class := func(word detect.Word) detect.Class { return word.Class(b.level) }
		found := s.watch.line.Episodes(rule.Timing(), excused, class)
		issue.Open = len(found) > 0 && found[len(found)-1].Open
		w.add(issue, w.clip(found))
	}
}

// toldElsewhere reports whether a metric of a stream is told by another one: the path's
// round-trip time by the pair, what a sender hears of its losses by the receiver.
func (w *watched) toldElsewhere(key streamKey, level detect.Level) bool {
	switch level.Kind() {
	case detect.HighRoundTripTime:
		return key.statsType != candidatePair && w.out.CandidatePair != nil
	case detect.HighPacketLoss, detect.HighJitter:
		return key.statsType == outboundRTP && w.received[key.ssrc]
	}
	return false
}

// clip makes spans of episodes, none outside the fabric's life.
func (w *watched) clip(found []detect.Episode) []detect.Span {
	spans := make([]detect.Span, 0, len(found))
	for _, e := range found {
		from, to := max(e.SinceMs, w.out.AddedAtMs), min(e.UntilMs, w.out.EndMs)
		spans = append(spans, detect.Span{FromMs: min(from, to), ToMs: to})
	}
	return spans
}

// connection finds what its events tell.
func (w *watched) connection() {
	if rule := w.rules.ICEDisruption; !rule.Disabled {
		issue := w.about.of(detect.ICEDisruption, "disrupted_ms", detect.High)
		spans, open := w.state.stretches(markDisrupted, w.out.EndMs)
		issue.Open = open
		long := slices.DeleteFunc(join(spans, rule.ResolveAfter.Milliseconds()), func(s detect.Span) bool {
			return s.ToMs-s.FromMs < rule.After.Milliseconds()
		})
		w.addTimes(issue, long, rule.After)
	}
	w.addPoints(w.about.of(detect.ICERestart, "ice_restarts", detect.High), w.state.points(markRestarted))
	relayed, open := w.state.stretches(markRelayTCP, w.out.EndMs)
	issue := w.about.of(detect.RelayOverTCP, "relayed_ms", detect.High)
	issue.Open = open
	w.addTimes(issue, relayed, 0)
	w.signal()
}

func (w *watched) signal() {
	if w.state.wifi.weight == 0 {
		return
	}
	rule := w.rules.WeakWiFi
	found := w.state.facts.Episodes(rule.Timing(), nil, detect.WiFi)
	issue := w.about.of(detect.WeakWiFi, "signal_dbm", detect.High)
	issue.Value, issue.Worst, issue.Threshold = w.state.wifi.mean(), w.state.wifi.worst, rule.Raise
	issue.Open = len(found) > 0 && found[len(found)-1].Open
	w.add(issue, w.clip(found))
}

// join makes one of spans that lie at most gapMs apart.
func join(spans []detect.Span, gapMs int64) []detect.Span {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.FromMs-out[n-1].ToMs <= gapMs {
			out[n-1].ToMs = s.ToMs
			continue
		}
		out = append(out, s)
	}
	return out
}

// media finds what the streams of a connected fabric tell together.
func (w *watched) media() {
	if w.state.facts.Empty() || !w.state.connected() {
		return
	}
	nothing, oneWay := w.rules.NoMedia, w.rules.OneWayMedia
	told, _ := w.state.stretches(markDisrupted, w.out.EndMs) // ICE says what there is to say
	told = append(told, w.before()...)
	hold, mute := append(w.own("hold"), told...), append(w.own("hold", audio), told...)
	issue := w.about.of(detect.NoMedia, "without_media_ms", detect.Medium)
	w.facts(issue, nothing, slices.Concat(mute, w.others(audio, "")), detect.Nothing)
	if w.state.facts.Any()&(detect.SentAudio|detect.UnheardAudio) != 0 {
		issue.MediaType, issue.Direction = audio, DirectionOutbound
		w.facts(issue, nothing, mute, detect.Unsent)
	}
	for _, media := range [...]string{audio, video} {
		issue := w.about.of(detect.OneWayMedia, "without_media_ms", detect.Medium)
		issue.MediaType, issue.Direction = media, DirectionInbound
		if w.expects(media) {
			w.facts(issue, oneWay, slices.Concat(hold, w.others(media, "")), detect.Unreceived(media == video))
		}
		issue.Direction, issue.Confidence = DirectionOutbound, string(detect.Low)
		w.facts(issue, oneWay, slices.Concat(hold, w.own(media), w.others("", "")), detect.Unheard(media == video))
	}
}

// expects reports whether no media from the other end is a fault. A media server sends
// nothing where nobody speaks, or nobody looks: there it is one if nothing ever came.
func (w *watched) expects(media string) bool {
	got := detect.GotAudio
	if media == video {
		got = detect.GotVideo
	}
	return !w.state.server || w.state.facts.Any()&got == 0
}

// facts finds what a class of the fabric's facts tells.
func (w *watched) facts(issue Issue, timing detect.Timing, excused []detect.Span, class func(detect.Facts) detect.Class) {
	found := w.state.facts.Episodes(timing, detect.Merge(excused), class)
	issue.Open = len(found) > 0 && found[len(found)-1].Open
	w.addTimes(issue, w.clip(found), timing.After)
}

// before is the time before the fabric was connected.
func (w *watched) before() []detect.Span {
	if at := w.state.points(markConnected); len(at) > 0 {
		return []detect.Span{{FromMs: math.MinInt64, ToMs: slices.Min(at)}}
	}
	return nil
}

// own returns when something of this fabric was muted or held: what it sends then is no
// fault.
func (w *watched) own(kinds ...string) []detect.Span {
	var spans []detect.Span
	for _, i := range slices.Concat(w.p.Mutes, w.p.Holds) {
		if i.Fabric == w.out.Fabric && slices.Contains(kinds, i.Kind) {
			spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
		}
	}
	return detect.Merge(spans)
}

// maxSilenced is up to how many participants it is looked at whether all others are muted.
const maxSilenced = 8

// others returns when nothing was to be expected of the other end: the stream's owner, or
// where none is named all others, had media muted, were held, or were not there.
func (w *watched) others(media, owner string) (silent []detect.Span) {
	who := w.everybody
	if owner != "" {
		who = w.named[owner]
	}
	found := 0
	for _, i := range who {
		o := &w.s.Participants[i]
		if o.Session == w.p.Session || len(o.Fabrics) == 0 {
			continue
		}
		if found++; found == 1 {
			silent = o.silent(media)
		} else {
			silent = intersect(silent, o.silent(media))
		}
	}
	return silent
}

// silent returns when a participant was muted, held or not there.
func (p *Participant) silent(media string) []detect.Span {
	spans := []detect.Span{{FromMs: math.MinInt64, ToMs: p.StartMs}, {FromMs: p.EndMs, ToMs: math.MaxInt64}}
	for _, i := range slices.Concat(p.Mutes, p.Holds) {
		if i.Kind == media || i.Kind == "hold" {
			spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
		}
	}
	return detect.Merge(spans)
}

// intersect returns what lies in both; both are ascending and disjoint.
func intersect(a, b []detect.Span) (out []detect.Span) {
	for len(a) > 0 && len(b) > 0 {
		if from, to := max(a[0].FromMs, b[0].FromMs), min(a[0].ToMs, b[0].ToMs); from < to {
			out = append(out, detect.Span{FromMs: from, ToMs: to})
		}
		if a[0].ToMs < b[0].ToMs {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return out
}
