package cause

// A browser counts no packet as lost over a gap of more than 50 packets, a second of sound (StreamStatisticianImpl of libwebrtc:
// max_reordering_threshold): it takes the packets after the gap for a new beginning. The gap is known from the sound that is
// missing while the sender sends.

// hear adds the sound that did not arrive to the legs on which it was lost, as far as they are known.
func (c *call) hear(legs map[[2]int]*leg, pairings []pairing) {
	for i := range pairings {
		p := &pairings[i]
		if p.media != "audio" || p.in == nil || !p.in.gapped() {
			continue
		}
		if p.throughSFU && !misses(pairings, p.to) {
			continue
		}
		if l := legs[[2]int{p.from, p.to}]; l != nil {
			l.hear(p.in)
		}
	}
}

// gapped reports whether the gaps of a stream are more than a single one.
func (s *Stream) gapped() bool { return s.GapMs >= MinTimeMs/2 }

// misses reports whether one receiver misses sound of all senders behind a server, and nobody else does. A server that
// forwards only whom one hears has gaps for everybody.
func misses(pairings []pairing, receiver int) bool {
	var here, elsewhere compared
	for i := range pairings {
		switch p := &pairings[i]; {
		case !p.throughSFU || p.media != "audio" || p.in == nil || p.in.TimeMs < MinTimeMs:
		case p.to == receiver:
			here.add(p.in)
		default:
			elsewhere.add(p.in)
		}
	}
	return here.gaps > 1 && here.whole == 0 && elsewhere.gaps == 0 && elsewhere.whole > 0
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
