package conference

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// Received media can be missing without a lost packet: browsers report a dead path as silent
// concealment, and an interval without packets has no score. Such time is scored as total loss if the
// other participants' records show that the remote end sent.

const (
	minSilentShare = 0.02 // least share of silently concealed samples that may lower a score
	leastMOS       = 1
	missing        = detect.Facts(1) // no packet arrived
)

// soundOf returns an interval of received audio whose score depends on the records of all participants: its silence may be
// loss. It returns false if that does not change the score.
func soundOf(e *event.Event, ms int64) (undecided, bool) {
	m := e.Measured
	samples := m.Get(protocol.Samples)
	if !m.Inbound() || !m.Score.MOS.Known || samples == 0 || m.Get(protocol.SilentConcealedSamples) < minSilentShare*samples {
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

// addScore adds the score of an interval. The summary chooses the score of an undecided one, unless there
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

// scored holds the scores of a stream over time.
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

// scores returns the scores of a stream: the measured ones, those that assumed a quantiser, and those of
// its undecided intervals. Time without packets within sent is scored as total loss.
func (s *stream) scores(mediaType string, labels quality.Bounds, sender *pictures, sent []detect.Span, by decision) *scored {
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
		all.add(lost, overlapMs(from, to, sent), quality.Bad)
	})
	return &all
}

// totalLoss returns the score of a stream that lost all packets.
func totalLoss(mediaType, codec string) float64 {
	if mediaType == video {
		return leastMOS
	}
	m := event.Measurement{StatsType: inboundRTP, MediaType: audio, Codec: codec}
	m.Set(protocol.Packets, 0)
	m.Set(protocol.PacketsLost, 1000)
	return quality.ScoreAudio(&m).MOS
}

// overlapMs returns the part of an interval that is within spans, ms. The spans MUST be ascending and disjoint.
func overlapMs(from, to int64, spans []detect.Span) (ms int64) {
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
					s.result = s.scores(key.mediaType, labels, videos.of(f, key.ssrc, s.pictures), nil, decision{other: s.screens(screens, session, key)})
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
				by := decision{other: s.screens(screens, w.p.Session, key)}
				unread := w.undecoded(key)
				paused := detect.Merge(slices.Concat(w.paused(key.ssrc), unread))
				by.none = unread
				var sent []detect.Span
				if silent {
					s.sentTo = subtract(s.whileMeasured(w.sentTo(key)), paused)
					var heard []detect.Span
					sent, heard = w.sentToStream(key, w.state.ownerOf(key.ssrc))
					sent = subtract(sent, paused)
					if key.mediaType == audio {
						s.unbroken, by.other = w.unbrokenTimes(key), subtract(heard, paused)
					}
				}
				if key.mediaType == video {
					s.stillMs = spanMs(detect.Merge(append(w.stillTimes(key), s.slides(by.other)...)))
					by.none = detect.Merge(slices.Concat(paused, w.withheld(key)))
				}
				s.result = s.scores(key.mediaType, labels, videos.of(w.state, key.ssrc, s.pictures), sent, by)
			}
		}
	}
}

// stillTimes returns the times in which the picture of received video did not have to change: it was paused, slowed, on hold or
// withheld, or its sender sent none.
func (w *fabricFinder) stillTimes(key streamKey) []detect.Span {
	spans := slices.Concat(w.paused(key.ssrc), w.slowed(key.ssrc), w.localMutes("hold"), w.othersSilent(video, w.state.ownerOf(key.ssrc)), w.withheld(key))
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

// subtract returns the parts of spans outside of others; nil for nil.
func subtract(spans, others []detect.Span) []detect.Span {
	if spans == nil || len(others) == 0 {
		return spans
	}
	return append([]detect.Span{}, intersect(spans, complement(others))...)
}

// isSilent reports whether the stream had times without audio or pictures. A media server's probing has no payload and does
// not count.
func (s *stream) isSilent(key streamKey) bool {
	return key.mediaType == audio && (len(s.undecided) > 0 || s.causeFacts.Any()&gap != 0) || !s.missing.Empty() && !s.isPadding()
}

// sentToStream returns the times in which the remote end sent media for this stream, whether or not they
// arrived, and those in which it sent them without pauses.
func (w *fabricFinder) sentToStream(key streamKey, owner string) (sent, unbroken []detect.Span) {
	o := w.sender(key, owner)
	if o == nil {
		return nil, nil
	}
	by := w.sentBy(o, key.mediaType)
	return by.any, by.unbroken
}

// sentTo returns the times in which the sender of a stream sent, also through a media server; for an
// unknown sender behind a server, the times in which every other participant sent. Only in these times
// can a missing packet be a fault. It is nil if they are unknown.
func (w *fabricFinder) sentTo(key streamKey) []detect.Span {
	owner := w.state.ownerOf(key.ssrc)
	if o := w.remote(owner); o != nil {
		return append([]detect.Span{}, w.sentBy(o, key.mediaType).any...)
	}
	if !w.state.server || owner != "" {
		return nil
	}
	return w.sentByAllOthers(key.mediaType)
}

// sentByAllOthers returns the times in which every other participant sent a kind of media; nil without other participants.
func (w *fabricFinder) sentByAllOthers(media string) []detect.Span {
	return memoize(w.othersSent, media, func() []detect.Span {
		sent, present := w.sentTogether(media)
		if len(sent.butOne) < 2 {
			return nil
		}
		cut, _ := w.state.stretches(markDisrupted, w.out.EndMs)
		all := detect.Merge(slices.Concat(sent.except(w.index), intersect(cut, present.except(w.index))))
		return append([]detect.Span{}, firstSpans(intersect(all, complement(w.excused(nil))))...)
	})
}

// sentTogether returns the times in which participants sent a kind of media, and those in which they could have sent it.
func (f *finder) sentTogether(media string) (sent, present *agreement) {
	both := memoize(f.times.together, media, func() [2]*agreement {
		sent, present := map[int][]detect.Span{}, map[int][]detect.Span{}
		for i := range f.s.Participants {
			if p := &f.s.Participants[i]; len(p.Fabrics) > 0 {
				present[i] = complement(coarsen(p.silent(media)))
				sent[i] = intersect(f.sends(p.Session, media).any, present[i])
			}
		}
		return [2]*agreement{agree(sent), agree(present)}
	})
	return both[0], both[1]
}

// sendTimes holds the times in which media of a kind were sent, and were sent without pauses.
type sendTimes struct{ any, unbroken []detect.Span }

// sentBy returns the times in which a sender sent a kind of media to this fabric.
func (w *fabricFinder) sentBy(o *Participant, media string) sendTimes {
	return memoize(w.senders, mediaKey{o.Session, media}, func() sendTimes {
		possible := complement(w.excused(w.othersSilent(media, o.UserID)))
		cut, _ := w.state.stretches(markDisrupted, w.out.EndMs)
		all := w.sends(o.Session, media)
		return sendTimes{
			any:      firstSpans(intersect(detect.Merge(slices.Concat(all.any, cut)), possible)),
			unbroken: firstSpans(intersect(all.unbroken, possible)),
		}
	})
}

// excused returns the times in which received media can be missing without a fault, and those of the sender's silence.
func (w *fabricFinder) excused(silence []detect.Span) []detect.Span {
	return detect.Merge(slices.Concat(w.localMutes("hold"), silence, w.beforeConnection(),
		[]detect.Span{{FromMs: math.MinInt64, ToMs: w.out.AddedAtMs}, {FromMs: w.out.EndMs, ToMs: math.MaxInt64}}))
}

// whileMeasured returns the spans that overlap the time of the stream's measurements; nil for nil.
func (s *stream) whileMeasured(spans []detect.Span) []detect.Span {
	from, to := s.measured()
	a, _ := slices.BinarySearchFunc(spans, from, func(s detect.Span, at int64) int { return cmp.Compare(s.ToMs, at) })
	b, _ := slices.BinarySearchFunc(spans, to+1, func(s detect.Span, at int64) int { return cmp.Compare(s.FromMs, at) })
	return spans[a:max(a, b)]
}

// unbrokenTimes returns the times in which the sender of received audio, also through a media server, sent it without pauses or
// halts.
func (w *fabricFinder) unbrokenTimes(key streamKey) []detect.Span {
	o := w.remote(w.state.ownerOf(key.ssrc))
	if o == nil {
		return nil
	}
	halts := memoize(w.times.halts, o.Session, func() []detect.Span { return coarsen(w.c.participants[o.Session].halts()) })
	return intersect(w.sentBy(o, key.mediaType).unbroken, complement(halts))
}

// sender returns the participant who sends a stream's media; nil if unknown, or if a media server need not
// forward them.
func (w *fabricFinder) sender(key streamKey, owner string) *Participant {
	if !w.expectsMedia(key.mediaType) {
		return nil
	}
	return w.remote(owner)
}

// remote returns the participant at the other end: the owner of a stream if it is not empty, else the
// remote end of the connection, else the only other participant; nil if there is none.
func (w *fabricFinder) remote(owner string) *Participant {
	return memoize(w.remotes, owner, func() *Participant { return w.findRemote(owner) })
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

// isOther reports whether o is another participant and has connections.
func (w *fabricFinder) isOther(o *Participant) bool {
	return o.Session != w.p.Session && len(o.Fabrics) > 0
}

// sends returns the times in which the participant of a session sent a kind of media.
func (f *finder) sends(session, media string) sendTimes {
	return memoize(f.times.sends, mediaKey{session, media}, func() sendTimes {
		any, unbroken := f.c.participants[session].sends(media)
		return sendTimes{firstSpans(any), firstSpans(unbroken)}
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

// complement returns the times outside of spans. The spans MUST be ascending and disjoint.
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
