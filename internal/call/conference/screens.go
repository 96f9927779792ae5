package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// A shared screen with slides has few frames without a fault. A client reports a screen with every
// measurement (contentType). If the sender's browser or client does not, the application's event
// screenShareStart is the only sign, and the receivers have none: the sender's records decide.

// screenFPS is the frame rate below which a video may be a screen.
const screenFPS = 12

// pictureOf returns an interval of video whose score depends on the records of all participants: it had few frames, or its
// picture was frozen for all of it, as after a pause.
func pictureOf(e *event.Event, ms int64) (undecided, bool) {
	m := e.Measured
	if !m.Score.MOS.Known {
		return undecided{}, false
	}
	if one, ok := slowOf(e, ms); ok {
		return one, true
	}
	mos := m.Score.MOS.V
	return undecided{e.Rank(), e.AtMs - ms, e.AtMs, mos, mos, m.Score.Label, false}, m.Inbound() && m.StillMs().V >= m.IntervalMs
}

// slowOf returns an interval of video with few frames, with its score as a screen; false if that score is
// not higher.
func slowOf(e *event.Event, ms int64) (undecided, bool) {
	m := e.Measured
	if m.Screen || !m.Known(protocol.FPS) || m.Get(protocol.FPS) >= screenFPS {
		return undecided{}, false
	}
	shown := *m
	shown.Screen = true
	before, after := quality.ScoreVideo(m, quality.DefaultVideoParams()), quality.ScoreVideo(&shown, quality.DefaultVideoParams())
	if !before.OK() || !after.OK() || after.MOS <= before.MOS {
		return undecided{}, false
	}
	// The processor's constants may differ from the defaults: the difference counts.
	mos := math.Min(quality.VideoMOS(1, 1), m.Score.MOS.V+after.MOS-before.MOS)
	return undecided{e.Rank(), e.AtMs - ms, e.AtMs, m.Score.MOS.V, mos, m.Score.Label, false}, true
}

// roundingMs is the largest gap between adjacent intervals that is due to rounding.
const roundingMs = 2

// slides returns the times within screens in which the stream had few frames and little loss: an unchanged picture is a
// slide then.
func (s *stream) slides(screens []detect.Span) []detect.Span {
	few := make([]detect.Span, 0, len(s.undecided))
	for _, one := range s.undecided {
		if one.other <= one.measured {
			continue
		}
		few = append(few, detect.Span{FromMs: one.from, ToMs: one.to})
	}
	return intersect(intersect(widen(few, roundingMs), screens), complement(s.factSpans(lossy)))
}

// spanMs returns the length of spans that do not overlap, ms.
func spanMs(spans []detect.Span) (ms int64) {
	for _, s := range spans {
		ms += s.ToMs - s.FromMs
	}
	return ms
}

// shares holds the times in which participants sent a screen.
type shares struct {
	sharers map[string]int // members of none, by session: participants who sent a screen
	none    *agreement     // times in which they did not send one
	bySSRC  map[int64][]detect.Span
	others  map[int][]detect.Span // results of of
}

// shares returns the times in which screens were sent: as reported in the measurements of a stream, or,
// for all video of a participant whose client reported none, as announced by the application.
func (c *Conference) shares() *shares {
	out := &shares{sharers: map[string]int{}, bySSRC: map[int64][]detect.Span{}, others: map[int][]detect.Span{}}
	none := map[int][]detect.Span{}
	for session, p := range c.participants {
		sent, reported := map[int64][]detect.Span{}, []detect.Span{}
		for _, f := range p.fabrics {
			for key, s := range f.streams {
				if key.statsType != outboundRTP || key.mediaType != video {
					continue
				}
				spans := s.factSpans(screen)
				sent[key.ssrc] = append(sent[key.ssrc], spans...)
				reported = append(reported, spans...)
			}
		}
		announced := p.announcedShares()
		for ssrc, spans := range sent {
			if len(reported) == 0 {
				spans = announced
			}
			out.bySSRC[ssrc] = append(out.bySSRC[ssrc], spans...)
		}
		if all := coarsen(detect.Merge(append(reported, announced...))); len(all) > 0 {
			none[len(out.sharers)] = complement(all)
			out.sharers[session] = len(out.sharers)
		}
	}
	for ssrc, spans := range out.bySSRC {
		out.bySSRC[ssrc] = coarsen(detect.Merge(spans))
	}
	out.none = agree(none)
	return out
}

// screens returns the times in which a stream with undecided intervals may have been a screen.
func (s *stream) screens(of func() *shares, session string, key streamKey) []detect.Span {
	if len(s.undecided) == 0 {
		return nil
	}
	return of().of(session, key)
}

// of returns the times in which a stream may have been a screen: by its sender's records if they have its
// SSRC, else, since a media server rewrites the SSRC, by those of all other participants.
func (s *shares) of(session string, key streamKey) []detect.Span {
	if spans, known := s.bySSRC[key.ssrc]; known || key.statsType == outboundRTP {
		return spans
	}
	one, shares := s.sharers[session]
	if !shares {
		one = len(s.sharers) // no member of none
	}
	return memoize(s.others, one, func() []detect.Span {
		if len(s.sharers) == btoi(shares) {
			return nil
		}
		return coarsen(complement(s.none.except(one)))
	})
}

// factSpans returns the times in which a fact was true, ascending.
func (s *stream) factSpans(fact detect.Facts) (spans []detect.Span) {
	s.causeFacts.Each(func(from, to int64, word detect.Word) {
		if word&fact != 0 {
			spans = append(spans, detect.Span{FromMs: from, ToMs: to})
		}
	})
	return spans
}

// announcedShares returns the times between screenShareStart and screenShareStop.
func (p *participant) announcedShares() (spans []detect.Span) {
	for number, f := range p.fabrics {
		for _, i := range f.intervals(number, f.last) {
			if i.Kind == "screen" {
				spans = append(spans, detect.Span{FromMs: i.StartMs, ToMs: i.EndMs})
			}
		}
	}
	return coarsen(detect.Merge(spans))
}

// widen returns spans that begin ms earlier and end ms later, ascending and disjoint. The least and the largest time
// remain.
func widen(spans []detect.Span, ms int64) []detect.Span {
	longer := make([]detect.Span, 0, len(spans))
	for _, s := range spans {
		longer = append(longer, detect.Span{FromMs: max(s.FromMs, math.MinInt64+ms) - ms, ToMs: min(s.ToMs, math.MaxInt64-ms) + ms})
	}
	return detect.Merge(longer)
}
