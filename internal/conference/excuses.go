package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// Missing media of a stream that is muted, on hold or without a participant are no fault. The
// functions of this file return those times.

// excuse adds the excuses of one metric of a stream: while a screen is shared, the stream with a low frame
// rate may be the screen, whose picture changes now and then; the application may want few pictures; a jitter buffer shrinks slowly after a
// delay that was chosen; and an encoder that its application limits is not limited by the network.
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
	screens := extended(w.shares().of(w.p.Session, key), interval) // measurements of two ends begin at other times
	if level.Kind() == detect.FrozenVideo {
		screens = w.state.streams[key].slides(screens)
		// A browser counts a pause when the next picture arrives.
		excused = slices.Concat(extended(excused, interval), w.withheld(key))
	}
	return detect.Merge(slices.Concat(excused, screens, w.slowed(key.ssrc)))
}

// screens returns the times in which this participant shared a screen.
func (w *fabricFinder) screens() []detect.Span {
	return once(w.found.screens, w.index, func() []detect.Span { return coarse(detect.Merge(spansOf(w.p.Screen))) })
}

// expects reports whether missing media from the remote end are a fault. A media server sends
// no media of silent or hidden participants: there they are a fault if none were ever received.
func (w *fabricFinder) expects(media string) bool {
	got := detect.GotAudio
	if media == video {
		got = detect.GotVideo
	}
	return !w.state.server || w.state.facts.Any()&got == 0
}

// unforwarded returns the times in which nothing of a stream was received that a media server may choose not to forward, each with
// two intervals beside it: there the browser counts the pause, and intervals differ.
func (w *fabricFinder) unforwarded(key streamKey) (spans []detect.Span) {
	if w.expects(key.mediaType) {
		return nil
	}
	w.state.streams[key].missing.Each(func(from, to int64, _ detect.Word) {
		spans = append(spans, detect.Span{FromMs: from, ToMs: to})
	})
	return extended(detect.Merge(spans), 2*w.state.intervalMs())
}

// withheld returns the times in which nothing follows from a received picture that stands still: it was not forwarded, could not be
// decoded, or waited in a jitter buffer that was to grow.
func (w *fabricFinder) withheld(key streamKey) []detect.Span {
	return slices.Concat(w.unforwarded(key), w.undecoded(key), w.rebuffered(key))
}

// rebuffered returns the times around changes of the delay that somebody chose for a received stream: the picture stands still while the
// buffer grows.
func (w *fabricFinder) rebuffered(key streamKey) (spans []detect.Span) {
	for _, one := range extended(w.state.streams[key].factSpans(delayed), roundingMs) {
		spans = append(spans, detect.Span{FromMs: one.FromMs, ToMs: one.FromMs}, detect.Span{FromMs: one.ToMs, ToMs: one.ToMs})
	}
	return extended(spans, 2*w.state.intervalMs())
}

// undecoded returns the times in which nothing of received media could be decoded although they arrived, each with two
// intervals beside it, as unforwarded has them. After a loss a decoder waits for a key frame: there it is a fault.
func (w *fabricFinder) undecoded(key streamKey) (spans []detect.Span) {
	s, interval := w.state.streams[key], w.state.intervalMs()
	if s.causeFacts.Any()&undecoded == 0 {
		return nil
	}
	lost := s.factSpans(lossy)
	for _, one := range extended(s.factSpans(undecoded), roundingMs) {
		if within(one.FromMs-interval, one.FromMs, lost) == 0 {
			spans = append(spans, one)
		}
	}
	return extended(spans, 2*interval)
}

// before returns the time before the fabric was connected.
func (w *fabricFinder) before() []detect.Span {
	if at := w.state.points(markConnected); len(at) > 0 {
		return []detect.Span{{FromMs: math.MinInt64, ToMs: slices.Min(at)}}
	}
	return nil
}

// direct returns the times in which the participant has media both ways without this server: applications that connect two
// people directly leave the connection to their server without media.
func (w *fabricFinder) direct() (spans []detect.Span) {
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
	return extended(detect.Merge(spans), w.state.intervalMs())
}

// remoteEnd returns the time from the interval in which the remote participant reported its end: a path that
// closes looks like one that fails.
func (w *fabricFinder) remoteEnd() []detect.Span {
	if w.state.server {
		return nil
	}
	o := w.remote("")
	if o == nil || !announced(o.EndReason) {
		return nil
	}
	return []detect.Span{{FromMs: o.EndMs - w.state.intervalMs(), ToMs: math.MaxInt64}}
}

// announced reports whether an end was reported, and not only followed by silence.
func announced(endReason string) bool {
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

// own returns the times in which media of these kinds were muted or on hold in this fabric:
// they excuse its outbound streams.
func (w *fabricFinder) own(kinds ...string) []detect.Span {
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

// slowed returns the times in which the application wanted few pictures of a stream.
func (w *fabricFinder) slowed(ssrc int64) []detect.Span {
	return w.atBothEnds(ssrc, func(f *fabric, ssrc, end int64) []Interval { return f.limited(slowed, ssrc, end) })
}

// delays returns the times in which somebody chose a delay for a received stream, each with two intervals beside it: the buffer shrinks
// slowly.
func (s *stream) delays(intervalMs int64) []detect.Span {
	return extended(s.factSpans(delayed), 2*intervalMs)
}

// atBothEnds returns times of a stream here and, without a server, at the other end, each with an interval before and
// after it: measurements begin at other times.
func (w *fabricFinder) atBothEnds(ssrc int64, times func(f *fabric, ssrc, end int64) []Interval) []detect.Span {
	all := times(w.state, ssrc, w.out.EndMs)
	if o := w.remote(w.state.ownerOf(ssrc)); o != nil && !w.state.server {
		for _, f := range w.c.participants[o.Session].fabrics {
			all = append(all, times(f, ssrc, w.out.EndMs)...)
		}
	}
	return extended(spansOf(all), w.state.intervalMs())
}

// allPaused returns the times in which each received stream of a kind of media, or of both if it is empty, was paused.
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

// others returns the times in which the remote end had no media to send: the stream's owner,
// or all others if none is named, had media muted, were on hold, or were not in the call.
func (w *fabricFinder) others(media, owner string) (silent []detect.Span) {
	key := whose{owner, media}
	return once(w.silent, key, func() []detect.Span { return coarse(w.silence(key).without(w.index)) })
}

// silence is when participants of a name, or all if it is empty, had no media of a kind to send.
func (f *finder) silence(of whose) *agreement {
	return once(f.found.silence, of, func() *agreement {
		who := f.everybody
		if of.name != "" {
			who = f.named[of.name]
		}
		silent := make(map[int][]detect.Span, len(who))
		for _, i := range who {
			if p := &f.s.Participants[i]; len(p.Fabrics) > 0 {
				silent[i] = coarse(p.silent(of.media))
			}
		}
		return agree(silent)
	})
}

// evidenceUntilMs returns the earliest last record of the other participants that are present.
// Media that are missing after it are no evidence yet: the participant may have left without a
// report.
func (w *fabricFinder) evidenceUntilMs() int64 {
	until := int64(math.MaxInt64)
	for _, i := range w.everybody {
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

// intersect returns the intersection of two lists that are ascending and disjoint.
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
