package conference

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// fabricFinder finds the issues of one fabric.
type fabricFinder struct {
	*finder
	index      int // of the participant
	p          *Participant
	out        *Fabric
	state      *fabric
	about      Issue
	afterEnd   []detect.Span              // result of remoteEnd
	silences   map[mediaKey][]detect.Span // results of othersSilent
	senders    map[mediaKey]sendTimes     // results of sentBy
	remotes    map[string]*Participant    // results of remote
	othersSent map[string][]detect.Span   // results of sentByAllOthers
}

func (f *finder) ofFabric(index int, p *Participant, out *Fabric) *fabricFinder {
	return &fabricFinder{
		finder: f, index: index, p: p, out: out, state: f.c.participants[p.Session].fabrics[out.Fabric],
		silences: map[mediaKey][]detect.Span{}, senders: map[mediaKey]sendTimes{}, remotes: map[string]*Participant{}, othersSent: map[string][]detect.Span{},
	}
}

func (w *fabricFinder) find() {
	w.afterEnd = w.remoteEnd()
	w.findInConnection()
	w.findMissingMedia()
	if pair := w.out.CandidatePair; pair != nil {
		w.findInStream(w.about, streamKey{candidatePair, pair.MediaType, pair.SSRC}, detect.Merge(append(w.localMutes("hold"), w.afterEnd...)))
	}
	for i := range w.out.Streams {
		s := &w.out.Streams[i]
		about := w.about
		about.SSRC, about.MediaType, about.Direction = s.SSRC, s.MediaType, DirectionInbound
		var excused []detect.Span
		if s.StatsType == outboundRTP {
			about.Direction, excused = DirectionOutbound, w.localMutes("hold", s.MediaType)
		} else {
			excused = append(w.localMutes("hold"), w.othersSilent(s.MediaType, s.UserID)...)
		}
		excused = detect.Merge(slices.Concat(excused, w.paused(s.SSRC), w.afterEnd))
		w.findInStream(about, streamKey{s.StatsType, s.MediaType, s.SSRC}, excused)
		w.findUnplayed(about, excused)
	}
}

// leastFreezeMs is the least time of freezes that is an issue, in total and without excuses: the first frames of a stream
// are unevenly spaced.
const leastFreezeMs = 500

// findInStream finds the issues of a stream's metrics.
func (w *fabricFinder) findInStream(about Issue, key streamKey, excused []detect.Span) {
	s := w.state.streams[key]
	if s == nil {
		return
	}
	for _, b := range s.detectors.breaches {
		if w.coveredElsewhere(key, b.level) || b.level.Kind() == detect.FrozenVideo && b.totalMs() < leastFreezeMs {
			continue
		}
		rule := w.rules.Level(b.level)
		issue := about.withKind(b.level.Kind(), b.level.Metric(), b.level.Confidence())
		issue.Value, issue.Worst, issue.Threshold = b.mean(), b.worst, rule.Raise
		class := func(word detect.Word) detect.Class { return word.Class(b.level) }
		found := s.detectors.line.Episodes(w.rules.Timing(b.level), w.excuse(b.level, key, excused), class)
		if b.level.Adapts() {
			found = w.afterWarmUp(found, s)
		}
		spans := w.clip(found)
		if b.level.Kind() == detect.FrozenVideo && spanMs(spans) < leastFreezeMs {
			continue
		}
		issue.Open = w.isOpen(found, &s.detectors.line)
		w.add(issue, spans)
	}
}

// isOpen reports whether the last of the episodes has not ended.
func (w *fabricFinder) isOpen(found []detect.Episode, line *detect.Timeline) bool {
	return len(found) > 0 && found[len(found)-1].Open && w.ongoing(line.EndMs())
}

// ongoing reports whether a state that was last true at lastMs may still be true. At the end of
// a conference that is every such state.
func (w *fabricFinder) ongoing(lastMs int64) bool {
	return w.now == atEnd || w.out.EndReason == "" && w.now.isInGap(lastMs)
}

// coveredElsewhere reports whether the issue of a metric belongs to another stream: that of the
// round-trip time to the candidate pair, that of a sender's remote reports to the receiver.
func (w *fabricFinder) coveredElsewhere(key streamKey, level detect.Level) bool {
	switch level.Kind() {
	case detect.HighRoundTripTime:
		return key.statsType != candidatePair && w.out.CandidatePair != nil
	case detect.HighPacketLoss, detect.HighJitter:
		return key.statsType == outboundRTP && w.received[key.ssrc]
	}
	return false
}

// clip returns the spans of episodes, limited to the fabric's lifetime.
func (w *fabricFinder) clip(found []detect.Episode) []detect.Span {
	spans := make([]detect.Span, 0, len(found))
	for _, e := range found {
		from, to := max(e.SinceMs, w.out.AddedAtMs), min(e.UntilMs, w.out.EndMs)
		spans = append(spans, detect.Span{FromMs: min(from, to), ToMs: to})
	}
	return spans
}

// findInConnection finds the issues of the fabric's events.
func (w *fabricFinder) findInConnection() {
	if rule := w.rules.ICEDisruption; !rule.Disabled {
		issue := w.about.withKind(detect.ICEDisruption, "disrupted_ms", detect.High)
		spans, open := w.state.stretches(markDisrupted, w.out.EndMs)
		spans = intersect(spans, complement(w.afterEnd))
		issue.Open = open && w.ongoing(w.out.EndMs)
		w.pending = w.pending || issue.Open
		long := slices.DeleteFunc(join(spans, rule.ResolveAfter.Milliseconds()), func(s detect.Span) bool {
			return s.ToMs-s.FromMs < rule.After.Milliseconds()
		})
		w.addTimes(issue, long, rule.After)
	}
	w.addPoints(w.about.withKind(detect.ICERestart, "ice_restarts", detect.High), w.state.points(markRestarted))
	relayed, open := w.state.stretches(markRelayTCP, w.out.EndMs)
	issue := w.about.withKind(detect.RelayOverTCP, "relayed_ms", detect.High)
	issue.Open = open && w.ongoing(w.out.EndMs)
	w.pending = w.pending || issue.Open
	w.addTimes(issue, relayed, 0)
	w.findWeakSignal()
}

func (w *fabricFinder) findWeakSignal() {
	if w.state.wifi.weight == 0 {
		return
	}
	rule := w.rules.WeakWiFi
	found := w.state.facts.Episodes(rule.Timing(), nil, detect.WiFi)
	issue := w.about.withKind(detect.WeakWiFi, "signal_dbm", detect.High)
	issue.Value, issue.Worst, issue.Threshold = w.state.wifi.mean(), w.state.wifi.worst, rule.Raise
	issue.Open = w.isOpen(found, &w.state.facts)
	w.add(issue, w.clip(found))
}

// join joins spans that are at most gapMs apart.
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

// findMissingMedia finds the issues of missing media, from all streams of a connected fabric.
func (w *fabricFinder) findMissingMedia() {
	if w.state.facts.Empty() || !w.state.connected() {
		return
	}
	nothing, oneWay := w.rules.NoMedia, w.rules.OneWayMedia
	cut, _ := w.state.stretches(markDisrupted, w.out.EndMs) // the disruption is an issue already
	cut = slices.Concat(cut, w.beforeConnection(), w.afterEnd, w.directMedia())
	hold, mute := append(w.localMutes("hold"), cut...), append(w.localMutes("hold", audio), cut...)
	issue := w.about.withKind(detect.NoMedia, "without_media_ms", detect.Medium)
	w.findInFacts(issue, nothing, slices.Concat(mute, w.othersSilent(audio, ""), w.allPaused("")), detect.Nothing)
	seen := w.state.facts.Any()
	issue.Direction = DirectionOutbound
	if seen&(detect.SentAudio|detect.UnheardAudio) != 0 {
		issue.MediaType = audio
		w.findInFacts(issue, nothing, mute, detect.Unsent(false))
	}
	if seen&(detect.SentVideo|detect.UnheardVideo) != 0 {
		issue.MediaType = video
		w.findInFacts(issue, nothing, slices.Concat(hold, w.localMutes(video), w.screens()), detect.Unsent(true))
	}
	for _, media := range [...]string{audio, video} {
		issue := w.about.withKind(detect.OneWayMedia, "without_media_ms", detect.Medium)
		issue.MediaType, issue.Direction = media, DirectionInbound
		if w.expectsMedia(media) {
			w.findInFacts(issue, oneWay, slices.Concat(hold, w.othersSilent(media, ""), w.allPaused(media)), detect.Unreceived(media == video))
		}
		issue.Direction, issue.Confidence = DirectionOutbound, string(detect.Low)
		if w.reportsElsewhere(media) {
			continue
		}
		w.findInFacts(issue, oneWay, slices.Concat(hold, w.localMutes(media), w.othersSilent("", "")), detect.Unheard(media == video))
	}
}

// reportsElsewhere reports whether the remote end reports on the other kind of media and never on this one: some browsers
// and servers never report on a stream.
func (w *fabricFinder) reportsElsewhere(media string) bool {
	own, other := detect.SentAudio, detect.SentVideo
	if media == video {
		own, other = other, own
	}
	return w.state.facts.Any()&(own|other) == other
}

// findInFacts finds the issue of one class of the fabric's facts.
func (w *fabricFinder) findInFacts(issue Issue, timing detect.Timing, excused []detect.Span, class func(detect.Facts) detect.Class) {
	until := w.evidenceUntilMs()
	w.pending = w.pending || w.state.facts.AnyFrom(until).Missing()
	found := w.state.facts.EpisodesUntil(until, timing, detect.Merge(excused), class)
	issue.Open = w.isOpen(found, &w.state.facts)
	w.addTimes(issue, w.clip(found), timing.After)
}
