package conference

import (
	"maps"
	"slices"
)

// brief returns the part of a summary that detection needs: no scores, no distributions.
func (c *Conference) brief(now moment) *Summary {
	s := &Summary{StartMs: c.span.Start, EndMs: c.span.End, Participants: make([]Participant, 0, len(c.participants))}
	for session, p := range c.participants {
		s.Participants = append(s.Participants, p.brief(session, now))
	}
	s.sort()
	return s
}

func (p *participant) brief(session string, now moment) Participant {
	out := p.named(session)
	for _, number := range slices.Sorted(maps.Keys(p.fabrics)) {
		f := p.fabrics[number]
		fab := f.brief(number, now)
		out.Fabrics = append(out.Fabrics, fab)
		out.addFabric(&fab, f)
	}
	out.setEnd(now)
	return out
}

func (f *fabric) brief(number int, now moment) Fabric {
	at, reason := f.end(now)
	out := Fabric{Fabric: number, AddedAtMs: f.addedAt, EndMs: at, EndReason: reason, Streams: make([]Stream, 0, len(f.streams))}
	for _, key := range slices.SortedFunc(maps.Keys(f.streams), streamKey.compare) {
		s := Stream{SSRC: key.ssrc, StatsType: key.statsType, MediaType: key.mediaType, LossFraction: f.streams[key].lossFraction(key.statsType)}
		if key.statsType == candidatePair {
			out.CandidatePair = &s
			continue
		}
		f.nameOwner(&s)
		out.Streams = append(out.Streams, s)
	}
	return out
}
