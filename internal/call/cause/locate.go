package cause

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// suspect is a part of the network that can be at fault, with the legs that would then be bad.
type suspect struct {
	cause Cause
	at    int // index of the person; server
	legs  []*leg
}

// harm is one effect of a network on media.
type harm struct {
	judge      func(*leg) state
	confidence float64 // confidence of a finding by it
	oneWay     bool    // a leg can have it without its reverse leg
	ofMachines bool    // a machine without processor time causes it too
}

// harms are in the order of evaluation: a queue that drops packets also delays them and adds
// jitter, so a leg that an earlier harm explains is not reported again by a later one.
var harms = []harm{{(*leg).lossState, 0.75, true, false}, {(*leg).delayState, 0.7, false, true}, {(*leg).jitterState, 0.6, true, true}}

// network returns the findings about the parts of the network whose fault explains the bad legs, and
// leaves the other legs well. One fault that explains many legs precedes several that explain few.
func (c *call) network(legs []*leg) (findings []Finding) {
	explained := map[[2]int]bool{}
	for _, h := range harms {
		judge := func(l *leg) state {
			judged := h.judge(l)
			switch {
			case explained[l.pair()] || h.ofMachines && c.fromMachine(l):
				return min(judged, between)
			case judged == well && l.impaired():
				return between
			}
			return judged
		}
		findings = append(findings, c.locate(legs, judge, h)...)
		for _, l := range legs {
			explained[l.pair()] = explained[l.pair()] || h.judge(l) == bad
		}
	}
	return findings
}

// impaired reports whether a leg is bad by loss, limited bandwidth or jitter, and its receiver measured it. One fault may show
// as loss on one leg and as jitter on another, so such a leg is no evidence that a fault lies elsewhere. Jitter that does
// not stand out counts only on legs of a media server, whose network they share.
func (l *leg) impaired() bool {
	all := l.served() && l.jittery > mostly
	return l.received && l.seen >= MinTimeMs && (l.lossState() == bad || l.jitterState() == bad || all)
}

// pair identifies a leg and its reverse leg.
func (l *leg) pair() [2]int { return [2]int{min(l.from, l.to), max(l.from, l.to)} }

// maxFaults bounds the findings about one harm of a call.
const maxFaults = 32

// locate returns the findings that explain the legs that are bad by one harm. A conference may have tens of thousands of
// legs, so no step for one leg may search all others.
func (c *call) locate(legs []*leg, judge func(*leg) state, h harm) (findings []Finding) {
	unexplained := make(map[*leg]bool)
	for _, l := range legs {
		if judge(l) == bad {
			unexplained[l] = true
		}
	}
	suspects := c.suspects(legs)
	shows := contrastOf(suspects[0].legs, judge)
	for len(unexplained) > 0 && len(findings) < maxFaults {
		best, explains := c.strongest(suspects, unexplained, judge, shows)
		if best == nil {
			paths := pairsOf(intersect(legs, unexplained))
			for _, l := range paths[:min(len(paths), maxFaults-len(findings))] {
				findings = append(findings, c.pathFault(l, legs, unexplained, suspects, judge, h.confidence-0.05))
			}
			return findings
		}
		f := c.accessFault(best, explains, legs, judge, h.confidence)
		if !h.oneWay {
			addOtherDirection(&f, best)
		}
		findings = append(findings, f)
		best.removeFrom(unexplained, h.oneWay)
	}
	return findings
}

// removeFrom removes the legs of a suspect from unexplained, and their reverse legs if the harm has no direction.
func (s *suspect) removeFrom(unexplained map[*leg]bool, directed bool) {
	pairs := make(map[[2]int]bool, len(s.legs))
	for _, l := range s.legs {
		delete(unexplained, l)
		pairs[l.pair()] = true
	}
	if !directed {
		maps.DeleteFunc(unexplained, func(l *leg, _ bool) bool { return pairs[l.pair()] })
	}
}

// addOtherDirection adds the other direction of the access as a possible cause, for a harm without direction. It
// lowers the confidence where jitter does not show the direction.
func addOtherDirection(f *Finding, s *suspect) {
	other := ReceiverDownlink
	switch {
	case s.at == server:
		return
	case s.cause == ReceiverDownlink:
		other = SenderUplink
	}
	if s.jitteryLegs() == 0 {
		f.Confidence -= 0.1
	}
	f.Others = append(f.Others, Other{other, f.Session, 0.4})
}

// jitteryLegs counts the legs that are bad by jitter: a queue that delays adds jitter too, in its direction.
func (s *suspect) jitteryLegs() (n int) {
	for _, l := range s.legs {
		if l.jitterState() == bad {
			n++
		}
	}
	return n
}

// suspects returns all suspects: the server, then uplink and downlink of each person.
func (c *call) suspects(legs []*leg) []suspect {
	all := make([]suspect, 1, 1+2*len(c.people))
	all[0] = suspect{cause: MediaServer, at: server}
	for i := range c.people {
		all = append(all, suspect{cause: SenderUplink, at: i}, suspect{cause: ReceiverDownlink, at: i})
	}
	for _, l := range legs {
		for _, s := range suspectsOf(all, l) {
			s.legs = append(s.legs, l)
		}
	}
	return all
}

// suspectsOf returns the suspects of one leg: the server first, then by person.
func suspectsOf(all []suspect, l *leg) (have []*suspect) {
	if l.served() {
		have = append(have, &all[0])
	}
	if l.from >= 0 {
		have = append(have, &all[1+2*l.from])
	}
	if l.to >= 0 {
		have = append(have, &all[2+2*l.to])
	}
	slices.SortFunc(have, func(a, b *suspect) int { return cmp.Compare(a.at, b.at) })
	return have
}

// has reports whether a leg is one of the suspect's.
func (s *suspect) has(l *leg) bool {
	switch s.cause {
	case SenderUplink:
		return l.from == s.at
	case ReceiverDownlink:
		return l.to == s.at
	}
	return l.served()
}

// strongest returns the consistent suspect that explains the most unexplained legs, and those legs; nil
// without one. A suspect that explains a single leg is returned only where other legs exclude the
// other end: those of a server, or of a third person.
func (c *call) strongest(suspects []suspect, unexplained map[*leg]bool, judge func(*leg) state, shows contrast) (best *suspect, explains []*leg) {
	for i := range suspects {
		s := &suspects[i]
		if !consistent(s, judge) {
			continue
		}
		mine := intersect(s.legs, unexplained)
		if len(mine) == 0 || s.at == server && peopleOf(mine) < 2 {
			continue
		}
		if s.at != server && len(mine) == 1 && !c.onlySuspect(s, mine[0], suspects, unexplained, judge) {
			continue
		}
		if s.at != server && !c.accessAtFault(s, mine, shows) {
			continue
		}
		if len(mine) > len(explains) || len(mine) == len(explains) && c.likelier(s, best) {
			best, explains = s, mine
		}
	}
	return best, explains
}

// likelier reports whether s is likelier than a suspect that explains as many legs: by a weak wireless
// network first, then, of one participant's uplink and downlink, by jitter.
func (c *call) likelier(s, other *suspect) bool {
	if c.weakWiFi(s.at) != c.weakWiFi(other.at) {
		return c.weakWiFi(s.at)
	}
	return s.at == other.at && s.jitteryLegs() > other.jitteryLegs()
}

// consistent reports whether nearly all legs of a suspect are bad. Legs that are neither bad nor
// well do not count.
func consistent(s *suspect, judge func(*leg) state) bool {
	wells, bads := 0, 0
	for _, l := range s.legs {
		switch judge(l) {
		case well:
			wells++
		case bad:
			bads++
		case unseen, between:
		}
	}
	return wells == 0 || wells*6 <= bads // one of many may be well by chance
}

// peopleOf counts the people at the other ends of a server's legs.
func peopleOf(legs []*leg) int {
	people := map[int]bool{}
	for _, l := range legs {
		people[max(l.from, l.to)] = true
	}
	return len(people)
}

// accessAtFault reports whether the access of a participant is at fault and not the server: the participant's wireless network
// is weak, a leg to another person is bad too, or the server's legs in the same direction clear the server.
func (c *call) accessAtFault(s *suspect, mine []*leg, shows contrast) bool {
	return c.weakWiFi(s.at) || slices.ContainsFunc(mine, func(l *leg) bool { return !l.served() }) || shows[mine[0].to == server]
}

// contrast reports, for legs to the server (true) and from it (false), whether they clear the server of a fault: one leg
// is well, or several have no harm.
type contrast map[bool]bool

func contrastOf(atServer []*leg, judge func(*leg) state) contrast {
	wells, harmless := map[bool]int{}, map[bool]int{}
	for _, l := range atServer {
		judged := judge(l)
		wells[l.to == server] += count(judged == well)
		harmless[l.to == server] += count(judged == between && max(l.lossy, l.limited, l.jittery, l.slow) < badShare)
	}
	shows := contrast{}
	for _, up := range []bool{false, true} {
		shows[up] = wells[up] > 0 || harmless[up] > 1
	}
	return shows
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// served reports whether the media server is an end of a leg.
func (l *leg) served() bool { return l.from == server || l.to == server }

// onlySuspect reports whether no other person's access explains this leg. accessAtFault excludes the server.
func (c *call) onlySuspect(s *suspect, l *leg, suspects []suspect, open map[*leg]bool, judge func(*leg) state) bool {
	if l.served() || c.weakWiFi(s.at) {
		return true
	}
	if len(s.legs) < 2 { // a third person would show it
		return false
	}
	for _, o := range suspectsOf(suspects, l) {
		if o != s && o.at != s.at && consistent(o, judge) && len(intersect(o.legs, open)) > 0 {
			return false
		}
	}
	return !slices.ContainsFunc(s.legs, func(o *leg) bool { return o != l && judge(o) != bad && judge(o) != between })
}

func intersect(a []*leg, b map[*leg]bool) (both []*leg) {
	for _, l := range a {
		if b[l] {
			both = append(both, l)
		}
	}
	return both
}

// pairsOf returns the worse of the two directions of each pair.
func pairsOf(legs []*leg) (out []*leg) {
	at := make(map[[2]int]int, len(legs))
	for _, l := range legs {
		i, known := at[l.pair()]
		switch {
		case !known:
			at[l.pair()] = len(out)
			out = append(out, l)
		case l.worst() > out[i].worst():
			out[i] = l
		}
	}
	return out
}

func (l *leg) worst() float64 { return l.lossy + l.jittery + l.limited }

func (c *call) weakWiFi(at int) bool { return at >= 0 && c.people[at].WeakWiFi >= badShare }

// accessFault returns the finding about a suspect that explains legs.
func (c *call) accessFault(s *suspect, explains, legs []*leg, judge func(*leg) state, trust float64) Finding {
	f := Finding{Cause: s.cause, Session: c.session(s.at), Confidence: trust, legs: len(explains)}
	wells := 0
	for _, l := range legs {
		if judge(l) == well && !s.has(l) {
			wells++
		}
	}
	if wells > 0 {
		f.Confidence += 0.1
	}
	if len(explains) > 1 {
		f.Confidence += 0.05
	}
	if slices.ContainsFunc(explains, c.endsBroken) {
		f.Confidence -= brokenPenalty
	}
	if s.at == server && wells == 0 && peopleOf(explains) < 3 {
		f.Confidence -= 0.15
	}
	for _, l := range explains {
		f.affects = append(f.affects, c.session(l.from), c.session(l.to))
		f.Evidence = append(f.Evidence, c.evidenceOf(l)...)
	}
	f.Evidence = append(f.Evidence, Evidence{
		Metric: "otherPathsWell", Session: f.Session, Value: float64(wells), ComparedWith: float64(len(explains)),
		Text: fmt.Sprintf("%d media paths that this explains are bad, %d others are well", len(explains), wells),
	})
	if c.weakWiFi(s.at) {
		f.Confidence = min(0.95, f.Confidence+0.05)
		f.Evidence = append(f.Evidence, Evidence{
			Metric: "weakWiFiShare", Session: f.Session, Value: round(c.people[s.at].WeakWiFi), ComparedWith: badShare,
			Text: "the wireless network of this participant is weak",
		})
	}
	return f
}

// pathFault returns the finding about a leg that several suspects explain equally well.
func (c *call) pathFault(l *leg, legs []*leg, open map[*leg]bool, suspects []suspect, judge func(*leg) state, trust float64) Finding {
	f := Finding{
		Cause: PathOrTURN, Session: c.session(l.from), Peer: c.session(l.to), Confidence: trust, legs: 1,
		affects: []string{c.session(l.from), c.session(l.to)}, Evidence: c.evidenceOf(l),
	}
	back := slices.IndexFunc(legs, func(o *leg) bool { return o.from == l.to && o.to == l.from })
	switch {
	case back >= 0 && judge(legs[back]) == bad:
		f.Evidence = append(f.Evidence, c.evidenceOf(legs[back])...)
	case back >= 0 && judge(legs[back]) == well:
		f.Confidence += 0.1
		f.Evidence = append(f.Evidence, Evidence{
			Metric: "reverseLossFraction", Session: f.Peer, Value: legs[back].loss.V, ComparedWith: l.loss.V,
			Text: "the reverse path is well: only one direction is affected",
		})
	}
	if c.unmeasured(l.from) || c.unmeasured(l.to) || l.served() { // one end alone measured it
		f.Confidence -= 0.1
	}
	if c.endsBroken(l) {
		f.Confidence -= brokenPenalty
	}
	if l.served() {
		f.Session, f.Peer, f.Server = c.session(max(l.from, l.to)), "", true
	}
	if l.relay != "" {
		f.Evidence = append(f.Evidence, Evidence{Metric: "relayed", Session: f.Session, Value: 1, Text: "media are relayed over " + l.relay})
	}
	for _, s := range suspectsOf(suspects, l) {
		if l.served() || s.at != server && consistent(s, judge) && len(intersect(s.legs, open)) > 0 {
			f.Others = append(f.Others, Other{s.cause, c.session(s.at), 0.4})
		}
	}
	return f
}

// brokenPenalty lowers the confidence where the end without the library may have left: that has the effects of a fault.
const brokenPenalty = 0.25

// endsBroken reports whether a leg with an end without the library was interrupted and did not recover.
func (c *call) endsBroken(l *leg) bool {
	return (c.unmeasured(l.from) || c.unmeasured(l.to)) && slices.ContainsFunc(l.fabrics, (*Fabric).cutOff)
}

// unmeasured reports whether a person is a remote end without the library.
func (c *call) unmeasured(i int) bool { return i >= 0 && c.people[i].Session == "" }

func (c *call) session(i int) string {
	if i < 0 {
		return ""
	}
	return c.people[i].Session
}

// evidenceOf returns the harms of a leg, as evidence of the end that measured it.
func (c *call) evidenceOf(l *leg) (all []Evidence) {
	session := c.session(l.to)
	if session == "" {
		session = c.session(l.from)
	}
	add := func(share float64, metric string, value, limit float64, text string) {
		if share >= badShare {
			all = append(all, Evidence{metric, session, "", round(value), limit, fmt.Sprintf("%s for %.0f %% of the time", text, 100*share)})
		}
	}
	if l.gaps == 0 || l.loss.V > LossFraction {
		add(l.lossy, "lossFraction", l.loss.V, LossFraction, "packets were lost")
	}
	if l.gaps > 0 {
		add(l.lossy, "missingSoundShare", l.lossy, badShare, "a part of the sound that was sent did not arrive, and no packet counted as lost")
	}
	if l.missed > 0 {
		add(l.lossy, "nothingReceivedMs", l.missed, MinTimeMs/2, "no packet arrived although packets were sent: with those that were lost, media were bad")
	}
	add(l.jittery, "jitterMs", l.jitter.V, JitterMs, "packets arrived with jitter")
	add(l.waiting, "jitterBufferDelayShare", l.waiting, badShare, fmt.Sprintf("the jitter buffer of audio held more than %d ms", BufferMs))
	if l.stalls && l.waiting < badShare {
		add(l.grown, "jitterBufferDelayShare", l.grown, mostly, fmt.Sprintf("the jitter buffer of audio held more than %d ms, while others held less than %d,", GrownBufferMs, CalmBufferMs))
	}
	add(l.limited, "bandwidthLimitedShare", l.limited, badShare, "the encoder had little bandwidth")
	add(l.slow, "rttMs", l.rtt.V, DelayMs, "the round trip was long")
	return all
}

func byOrder(a, b Finding) int {
	return cmp.Or(-cmp.Compare(a.Confidence, b.Confidence), -cmp.Compare(a.legs, b.legs),
		cmp.Compare(slices.Index(Causes, a.Cause), slices.Index(Causes, b.Cause)),
		cmp.Compare(a.Session, b.Session), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.MediaType, b.MediaType))
}
