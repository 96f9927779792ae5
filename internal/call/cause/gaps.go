package cause

// A browser counts no packet of a gap of more than 50 packets, a second of audio, as lost: it treats the packets after the gap
// as a restart (max_reordering_threshold of libwebrtc's StreamStatisticianImpl). So gaps are measured as audio that is missing
// while the sender sends.

// addGaps adds the audio that did not arrive to the legs on which it was lost, as far as they are known.
func (c *call) addGaps(legs map[[2]int]*leg, pairings []pairing) {
	served := countServings(pairings)
	for i := range pairings {
		p := &pairings[i]
		if p.media != "audio" || p.in == nil || !p.in.gapped() || p.throughSFU && !served.misses(p.to) {
			continue
		}
		if l := legs[[2]int{p.from, p.to}]; l != nil {
			l.addGaps(p.in)
		}
	}
}

// gapped reports whether the gaps of a stream are longer than a single one.
func (s *Stream) gapped() bool { return s.GapMs >= MinTimeMs/2 }

// servings counts the audio streams from a media server.
type servings struct {
	byReceiver map[int]gapCount
	all        gapCount
}

func countServings(pairings []pairing) servings {
	n := servings{byReceiver: map[int]gapCount{}}
	for i := range pairings {
		p := &pairings[i]
		if !p.throughSFU || p.media != "audio" || p.in == nil || p.in.TimeMs < MinTimeMs {
			continue
		}
		count := n.byReceiver[p.to]
		count.add(p.in)
		n.byReceiver[p.to] = count
		n.all.add(p.in)
	}
	return n
}

// misses reports whether a receiver has gaps in the audio of all senders, and no other receiver has any. A server that forwards
// only the loudest speakers causes gaps for all receivers.
func (n *servings) misses(receiver int) bool {
	count := n.byReceiver[receiver]
	return count.gaps > 1 && count.whole == 0 && n.all.gaps == count.gaps && n.all.whole > 0
}

// gapCount counts streams with gaps and without.
type gapCount struct{ gaps, whole int }

func (n *gapCount) add(s *Stream) {
	if s.gapped() && share(s.GapMs, s.SeenMs) >= badShare {
		n.gaps++
	} else {
		n.whole++
	}
}

// addGaps adds an audio stream that was received with gaps. Time without any packet is missing too.
func (l *leg) addGaps(s *Stream) {
	l.gaps += s.GapMs
	l.soundLostMs += s.LostMs + s.GapMs + s.NoneMs
	l.soundMs += s.SeenMs + s.NoneMs
	l.seen = max(l.seen, s.SeenMs)
}
