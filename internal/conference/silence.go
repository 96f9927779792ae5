package conference

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// Received media can be missing without a lost packet: browsers report a dead path as silent
// concealment, and an interval without packets has no score. Such time is scored as total loss where the
// remote end sent: only the other participants' records show whether it did.

const (
	silentShare = 0.02 // of the samples, from which silent concealment may lower a score
	leastMOS    = 1
	missing     = detect.Facts(1) // no packet arrived
)

// soundOf returns an interval of received audio whose score the records of all participants decide: it has silence, which may be loss.
// False if that does not change the score.
func soundOf(e *event.Event, ms int64) (undecided, bool) {
	m := e.Measured
	samples := m.Get(protocol.Samples)
	if !m.Inbound() || !m.Score.MOS.Known || samples == 0 || m.Get(protocol.SilentConcealedSamples) < silentShare*samples {
		return undecided{}, false
	}
	heard := *m
	heard.Set(protocol.SilentConcealedSamples, 0)
	before, after := quality.ScoreAudio(m), quality.ScoreAudio(&heard)
	if !before.OK() || !after.OK() || after.MOS >= before.MOS {
		return undecided{}, false
	}
	// The score has inputs that the row lacks, for example the pair's round-trip time: the difference counts.
	mos := m.Score.MOS.V
	return undecided{e.Rank(), e.AtMs - ms, e.AtMs, mos, max(leastMOS, mos+after.MOS-before.MOS), m.Score.Label, false}, true
}

// addScore adds the score of an interval. Of an undecided one it is chosen in the summary, unless there
// are too many.
func (s *stream) addScore(e *event.Event, ms int64) {
	m := e.Measured
	if m.Inbound() && m.Value(protocol.Packets).Is(0) {
		s.missing.AddFacts(e.AtMs-ms, e.AtMs, missing)
	}
	assumed := s.addPicture(e, ms)
	if one, ok := undecidedOf(e, ms); ok {
		one.assumed = assumed
		s.addUndecided(one)
		return
	}
	if m.Score.MOS.Known {
		s.scoredWith(assumed).add(m.Score.MOS.V, ms, m.Score.Label)
	}
}

// scored are the scores of a stream over time.
type scored struct {
	mos    dist
	labels [len(labelNames)]float64 // ms by label
}

// add adds the score of an interval, and its label, which may be unknown.
func (d *scored) add(mos float64, ms int64, label string) {
	d.mos.add(mos, ms)
	if i := slices.Index(labelNames[:], label); i >= 0 {
		d.labels[i] += float64(ms)
	}
}

func (d *scored) merge(o *scored) {
	d.mos.merge(&o.mos)
	for i, ms := range o.labels {
		d.labels[i] += ms
	}
}

// scores returns the scores of a stream: those measured, those of its pictures and of its undecided
// intervals. Time without packets counts as lost within sent.
func (s *stream) scores(mediaType string, labels quality.Bounds, sender *pictures, sent []detect.Span, by decided) *scored {
	var all scored
	all.merge(&s.scored)
	all.addAssumed(s.pictures, sender, labels)
	for _, one := range s.undecided {
		mos, ok := one.decide(by)
		if !ok {
			continue
		}
		if one.assumed && sender != nil {
			mos = sender.score(mos)
		}
		all.add(mos, one.to-one.from, quality.Label(mos, labels))
	}
	if len(sent) == 0 {
		return &all
	}
	lost := totalLoss(mediaType, s.codec.value)
	s.missing.Each(func(from, to int64, _ detect.Word) {
		all.add(lost, within(from, to, sent), quality.Bad)
	})
	return &all
}

// totalLoss returns the score of media of which every packet was lost.
func totalLoss(mediaType, codec string) float64 {
	if mediaType == video {
		return leastMOS
	}
	m := event.Measurement{StatsType: inboundRTP, MediaType: audio, Codec: codec}
	m.Set(protocol.Packets, 0)
	m.Set(protocol.PacketsLost, 1000)
	return quality.ScoreAudio(&m).MOS
}

// within returns the time of an interval that lies within spans, which are ascending and disjoint, ms.
func within(from, to int64, spans []detect.Span) (ms int64) {
	i, _ := slices.BinarySearchFunc(spans, from, func(s detect.Span, at int64) int { return cmp.Compare(s.ToMs, at) })
	for _, s := range spans[i:] {
		if s.FromMs >= to {
			break
		}
		ms += max(0, min(to, s.ToMs)-max(from, s.FromMs))
	}
	return ms
}

// scoreStreams sets the scores of all streams, for the summary that follows.
func (c *Conference) scoreStreams(labels quality.Bounds, now moment) {
	videos, late := c.sentVideo(), false
	screens := sync.OnceValue(c.shares) // few conferences need them
	for session, p := range c.participants {
		for _, f := range p.fabrics {
			for key, s := range f.streams {
				s.result, s.sentTo, s.unbroken, s.stillMs = &s.scored, nil, nil, 0
				switch {
				case s.isSilent(key), s.froze(key), s.isDecidedLate(key):
					late = true
				case s.pictures != nil && key.statsType == inboundRTP, len(s.undecided) > 0:
					s.result = s.scores(key.mediaType, labels, videos.of(f, key.ssrc, s.pictures), nil, decided{other: s.screens(screens, session, key)})
				}
			}
		}
	}
	if !late {
		return
	}
	f := c.newFinder(c.brief(now), labels, now)
	for i := range f.s.Participants {
		for w := range f.fabrics(i) {
			for key, s := range w.state.streams {
				silent := s.isSilent(key)
				if !silent && !s.froze(key) && !s.isDecidedLate(key) {
					continue
				}
				by := decided{other: s.screens(screens, w.p.Session, key)}
				unread := w.undecoded(key)
				paused := detect.Merge(slices.Concat(w.paused(key.ssrc), unread))
				by.none = unread
				var sent []detect.Span
				if silent {
					s.sentTo = without(s.whileMeasured(w.sentTo(key)), paused)
					var heard []detect.Span
					sent, heard = w.sent(key, w.state.ownerOf(key.ssrc))
					sent = without(sent, paused)
					if key.mediaType == audio {
						s.unbroken, by.other = w.unbroken(key), without(heard, paused)
					}
				}
				if key.mediaType == video {
					s.stillMs = spanMs(detect.Merge(append(w.still(key), s.slides(by.other)...)))
					by.none = detect.Merge(slices.Concat(paused, w.withheld(key)))
				}
				s.result = s.scores(key.mediaType, labels, videos.of(w.state, key.ssrc, s.pictures), sent, by)
			}
		}
	}
}

// still returns the times in which the picture of received video did not have to change: it was paused, on hold, of few frames,
// or its sender sent none.
func (w *fabricFinder) still(key streamKey) []detect.Span {
	spans := slices.Concat(w.paused(key.ssrc), w.slowed(key.ssrc), w.own("hold"), w.others(video, w.state.ownerOf(key.ssrc)), w.withheld(key))
	return intersect(detect.Merge(spans), []detect.Span{{FromMs: w.out.AddedAtMs, ToMs: w.out.EndMs}})
}

// isPadding reports whether the stream never had payload.
func (s *stream) isPadding() bool { return s.bytes == 0 && s.causeFacts.Any()&padding != 0 }

// isDecidedLate reports whether the score of an interval of video depends on pauses.
func (s *stream) isDecidedLate(key streamKey) bool {
	return key.mediaType == video && len(s.undecided) > 0
}

// froze reports whether received video was frozen.
func (s *stream) froze(key streamKey) bool {
	return key.statsType == inboundRTP && key.mediaType == video && s.freezeMs > 0
}

// without returns the spans without others, nil for nil.
func without(spans, others []detect.Span) []detect.Span {
	if spans == nil || len(others) == 0 {
		return spans
	}
	return append([]detect.Span{}, intersect(spans, complement(others))...)
}

// isSilent reports whether the stream had times in which nothing may have been heard or seen. A server's probing has no payload.
func (s *stream) isSilent(key streamKey) bool {
	return key.mediaType == audio && (len(s.undecided) > 0 || s.causeFacts.Any()&gap != 0) || !s.missing.Empty() && !s.isPadding()
}

// sent returns the times in which the remote end sent media to this stream although none of it may
// have arrived, and those in which it sent them without pauses.
func (w *fabricFinder) sent(key streamKey, owner string) (sent, unbroken []detect.Span) {
	o := w.sender(key, owner)
	if o == nil {
		return nil, nil
	}
	by := w.sentBy(o, key.mediaType)
	return by.any, by.unbroken
}

// sentTo returns the times in which the sender of a stream sent, also through a media server; of an
// unknown sender behind a server those in which every other participant sent. Only in these times can a
// missing packet be a fault. It is nil if no record shows them.
func (w *fabricFinder) sentTo(key streamKey) []detect.Span {
	owner := w.state.ownerOf(key.ssrc)
	if o := w.remote(owner); o != nil {
		return append([]detect.Span{}, w.sentBy(o, key.mediaType).any...)
	}
	if !w.state.server || owner != "" {
		return nil
	}
	return w.sentByOthers(key.mediaType)
}

// sentByOthers returns the times in which every other participant sent a kind of media, nil if there is none.
func (w *fabricFinder) sentByOthers(media string) []detect.Span {
	return once(w.anybody, media, func() []detect.Span {
		sent, present := w.together(media)
		if len(sent.butOne) < 2 {
			return nil
		}
		cut, _ := w.state.stretches(markDisrupted, w.out.EndMs)
		all := detect.Merge(slices.Concat(sent.without(w.index), intersect(cut, present.without(w.index))))
		return append([]detect.Span{}, first(intersect(all, complement(w.excused(nil))))...)
	})
}

// together returns when participants sent a kind of media, and when they were there to send it.
func (f *finder) together(media string) (sent, present *agreement) {
	both := once(f.found.together, media, func() [2]*agreement {
		sent, present := map[int][]detect.Span{}, map[int][]detect.Span{}
		for i := range f.s.Participants {
			if p := &f.s.Participants[i]; len(p.Fabrics) > 0 {
				present[i] = complement(coarse(p.silent(media)))
				sent[i] = intersect(f.sends(p.Session, media).any, present[i])
			}
		}
		return [2]*agreement{agree(sent), agree(present)}
	})
	return both[0], both[1]
}

// sending is when media of a kind were sent, and when without pauses.
type sending struct{ any, unbroken []detect.Span }

// sentBy returns the times of sent, of a known sender.
func (w *fabricFinder) sentBy(o *Participant, media string) sending {
	return once(w.senders, whose{o.Session, media}, func() sending {
		possible := complement(w.excused(w.others(media, o.UserID)))
		cut, _ := w.state.stretches(markDisrupted, w.out.EndMs)
		all := w.sends(o.Session, media)
		return sending{
			any:      first(intersect(detect.Merge(slices.Concat(all.any, cut)), possible)),
			unbroken: first(intersect(all.unbroken, possible)),
		}
	})
}

// excused returns the times in which media to the fabric can be missing without a fault, beside the silence of who sends them.
func (w *fabricFinder) excused(silence []detect.Span) []detect.Span {
	return detect.Merge(slices.Concat(w.own("hold"), silence, w.before(),
		[]detect.Span{{FromMs: math.MinInt64, ToMs: w.out.AddedAtMs}, {FromMs: w.out.EndMs, ToMs: math.MaxInt64}}))
}

// whileMeasured returns the spans that touch the time of the stream's measurements, nil for nil.
func (s *stream) whileMeasured(spans []detect.Span) []detect.Span {
	from, to := s.measured()
	a, _ := slices.BinarySearchFunc(spans, from, func(s detect.Span, at int64) int { return cmp.Compare(s.ToMs, at) })
	b, _ := slices.BinarySearchFunc(spans, to+1, func(s detect.Span, at int64) int { return cmp.Compare(s.FromMs, at) })
	return spans[a:max(a, b)]
}

// unbroken returns the times in which the sender of received audio, also through a media server, sent all of it.
func (w *fabricFinder) unbroken(key streamKey) []detect.Span {
	o := w.remote(w.state.ownerOf(key.ssrc))
	if o == nil {
		return nil
	}
	halts := once(w.found.halts, o.Session, func() []detect.Span { return coarse(w.c.participants[o.Session].halts()) })
	return intersect(w.sentBy(o, key.mediaType).unbroken, complement(halts))
}

// sender returns the participant whose media the stream has, nil if that is not known. A server that once
// sent a kind of media may leave out what nobody hears or displays.
func (w *fabricFinder) sender(key streamKey, owner string) *Participant {
	if !w.expects(key.mediaType) {
		return nil
	}
	return w.remote(owner)
}

// remote returns the participant at the other end: the owner of a stream, if one is named, else the
// remote end of the connection, else the only other participant. It is nil if that is not known.
func (w *fabricFinder) remote(owner string) *Participant {
	return once(w.remotes, owner, func() *Participant { return w.findRemote(owner) })
}

func (w *fabricFinder) findRemote(owner string) *Participant {
	name := owner
	if name == "" && !w.state.server {
		name, _ = w.state.renames.current(w.state.remoteUser, w.state.remoteAlias)
	}
	if name != "" {
		for _, i := range w.named[name] {
			if o := &w.s.Participants[i]; w.isOther(o) {
				return o
			}
		}
	}
	var only *Participant
	for i := range w.s.Participants {
		o := &w.s.Participants[i]
		if !w.isOther(o) {
			continue
		}
		if only != nil {
			return nil
		}
		only = o
	}
	return only
}

// isOther reports whether a participant is another one, with connections.
func (w *fabricFinder) isOther(o *Participant) bool {
	return o.Session != w.p.Session && len(o.Fabrics) > 0
}

// sends returns when the participant of a session sent a kind of media.
func (f *finder) sends(session, media string) sending {
	return once(f.found.sends, whose{session, media}, func() sending {
		any, unbroken := f.c.participants[session].sends(media)
		return sending{first(any), first(unbroken)}
	})
}

// sends returns the times in which the participant sent a kind of media, and those in which it sent
// audio without the pauses of discontinuous transmission.
func (p *participant) sends(media string) (any, unbroken []detect.Span) {
	sent := detect.SentAudio | detect.UnheardAudio
	if media == video {
		sent = detect.SentVideo | detect.UnheardVideo
	}
	for _, f := range p.fabrics {
		f.facts.Each(func(from, to int64, word detect.Word) {
			if word&sent == 0 || media == audio && word&detect.SparseAudio != 0 {
				return
			}
			span := detect.Span{FromMs: from, ToMs: to}
			any = append(any, span)
			if word&detect.SlowAudio == 0 {
				unbroken = append(unbroken, span)
			}
		})
	}
	return detect.Merge(any), detect.Merge(unbroken)
}

// complement returns the times outside of spans that are ascending and disjoint.
func complement(spans []detect.Span) []detect.Span {
	out := []detect.Span{}
	from := int64(math.MinInt64)
	for _, s := range spans {
		if s.FromMs > from {
			out = append(out, detect.Span{FromMs: from, ToMs: s.FromMs})
		}
		from = max(from, s.ToMs)
	}
	if from < math.MaxInt64 {
		out = append(out, detect.Span{FromMs: from, ToMs: math.MaxInt64})
	}
	return out
}
