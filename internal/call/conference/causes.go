package conference

import (
	"cmp"
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// findCauses adds the likely cause to the summary and to each of its participants.
func (c *Conference) findCauses(s *Summary, labels quality.Bounds) {
	verdict := cause.Find(c.causeCall(s, labels, nil))
	if from, to, ok := s.shortFault(); ok && (verdict.Call.Cause == cause.Unknown || verdict.Call.Cause == cause.None) {
		verdict = verdict.Within(cause.Find(c.causeCall(s, labels, outside(from, to))), from, to)
	}
	s.LikelyCause = verdict.Call
	for i := range s.Participants {
		s.Participants[i].LikelyCause = verdict.People[s.Participants[i].Session]
	}
}

// A fault that lasts for less than half of a call is evaluated over its own time.
const (
	minFaultMs     = 8000 // below, the measurements are too few
	shortFaultPart = 2    // the least number of such times in the call
)

// shortFault returns the time from the first to the last certain issue; ok if it is a small part of the call.
func (s *Summary) shortFault() (from, to int64, ok bool) {
	for i := range s.Issues {
		if issue := &s.Issues[i]; issue.isCertain() {
			if from == 0 || issue.SinceMs < from {
				from = issue.SinceMs
			}
			to = max(to, issue.UntilMs)
		}
	}
	return from, to, to-from >= minFaultMs && shortFaultPart*(to-from) <= s.EndMs-s.StartMs
}

// lastMs is later than any time of a record.
const lastMs = 1 << 53

// outside returns the times before from and after to.
func outside(from, to int64) []Interval {
	return []Interval{{StartMs: 0, EndMs: from}, {StartMs: to, EndMs: lastMs}}
}

// causeCall returns the input to cause.Find, over the measurements outside of the times in without.
func (c *Conference) causeCall(s *Summary, labels quality.Bounds, without []Interval) cause.Call {
	call := cause.Call{People: make([]cause.Person, 0, len(s.Participants))}
	errors, faulty, ends := c.errorsBySession(), s.faultySessions(), s.announcedEnds()
	for i := range s.Participants {
		out := &s.Participants[i]
		person := cause.Person{Session: out.Session, Users: userNames(out.UserID, out.UserIDs), Errors: errors[out.Session], Bad: c.isBad(out, labels) || faulty[out.Session]}
		if p := c.participants[out.Session]; p != nil && !out.connecting {
			p.describe(&person, out, without, ends)
		}
		call.People = append(call.People, person)
	}
	call.Good = s.isGood(labels)
	return call
}

// announcedEnds returns, by userID, the time at which the last participant with that ID left; lastMs if one of them did
// not report its end.
func (s *Summary) announcedEnds() map[string]int64 {
	ends := map[string]int64{}
	for i := range s.Participants {
		p := &s.Participants[i]
		end := int64(lastMs)
		if wasReported(p.EndReason) {
			end = p.EndMs
		}
		for _, name := range userNames(p.UserID, p.UserIDs) {
			ends[name] = max(ends[name], end)
		}
	}
	return ends
}

// leftAt returns the time at which the participant at the other end left, lastMs if that is unknown.
func (f *fabric) leftAt(out *Fabric, ends map[string]int64) int64 {
	at := int64(0)
	for _, name := range userNames(out.RemoteUserID, out.RemoteUserIDs) {
		at = max(at, ends[name])
	}
	if f.server || at == 0 {
		return lastMs
	}
	return at
}

// faultySessions returns the sessions with an issue of their media that is certain.
func (s *Summary) faultySessions() map[string]bool {
	sessions := map[string]bool{}
	for i := range s.Issues {
		if s.Issues[i].isCertain() {
			sessions[s.Issues[i].Session] = true
		}
	}
	return sessions
}

// isCertain reports whether an issue is one of media and certain.
func (i *Issue) isCertain() bool {
	switch detect.Kind(i.Kind) {
	case detect.NoMedia, detect.OneWayMedia, detect.HighPacketLoss, detect.LossBurst, detect.ConcealedAudio, detect.FrozenVideo,
		detect.HighRoundTripTime, detect.HighJitter, detect.HighJitterBuffer, detect.BandwidthLimited, detect.CPULimited, detect.KeyFrameStorm:
		return i.Confidence == string(detect.High)
	}
	return false
}

// isGood reports whether all participants were connected, no issue is a fault, and all scores of participants, at least one,
// have the label good or excellent.
func (s *Summary) isGood(labels quality.Bounds) bool {
	for i := range s.Issues {
		if !detect.Kind(s.Issues[i].Kind).Informs() {
			return false
		}
	}
	scored := false
	for i := range s.Participants {
		p := &s.Participants[i]
		if !p.Connected || p.MOS != nil && *p.MOS < labels[goodBound] {
			return false
		}
		scored = scored || p.MOS != nil
	}
	return scored
}

// Frozen video is a fault above frozenShare of the time and minFrozenMs, in a short call above
// shortFrozenShare. Shorter freezes occur on busy machines.
const (
	frozenShare      = 0.03
	minFrozenMs      = 2000
	shortFrozenShare = 0.1
)

// isFrozen reports whether a stream froze for too long. stillMs is the time in which its picture did not have to change.
func (s *Stream) isFrozen(stillMs int64) bool {
	whole := float64(max(s.DurationMs, cause.MinTimeMs))
	return s.FreezeMs-float64(stillMs) > max(frozenShare*whole, min(minFrozenMs, shortFrozenShare*whole))
}

// stillMs returns the time in which the picture of a received stream did not have to change, ms: slides, pauses and holds.
func (c *Conference) stillMs(p *Participant, f *Fabric, s *Stream) int64 {
	if state := c.participants[p.Session]; state != nil && state.fabrics[f.Fabric] != nil {
		if stream := state.fabrics[f.Fabric].streams[streamKey{s.StatsType, s.MediaType, s.SSRC}]; stream != nil {
			return stream.stillMs
		}
	}
	return 0
}

// isBad reports whether audio was below fair, video froze, or no fabric connected. A low video
// score alone is no fault: a small picture has one too.
func (c *Conference) isBad(p *Participant, labels quality.Bounds) bool {
	for _, mos := range []*float64{p.AudioMOSIn, p.AudioMOSOut} {
		if mos != nil && *mos < labels[fairBound] {
			return true
		}
	}
	for i := range p.Fabrics {
		for j := range p.Fabrics[i].Streams {
			if s := &p.Fabrics[i].Streams[j]; s.isFrozen(c.stillMs(p, &p.Fabrics[i], s)) {
				return true
			}
		}
	}
	return len(p.Fabrics) > 0 && !p.Connected && !p.connecting
}

// The indexes of the lower bounds of good and fair in the bounds.
const (
	goodBound = 1
	fairBound = 2
)

func userNames(newest string, all []string) []string {
	if len(all) > 0 {
		return all
	}
	return []string{newest}
}

// errorsBySession counts the failures that each participant's application reported.
func (c *Conference) errorsBySession() map[string]map[string]int {
	counts := map[string]map[string]int{}
	for id, r := range c.sessionRecords {
		if r.kind != event.KindError {
			continue
		}
		if counts[id.session] == nil {
			counts[id.session] = map[string]int{}
		}
		counts[id.session][r.function]++
	}
	return counts
}

func (p *participant) describe(person *cause.Person, out *Participant, without []Interval, ends map[string]int64) {
	var seenMs, weakMs float64
	for i := range out.Fabrics {
		summary := &out.Fabrics[i]
		f := p.fabrics[summary.Fabric]
		if summary.State == StateUnused && f.server { // between two browsers the signalling may have failed
			continue
		}
		person.Fabrics = append(person.Fabrics, f.evidence(summary, without, ends))
		person.Measured += f.measured
		person.OffBeat += f.offBeat
		f.facts.Each(func(from, to int64, word detect.Word) {
			if class := detect.WiFi(word); class != detect.Unknown {
				seenMs += float64(to - from)
				weakMs += float64(btoi(class == detect.Breach)) * float64(to-from)
			}
		})
	}
	person.WeakWiFi = weakMs / max(1, seenMs)
}

// evidence returns the fabric's input to cause.Find.
func (f *fabric) evidence(out *Fabric, without []Interval, ends map[string]int64) cause.Fabric {
	e := cause.Fabric{
		Remote: userNames(out.RemoteUserID, out.RemoteUserIDs), Server: f.server,
		Media: f.usage != "data", Sends: f.direction == "sendrecv" || f.direction == "sendonly",
		Connected: out.State == StateConnected, Described: out.RemoteDescription, Failed: out.FailureReason == "failed", Stage: out.FailureStage, Candidates: f.candidates(),
		LifeMs: float64(out.EndMs - min(f.first, f.addedAt)), Broken: f.disruption.value, Relay: out.RelayProtocol,
	}
	f.interrupted(&e, out)
	e.EndedTrackMs = f.endedTrackMs(out, without)
	left := f.leftAt(out, ends)
	for _, key := range slices.SortedFunc(maps.Keys(f.streams), streamKey.compare) {
		s := f.streams[key]
		if seen := factMs(&s.causeFacts, rttSeen, without); seen > e.RTTSeenMs && (key.statsType == candidatePair || out.CandidatePair == nil) {
			e.RTTSeenMs, e.SlowMs, e.RTTMs = seen, factMs(&s.causeFacts, slow, without), mean(&s.rtt)
		}
		if key.statsType != candidatePair {
			e.Streams = append(e.Streams, f.streamEvidence(key, s, out, without, left))
		}
	}
	return e
}

// candidates returns the number of local candidates of a set-up that failed.
func (f *fabric) candidates() event.Value {
	if d := f.setupFailed.value; d != nil {
		return d.LocalCandidates
	}
	return event.Value{}
}

// endedTrackMs returns the time in which ended tracks sent nothing, ms by media type, without mutes, pauses and holds.
func (f *fabric) endedTrackMs(out *Fabric, without []Interval) map[string]float64 {
	var ended map[string]float64
	for _, t := range f.endedTracks {
		s := f.streams[streamKey{outboundRTP, t.mediaType, t.ssrc}]
		if s != nil && s.packets > 0 {
			continue // another track replaced it
		}
		ms := float64(max(0, out.EndMs-t.at))
		for _, e := range joinIntervals(sortIntervals(slices.Concat(f.excuses(streamKey{outboundRTP, t.mediaType, t.ssrc}, new(stream), out.EndMs), without))) {
			ms -= float64(max(0, min(e.EndMs, out.EndMs)-max(e.StartMs, t.at)))
		}
		if ended == nil {
			ended = map[string]float64{}
		}
		ended[t.mediaType] = max(ended[t.mediaType], ms)
	}
	return ended
}

func mean(d *dist) event.Value {
	if d.weight == 0 {
		return event.Value{}
	}
	return event.Value{V: d.mean(), Known: true}
}

func (f *fabric) streamEvidence(key streamKey, s *stream, out *Fabric, without []Interval, left int64) cause.Stream {
	e := cause.Stream{
		SSRC: key.ssrc, Sends: key.statsType == outboundRTP, Media: key.mediaType, Packets: s.packets.value(),
		Jitter: mean(&s.jitter), RTT: mean(&s.rtt), FPS: mean(&s.fps),
	}
	for _, o := range f.owners {
		if o.ssrc == key.ssrc {
			e.User = o.user
		}
	}
	if loss := s.lossFraction(key.statsType); loss != nil {
		e.Loss = event.Value{V: *loss, Known: true}
	}
	for fact, ms := range map[detect.Facts]*float64{
		hasMeasurement: &e.TimeMs, lossSeen: &e.SeenMs, lossy: &e.LostMs, jittery: &e.JitteryMs, slow: &e.SlowMs,
		limited: &e.LimitedMs, cpuBound: &e.CPUMs, busy: &e.BusyMs, stuck: &e.StuckMs, choppy: &e.ChoppyMs, concealed: &e.ConcealedMs, limitSeen: &e.LimitSeenMs,
	} {
		*ms = factMs(&s.causeFacts, fact, without)
	}
	unwanted := joinIntervals(sortIntervals(slices.Concat(intervalsOf(s.delays(f.intervalMs())), without)))
	for fact, ms := range map[detect.Facts]*float64{waiting: &e.WaitingMs, grown: &e.GrownMs, holding: &e.HeldMs} {
		*ms = factMs(&s.causeFacts, fact, unwanted)
	}
	e.WaitingWarmUpMs = f.warmUpMs(s, out, waiting, unwanted)
	gone := []Interval{{StartMs: left - f.intervalMs(), EndMs: lastMs}}
	if e.LimitedMs > 0 { // neither an encoder with bandwidth to spare nor one on a dead path is limited by the network
		unlimited := joinIntervals(sortIntervals(slices.Concat(intervalsOf(f.room(key.ssrc, out.EndMs)), f.dead(out), without)))
		e.LimitedMs = factMs(&s.causeFacts, limited, unlimited)
		e.LimitedWarmUpMs = f.warmUpMs(s, out, limited, unlimited)
	}
	if key.statsType == inboundRTP {
		e.RefusedMs = float64(spanMs(intersect(f.notPlayed(key.ssrc, out.EndMs, playoutRefused), complement(spansOf(without)))))
		s.addGaps(&e, joinIntervals(sortIntervals(slices.Concat(gone, without))))
	}
	excuses := slices.Concat(f.excuses(key, s, out.EndMs), without)
	if key.statsType == outboundRTP { // the receiver had left
		excuses = append(excuses, gone...)
	}
	excuses = joinIntervals(sortIntervals(excuses))
	e.NoneMs, e.WeakMs = factMs(&s.causeFacts, nothing, excuses), factMs(&s.causeFacts, weak, excuses)
	e.UnseenMs = factMs(&s.causeFacts, unseen, excuses)
	if key.statsType == outboundRTP {
		e.NoneMs = s.turnsMs(nothing, f.intervalMs(), excuses)
	}
	e.QuietMs = factMs(&s.causeFacts, nothing, without) + factMs(&s.causeFacts, weak, without)
	if s.sentTo != nil { // packets that were not sent are not missing
		unsent := unsentTime(s.sentTo)
		e.QuietMs = s.turnsMs(nothing, f.intervalMs(), joinIntervals(sortIntervals(slices.Concat(unsent, without))))
		e.NoneMs = factMs(&s.causeFacts, nothing, joinIntervals(sortIntervals(slices.Concat(excuses, unsent))))
	}
	e.FrozenMs = max(s.stillAtEndMs(excuses), s.blankInTurnsMs(f.intervalMs(), excuses))
	return e
}

// addGaps adds the times in which a part of the audio was missing.
func (s *stream) addGaps(e *cause.Stream, without []Interval) {
	missing := intersect(s.gaps(), complement(spansOf(without)))
	e.GapMs = float64(spanMs(missing))
	e.SeenMs += float64(spanMs(intersect(missing, complement(s.factSpans(lossSeen)))))
}

// room returns the times in which the application limited an encoder, or the path had unused bandwidth.
func (f *fabric) room(ssrc, end int64) []detect.Span {
	return detect.Merge(append(f.unused(), spansOf(f.limited(capped, ssrc, end))...))
}

// unused returns the times in which the path had bandwidth for more than its video used; nil with several videos.
func (f *fabric) unused() (spans []detect.Span) {
	var encoder *stream
	for key, s := range f.streams {
		if key.statsType != outboundRTP || key.mediaType != video {
			continue
		}
		if encoder != nil { // several videos share the bandwidth
			return nil
		}
		encoder = s
	}
	if encoder == nil {
		return nil
	}
	for key, s := range f.streams {
		if key.statsType != candidatePair {
			continue
		}
		for _, r := range rooms {
			spans = append(spans, intersect(s.factSpans(r.fact), encoder.factSpans(r.fact))...)
		}
	}
	return spans
}

// unsentTime returns the times in which a stream's sender did not send.
func unsentTime(sent []detect.Span) []Interval {
	return intervalsOf(complement(sent))
}

// intervalsOf returns spans as intervals; spansOf is its inverse.
func intervalsOf(spans []detect.Span) []Interval {
	intervals := make([]Interval, 0, len(spans))
	for _, s := range spans {
		intervals = append(intervals, Interval{StartMs: max(0, s.FromMs), EndMs: min(lastMs, s.ToMs)})
	}
	return intervals
}

func spansOf(intervals []Interval) []detect.Span {
	spans := make([]detect.Span, 0, len(intervals))
	for _, i := range intervals {
		spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
	}
	return spans
}

// sortIntervals sorts spans by their start and returns them.
func sortIntervals(spans []Interval) []Interval {
	slices.SortFunc(spans, func(a, b Interval) int { return cmp.Compare(a.StartMs, b.StartMs) })
	return spans
}

// excuses returns the times in which a stream was muted, paused, slowed or on hold, or a video may have been
// a screen, which has few frames. A measurement may begin before and end after such a time, so each is
// extended by one interval at both ends.
func (f *fabric) excuses(key streamKey, s *stream, end int64) (spans []Interval) {
	slack := s.interval.whole() / int64(max(1, s.count))
	for _, i := range slices.Concat(f.intervals(0, end), f.ofStream(key.ssrc, end)) {
		if i.Kind == key.mediaType || i.Kind == "hold" || i.Kind == slowed || i.Kind == "screen" && key.mediaType == video {
			spans = append(spans, Interval{StartMs: i.StartMs - slack, EndMs: i.EndMs + slack})
		}
	}
	return joinIntervals(sortIntervals(spans))
}

// joinIntervals returns ascending spans with those joined that overlap. It reuses their memory.
func joinIntervals(spans []Interval) []Interval {
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && s.StartMs <= out[n-1].EndMs {
			out[n-1].EndMs = max(out[n-1].EndMs, s.EndMs)
		} else {
			out = append(out, s)
		}
	}
	return out
}
