package cause

// A browser counts no packet as lost over a gap of more than 50 packets, a second of sound (StreamStatisticianImpl of libwebrtc:
// max_reordering_threshold): it takes the packets after the gap for a new beginning. The gap is known from the sound that is
// missing while the sender sends.

// hear adds the sound that did not arrive to the legs on which it was lost, as far as they are known.
func (c *call) hear(legs map[[2]int]*leg, pairings []pairing) {
	served := served(pairings)
	for i := range pairings {
		p := &pairings[i]
		if p.media != "audio" || p.in == nil || !p.in.gapped() || p.throughSFU && !served.misses(p.to) {
			continue
		}
		if l := legs[[2]int{p.from, p.to}]; l != nil {
			l.hear(p.in)
		}
	}
}

// gapped reports whether the gaps of a stream are more than a single one.
func (s *Stream) gapped() bool { return s.GapMs >= MinTimeMs/2 }

// servings counts the streams of sound from a media server.
type servings struct {
	by  map[int]compared // by receiver
	all compared
}

func served(pairings []pairing) servings {
	n := servings{by: map[int]compared{}}
	for i := range pairings {
		p := &pairings[i]
		if !p.throughSFU || p.media != "audio" || p.in == nil || p.in.TimeMs < MinTimeMs {
			continue
		}
		own := n.by[p.to]
		own.add(p.in)
		n.by[p.to] = own
		n.all.add(p.in)
	}
	return n
}

// misses reports whether one receiver misses sound of all senders, and nobody else does. A server that forwards only whom one
// hears has gaps for everybody.
func (n *servings) misses(receiver int) bool {
	own := n.by[receiver]
	return own.gaps > 1 && own.whole == 0 && n.all.gaps == own.gaps && n.all.whole > 0
}

// compared counts streams with gaps and without.
type compared struct{ gaps, whole int }

func (n *compared) add(s *Stream) {
	if s.gapped() && share(s.GapMs, s.SeenMs) >= badShare {
		n.gaps++
	} else {
		n.whole++
	}
}

// hear adds a stream of sound that was received with gaps. Time without any packet is missing too.
func (l *leg) hear(s *Stream) {
	l.gaps += s.GapMs
	l.soundLostMs += s.LostMs + s.GapMs + s.NoneMs
	l.soundMs += s.SeenMs + s.NoneMs
	l.seen = max(l.seen, s.SeenMs)
}
