package conference

import (
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/detect"
)

// What is muted, held or not there is no fault. This file says when.

// excuse adds what excuses one metric alone: while a screen is shared, a stream with few
// frames may be the screen.
func (w *watched) excuse(level detect.Level, about Issue, excused []detect.Span) []detect.Span {
	if level.Kind() != detect.LowFrameRate {
		return excused
	}
	return detect.Merge(slices.Concat(excused, w.screens(about.Direction == DirectionOutbound)))
}

// screens returns when this participant, or when anybody else, shared a screen.
func (w *watched) screens(own bool) (spans []detect.Span) {
	for _, i := range w.sharers {
		p := &w.s.Participants[i]
		if sends := p.Session == w.p.Session; sends != own {
			continue
		}
		for _, share := range p.Screen {
			spans = append(spans, detect.Span{FromMs: share.StartMs, ToMs: share.EndMs})
		}
	}
	return spans
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

// heardOf is until when everybody else was heard of who may go on. What is missing after it
// is not missed yet: they may have left without a word.
func (w *watched) heardOf() int64 {
	until := int64(math.MaxInt64)
	for _, i := range w.everybody {
		if o := &w.s.Participants[i]; o.Session != w.p.Session && o.goesOn() {
			until = min(until, o.EndMs)
		}
	}
	return until
}

// silent returns when a participant was muted, held or not there.
func (p *Participant) silent(media string) []detect.Span {
	spans := []detect.Span{{FromMs: math.MinInt64, ToMs: p.StartMs}}
	if !p.goesOn() {
		spans = append(spans, detect.Span{FromMs: p.EndMs, ToMs: math.MaxInt64})
	}
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
