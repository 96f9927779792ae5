package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
)

// Missing media of a stream that is muted, on hold or without a participant are no fault. The
// functions of this file return the times of such excuses.

// excuse adds the excuses of one metric of a stream. While a screen is shared, a stream with a low frame
// rate may be that screen. The application may limit the frame rate or the bit rate. A jitter buffer
// shrinks slowly after a delay that the application chose.
func (w *fabricFinder) excuse(level detect.Level, key streamKey, excused []detect.Span) []detect.Span {
	switch level.Kind() {
	case detect.LowFrameRate, detect.FrozenVideo:
	case detect.ConcealedAudio, detect.LossBurst:
		return detect.Merge(slices.Concat(excused, w.undecoded(key)))
	case detect.HighJitterBuffer:
		return detect.Merge(slices.Concat(excused, w.state.streams[key].delays(w.state.intervalMs())))
	case detect.BandwidthLimited:
		return detect.Merge(slices.Concat(excused, w.state.room(key.ssrc, w.out.EndMs)))
	default:
		return excused
	}
	interval := w.state.intervalMs()
	screens := widen(w.shares().of(w.p.Session, key), interval) // the intervals of the two ends differ
	if level.Kind() == detect.FrozenVideo {
		screens = w.state.streams[key].slides(screens)
		// A browser counts a pause when the next picture arrives.
		excused = slices.Concat(widen(excused, interval), w.withheld(key))
	}
	return detect.Merge(slices.Concat(excused, screens, w.slowed(key.ssrc)))
}

// screens returns the times in which this participant shared a screen.
func (w *fabricFinder) screens() []detect.Span {
	return memoize(w.times.screens, w.index, func() []detect.Span { return coarsen(detect.Merge(spansOf(w.p.Screen))) })
}

// expectsMedia reports whether missing media from the remote end are a fault. A media server does not
// forward silent or hidden participants: there they are a fault if none were ever received.
func (w *fabricFinder) expectsMedia(media string) bool {
	got := detect.GotAudio
	if media == video {
		got = detect.GotVideo
	}
	return !w.state.server || w.state.facts.Any()&got == 0
}

// unforwarded returns the times in which no packet was received of a stream that a media server may choose not to forward,
// each extended by two intervals: the browser counts the pause after it, and the intervals of streams differ.
func (w *fabricFinder) unforwarded(key streamKey) (spans []detect.Span) {
	if w.expectsMedia(key.mediaType) {
		return nil
	}
	w.state.streams[key].missing.Each(func(from, to int64, _ detect.Word) {
		spans = append(spans, detect.Span{FromMs: from, ToMs: to})
	})
	return widen(detect.Merge(spans), 2*w.state.intervalMs())
}

// withheld returns the times in which a frozen picture of a received stream is no evidence: it was not forwarded, could not
// be decoded, or the jitter buffer grew to a chosen delay.
func (w *fabricFinder) withheld(key streamKey) []detect.Span {
	return slices.Concat(w.unforwarded(key), w.undecoded(key), w.rebuffered(key))
}

// rebuffered returns the times around changes of the delay that the application chose for a received stream: the picture
// freezes while the buffer grows.
func (w *fabricFinder) rebuffered(key streamKey) (spans []detect.Span) {
	for _, one := range widen(w.state.streams[key].factSpans(delayed), roundingMs) {
		spans = append(spans, detect.Span{FromMs: one.FromMs, ToMs: one.FromMs}, detect.Span{FromMs: one.ToMs, ToMs: one.ToMs})
	}
	return widen(spans, 2*w.state.intervalMs())
}

// undecoded returns the times in which media arrived and could not be decoded, each extended by two intervals as in
// unforwarded. It omits those after a loss, where the decoder waits for a key frame: that is a fault.
func (w *fabricFinder) undecoded(key streamKey) (spans []detect.Span) {
	s, interval := w.state.streams[key], w.state.intervalMs()
	if s.causeFacts.Any()&undecoded == 0 {
		return nil
	}
	lost := s.factSpans(lossy)
	for _, one := range widen(s.factSpans(undecoded), roundingMs) {
		if overlapMs(one.FromMs-interval, one.FromMs, lost) == 0 {
			spans = append(spans, one)
		}
	}
	return widen(spans, 2*interval)
}

// beforeConnection returns the time before the fabric was connected.
func (w *fabricFinder) beforeConnection() []detect.Span {
	if at := w.state.points(markConnected); len(at) > 0 {
		return []detect.Span{{FromMs: math.MinInt64, ToMs: slices.Min(at)}}
	}
	return nil
}

// directMedia returns the times in which the participant has media in both directions over a connection without a server:
// applications that connect two people directly send no media over the connection to their server.
func (w *fabricFinder) directMedia() (spans []detect.Span) {
	if !w.state.server {
		return nil
	}
	for _, i := range w.named[w.p.UserID] {
		for _, f := range w.c.participants[w.s.Participants[i].Session].fabrics {
			if f.server {
				continue
			}
			f.facts.Each(func(from, to int64, word detect.Word) {
				if word.BothWays() {
					spans = append(spans, detect.Span{FromMs: from, ToMs: to})
				}
			})
		}
	}
	return widen(detect.Merge(spans), w.state.intervalMs())
}

// remoteEnd returns the time from the interval in which the remote participant reported its end: a path that
// closes has the same measurements as one that fails.
func (w *fabricFinder) remoteEnd() []detect.Span {
	if w.state.server {
		return nil
	}
	o := w.remote("")
	if o == nil || !wasReported(o.EndReason) {
		return nil
	}
	return []detect.Span{{FromMs: o.EndMs - w.state.intervalMs(), ToMs: math.MaxInt64}}
}

// wasReported reports whether an end was reported, and not inferred from silence or ICE.
func wasReported(endReason string) bool {
	return endReason != "" && endReason != EndSilence && endReason != EndICEFailed
}

// intervalMs returns the mean interval of the fabric's measurements.
func (f *fabric) intervalMs() int64 {
	steps, ms := 0, int64(0)
	for _, s := range f.streams {
		steps, ms = steps+s.count, ms+s.interval.whole()
	}
	return ms / int64(max(1, steps))
}

// localMutes returns the times of these kinds ("hold" or media that was muted) in this fabric. They
// excuse its outbound streams.
func (w *fabricFinder) localMutes(kinds ...string) []detect.Span {
	var spans []detect.Span
	for _, i := range w.state.intervals(w.out.Fabric, w.out.EndMs) {
		if slices.Contains(kinds, i.Kind) {
			spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
		}
	}
	return detect.Merge(spans)
}

// paused returns the times in which one stream was paused, here or at the other end.
func (w *fabricFinder) paused(ssrc int64) []detect.Span { return w.atBothEnds(ssrc, (*fabric).pauses) }

// slowed returns the times in which the application limited the frame rate of a stream.
func (w *fabricFinder) slowed(ssrc int64) []detect.Span {
	return w.atBothEnds(ssrc, func(f *fabric, ssrc, end int64) []Interval { return f.limited(slowed, ssrc, end) })
}

// delays returns the times in which the application chose a delay for a received stream, each extended by two intervals: the
// buffer shrinks slowly.
func (s *stream) delays(intervalMs int64) []detect.Span {
	return widen(s.factSpans(delayed), 2*intervalMs)
}

// atBothEnds returns times of a stream here and, without a server, at the other end, each extended by one interval:
// the intervals of the two ends differ.
func (w *fabricFinder) atBothEnds(ssrc int64, times func(f *fabric, ssrc, end int64) []Interval) []detect.Span {
	all := times(w.state, ssrc, w.out.EndMs)
	if o := w.remote(w.state.ownerOf(ssrc)); o != nil && !w.state.server {
		for _, f := range w.c.participants[o.Session].fabrics {
			all = append(all, times(f, ssrc, w.out.EndMs)...)
		}
	}
	return widen(spansOf(all), w.state.intervalMs())
}

// allPaused returns the times in which all received streams of a kind of media were paused; of both kinds if media is empty.
func (w *fabricFinder) allPaused(media string) (all []detect.Span) {
	all = []detect.Span{{FromMs: math.MinInt64, ToMs: math.MaxInt64}}
	received := false
	for i := range w.out.Streams {
		if s := &w.out.Streams[i]; s.StatsType == inboundRTP && (media == "" || s.MediaType == media) {
			all, received = intersect(all, w.paused(s.SSRC)), true
		}
	}
	if !received {
		return nil
	}
	return all
}

// maxSilenced is the number of participants up to which mutes of all others are an excuse.
const maxSilenced = 8

// othersSilent returns the times in which the remote end had no media to send: the stream's owner, or
// all other participants if owner is empty, were muted, on hold or not in the call.
func (w *fabricFinder) othersSilent(media, owner string) (silent []detect.Span) {
	key := mediaKey{owner, media}
	return memoize(w.silences, key, func() []detect.Span { return coarsen(w.silenceOf(key).except(w.index)) })
}

// silenceOf returns the times in which the participants with a userID, or all if it is empty, had no media of a kind to send.
func (f *finder) silenceOf(of mediaKey) *agreement {
	return memoize(f.times.silence, of, func() *agreement {
		who := f.everyone
		if of.name != "" {
			who = f.named[of.name]
		}
		silent := make(map[int][]detect.Span, len(who))
		for _, i := range who {
			if p := &f.s.Participants[i]; len(p.Fabrics) > 0 {
				silent[i] = coarsen(p.silent(of.media))
			}
		}
		return agree(silent)
	})
}

// evidenceUntilMs returns the time of the earliest last record among the other participants that
// are present. Media that are missing after it are no evidence yet: that participant may have left
// without a report.
func (w *fabricFinder) evidenceUntilMs() int64 {
	until := int64(math.MaxInt64)
	for _, i := range w.everyone {
		if o := &w.s.Participants[i]; o.Session != w.p.Session && o.isPresent() {
			until = min(until, o.EndMs)
		}
	}
	return until
}

// silent returns the times in which a participant was muted, on hold or not in the call.
func (p *Participant) silent(media string) []detect.Span {
	spans := []detect.Span{{FromMs: math.MinInt64, ToMs: p.StartMs}}
	if !p.isPresent() {
		spans = append(spans, detect.Span{FromMs: p.EndMs, ToMs: math.MaxInt64})
	}
	for _, i := range slices.Concat(p.Mutes, p.Holds) {
		if i.Kind == media || i.Kind == "hold" {
			spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
		}
	}
	return detect.Merge(spans)
}

// intersect returns the intersection of two lists. Both MUST be ascending and disjoint.
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
