package conference

import (
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

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
		found := s.watch.line.Episodes(w.rules.Timing(b.level), w.excuse(b.level, about, excused), class)
		issue.Open = w.open(found, &s.watch.line)
		w.add(issue, w.clip(found))
	}
}

// open reports whether the last of what was found goes on.
func (w *watched) open(found []detect.Episode, line *detect.Timeline) bool {
	return len(found) > 0 && found[len(found)-1].Open && w.there(line.EndMs())
}

// there reports whether what was so at lastMs may be so still. At the end of a conference
// that is all that was.
func (w *watched) there(lastMs int64) bool {
	return w.now == ended || w.out.EndReason == "" && w.now.within(lastMs)
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
		issue.Open = open && w.there(w.out.EndMs)
		w.lasts = w.lasts || issue.Open
		long := slices.DeleteFunc(join(spans, rule.ResolveAfter.Milliseconds()), func(s detect.Span) bool {
			return s.ToMs-s.FromMs < rule.After.Milliseconds()
		})
		w.addTimes(issue, long, rule.After)
	}
	w.addPoints(w.about.of(detect.ICERestart, "ice_restarts", detect.High), w.state.points(markRestarted))
	relayed, open := w.state.stretches(markRelayTCP, w.out.EndMs)
	issue := w.about.of(detect.RelayOverTCP, "relayed_ms", detect.High)
	issue.Open = open && w.there(w.out.EndMs)
	w.lasts = w.lasts || issue.Open
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
	issue.Open = w.open(found, &w.state.facts)
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
	seen := w.state.facts.Any()
	issue.Direction = DirectionOutbound
	if seen&(detect.SentAudio|detect.UnheardAudio) != 0 {
		issue.MediaType = audio
		w.facts(issue, nothing, mute, detect.Unsent(false))
	}
	if seen&(detect.SentVideo|detect.UnheardVideo) != 0 {
		issue.MediaType = video
		w.facts(issue, nothing, slices.Concat(hold, w.own(video), w.screens(true)), detect.Unsent(true))
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

// facts finds what a class of the fabric's facts tells.
func (w *watched) facts(issue Issue, timing detect.Timing, excused []detect.Span, class func(detect.Facts) detect.Class) {
	until := w.heardOf()
	w.lasts = w.lasts || w.state.facts.AnyFrom(until).Missing()
	found := w.state.facts.EpisodesUntil(until, timing, detect.Merge(excused), class)
	issue.Open = w.open(found, &w.state.facts)
	w.addTimes(issue, w.clip(found), timing.After)
}
