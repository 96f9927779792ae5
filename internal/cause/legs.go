package cause

import (
	"cmp"
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/event"
)

// leg is the media path from one end to another: between two people, or between one of them and
// the server.
type leg struct {
	from, to int // index of the person; server
	lossy, jittery, limited,
	slow float64 // shares of the time
	loss, jitter, rtt event.Value
	waiting,          // shares of the time of audio in which its jitter buffer held more than BufferMs,
	grown, // GrownBufferMs,
	held float64 // and CalmBufferMs
	waitingWarm, limitedWarm float64 // shares of the time of waiting and limited that a warm-up explains
	audioMs                  float64 // of it, with a jitter buffer
	seen                     float64 // ms of measurements
	missed                   float64 // ms in which no packet arrived that was sent
	gaps                     float64 // ms in which a part of the sound that was sent did not arrive, without a loss
	soundMs,                 // of streams with gaps
	soundLostMs float64 // of it, with lost or missing packets
	slowMs, rttMs, // of the round trips that both ends measured
	rttSeen float64 // ms, of the end that measured more
	relay     string
	fabrics   []*Fabric
	byMedium  map[string]float64 // mean jitter, ms
	standsOut bool               // by its jitter, among the legs of the call
	stalls    bool               // by its jitter buffer, among the legs to the same receiver
	received  bool               // the receiver measured it
	doubtful  bool               // known by reports alone, which come over a path that loses them
}

// server stands for the media server among the ends of legs.
const server = -1

// state is the state of a leg by one kind of harm.
type state uint8

const (
	unseen state = iota
	well
	between // neither well nor bad: no evidence
	bad
)

func stateOf(share float64, seen bool) state {
	switch {
	case !seen:
		return unseen
	case share >= badShare:
		return bad
	case share <= goodShare:
		return well
	}
	return between
}

// narrow returns the state by loss and limited bandwidth, which have a direction.
func (l *leg) narrow() state {
	judged := stateOf(max(l.lossy, l.limited), l.seen >= MinTimeMs)
	if judged == bad && max(l.lossy, l.limited-l.limitedWarm) < badShare {
		return between
	}
	return l.proven(judged)
}

// proven returns a state that is no evidence for a leg that is well according to the last report that arrived.
func (l *leg) proven(judged state) state {
	if judged == well && l.doubtful {
		return between
	}
	return judged
}

// uneven returns the state by jitter. It has a direction too, but a busy machine at either end
// causes it as well, in all that it sends and receives: a leg whose jitter does not stand out is no
// evidence.
func (l *leg) uneven() state {
	judged := stateOf(l.jittery, l.seen >= MinTimeMs)
	switch {
	case l.stalls:
		return bad
	case judged == bad && !l.standsOut:
		return between
	}
	return l.proven(judged)
}

// long returns the state by the round trip, which has no direction. A machine without processor
// time answers late too, and then all that it sends and receives has jitter.
func (l *leg) long() state {
	judged := stateOf(l.slow, l.rttSeen >= MinTimeMs)
	if judged == bad && l.jittery > mostly && !l.standsOut {
		return between
	}
	return judged
}

// pairing is one direction of one medium with both of its ends, as far as they are known.
type pairing struct {
	from, to   int // index of the person; server
	out, in    *Stream
	outF, inF  *Fabric
	media      string
	throughSFU bool
	sender     int // behind a server: the person who sends it; server: unknown
}

// pairings finds the two ends of each stream: by SSRC between two people. A server rewrites the
// SSRC, so an end is paired with the server there.
func (c *call) pairings() []pairing {
	type key struct {
		ssrc  int64
		media string
	}
	senders := map[key]pairing{}
	var found []pairing
	c.eachStream(func(i int, f *Fabric, s *Stream) {
		if s.Sends && !f.Server {
			senders[key{s.SSRC, s.Media}] = pairing{from: i, out: s, outF: f, media: s.Media}
		}
	})
	c.eachStream(func(i int, f *Fabric, s *Stream) {
		p := pairing{media: s.Media, sender: server}
		switch {
		case f.Server && s.Sends:
			p.from, p.to, p.out, p.outF, p.sender, p.throughSFU = i, server, s, f, i, true
		case f.Server:
			p.from, p.to, p.in, p.inF, p.sender, p.throughSFU = server, i, s, f, c.userOf(s.User), true
		case !s.Sends:
			k := key{s.SSRC, s.Media}
			other, ok := senders[k]
			if !ok || other.from == i {
				other = pairing{from: c.peer(i, f), media: s.Media}
			}
			delete(senders, k)
			other.to, other.in, other.inF = i, s, f
			if other.from == nobody {
				return
			}
			p = other
		default:
			return
		}
		found = append(found, p)
	})
	c.eachStream(func(i int, f *Fabric, s *Stream) { // whose other end was not measured
		if p, left := senders[key{s.SSRC, s.Media}]; left && p.out == s {
			if p.to = c.peer(i, f); p.to != nobody {
				found = append(found, p)
			}
		}
	})
	return found
}

// nobody is the unknown end of a stream.
const nobody = -2

// peer returns the person at the other end of a fabric, by remote userID.
func (c *call) peer(i int, f *Fabric) int {
	found := nobody
	for _, name := range f.Remote {
		for _, j := range c.named[name] {
			switch {
			case j == i || j == found:
			case found != nobody:
				return nobody // several endpoints with one userID: it may be any of them
			default:
				found = j
			}
		}
	}
	return found
}

// userOf returns the person who sends a stream behind a server; server where it is unknown.
func (c *call) userOf(name string) int {
	if found := c.named[name]; name != "" && len(found) == 1 {
		return found[0]
	}
	return server
}

// measure sums up the streams of each leg. It takes the receiving end where that was measured, for
// that end has all values; else the sender's remote reports.
func (c *call) measure(pairings []pairing) []*leg {
	legs := map[[2]int]*leg{}
	sent, forwarded := split(pairings)
	c.sum(legs, sent)
	c.sum(legs, c.lostAfterTheServer(forwarded, legs))
	list := slices.Collect(maps.Values(legs))
	for _, l := range list {
		back := legs[[2]int{l.to, l.from}]
		l.doubtful = !l.received && back != nil && back.lossy >= badShare
	}
	c.compare(list)
	slices.SortFunc(list, func(a, b *leg) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return list
}

// sum adds pairings to their legs, which no other pairing is added to.
func (c *call) sum(legs map[[2]int]*leg, pairings []pairing) {
	added := map[*leg]bool{}
	for i := range pairings {
		p := &pairings[i]
		at := [2]int{p.from, p.to}
		if legs[at] == nil {
			legs[at] = &leg{from: p.from, to: p.to, byMedium: map[string]float64{}}
		}
		legs[at].add(p)
		legs[at].miss(c, p)
		added[legs[at]] = true
	}
	c.hear(legs, pairings)
	for l := range added {
		l.finish()
	}
}

func (l *leg) add(p *pairing) {
	end, fabric := p.in, p.inF
	if end == nil || end.SeenMs < MinTimeMs && p.out != nil && p.out.SeenMs > end.SeenMs {
		end, fabric = p.out, p.outF
	}
	l.fabrics = append(l.fabrics, fabric)
	l.received = l.received || end == p.in
	if end.SeenMs > 0 {
		l.seen += end.SeenMs
		l.lossy += end.LostMs
		l.jittery += end.JitteryMs
		if p.media == "audio" && end == p.in {
			l.waiting += end.WaitingMs
			l.grown += end.GrownMs
			l.held += end.HeldMs
			l.waitingWarm += end.WaitingWarmUpMs
			l.audioMs += end.SeenMs
		}
		if end.Loss.Known {
			l.loss = event.Known(max(l.loss.V, end.Loss.V))
		}
		if end.Jitter.Known {
			l.jitter = event.Known(max(l.jitter.V, end.Jitter.V))
			l.byMedium[p.media] = max(l.byMedium[p.media], end.Jitter.V)
		}
	}
	if p.out != nil && p.out.TimeMs > 0 {
		l.limited = max(l.limited, share(p.out.LimitedMs, p.out.TimeMs))
		l.limitedWarm = max(l.limitedWarm, share(p.out.LimitedWarmUpMs, p.out.TimeMs))
	}
	for _, f := range []*Fabric{p.outF, p.inF} {
		if f == nil {
			continue
		}
		l.relay = cmp.Or(l.relay, f.Relay)
		if f.RTTSeenMs > 0 && f.RTTMs.Known {
			l.slowMs += f.SlowMs
			l.rttMs += f.RTTSeenMs
			l.rttSeen = max(l.rttSeen, f.RTTSeenMs)
			l.rtt = event.Known(max(l.rtt.V, f.RTTMs.V))
		}
	}
}

// miss counts the time as lost in which one person sent and another received no packet. Behind a server
// it is the server that sends.
func (l *leg) miss(c *call, p *pairing) {
	if p.throughSFU || p.out == nil || p.out.Packets == 0 || p.from < 0 || p.to < 0 || c.unmeasured(p.to) {
		return
	}
	missedMs := 0.0
	switch {
	case p.in != nil:
		missedMs = p.in.NoneMs
	case share(p.out.QuietMs, p.out.TimeMs) < goodShare && c.hears[arrival{p.to, p.from, ""}] && !c.receives[arrival{p.to, p.from, p.media}]:
		missedMs = p.out.TimeMs
	}
	if missedMs < MinTimeMs/2 {
		return
	}
	l.seen += missedMs
	l.lossy += missedMs
	l.missed += missedMs
	if p.out.TimeMs > 0 {
		l.loss = event.Known(max(l.loss.V, share(missedMs, p.out.TimeMs)))
	}
}

// arrival is a medium that a person may receive from another one.
type arrival struct {
	at, from int
	media    string // empty: any
}

// listen finds who is connected with whom, measured long enough, and who received a stream of a medium from whom.
func (c *call) listen() {
	c.hears, c.receives = map[arrival]bool{}, map[arrival]bool{}
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			from := c.peer(i, f)
			if f.Connected && !f.Server && measured(f) {
				c.hears[arrival{i, from, ""}] = true
			}
			for k := range f.Streams {
				if s := &f.Streams[k]; !s.Sends {
					c.receives[arrival{i, from, s.Media}] = true
				}
			}
		}
	}
}

func (l *leg) finish() {
	l.lossy = max(share(l.lossy, l.seen), share(l.soundLostMs, l.soundMs)) // pictures are lost with the sound, and do not tell
	l.jittery, l.slow = share(l.jittery, l.seen), share(l.slowMs, l.rttMs)
	l.waiting, l.grown, l.held = share(l.waiting, l.audioMs), share(l.grown, l.audioMs), share(l.held, l.audioMs)
	l.waitingWarm = share(l.waitingWarm, l.audioMs)
}

// standOut is how many times the jitter of the calmest other leg a leg must have to stand out.
const standOut = 1.75

// compare finds the legs that stand out by their jitter: in audio if there is any, for it is sent
// at a constant pace, else in video.
func (c *call) compare(legs []*leg) {
	media := []string{"audio", "video"}
	calmest := make(map[string]*calm, len(media))
	for _, medium := range media {
		calmest[medium] = calmestOf(legs, medium)
	}
	for _, l := range legs {
		for _, medium := range media {
			if least, known := calmest[medium].but(l); known {
				l.standsOut = l.byMedium[medium] > standOut*least
				break
			}
		}
	}
	c.compareBuffers(legs, func(l *leg) (grown, calm bool) { return l.waiting-l.waitingWarm >= badShare, l.waiting <= goodShare })
	// A buffer that has grown less is evidence if it stays so, beside buffers that hardly hold anything.
	c.compareBuffers(legs, func(l *leg) (grown, calm bool) { return l.grown >= mostly, l.held <= goodShare })
}

// compareBuffers finds the legs that stall: their jitter buffer has grown and that of another with the same receiver has not.
// The jitter of packets that are late together, or each alone, is small, and a receiver without processor time has large
// buffers for all. Such a receiver measures late, and its packets have jitter all the time. Where all its buffers have grown
// both must be excluded, in a call of two or if somebody else's buffer has not grown. Behind a server the buffers of all may
// have grown.
func (c *call) compareBuffers(legs []*leg, of func(*leg) (grown, calm bool)) {
	calmBuffers, alone := map[int]bool{}, true // by receiver; whether there are two ends
	for _, l := range legs {
		alone = alone && l.pair() == legs[0].pair()
		if _, calm := of(l); calm && l.audioMs >= MinTimeMs {
			calmBuffers[l.to] = true
		}
	}
	all := c.allStall(legs, of)
	for _, l := range legs {
		contrast := all || calmBuffers[l.to] || (alone || len(calmBuffers) > 0) && l.jittery < badShare && c.keepsPace(l.to)
		if grown, _ := of(l); grown && contrast {
			l.stalls = true
		}
		l.doubtful = l.doubtful || all && l.to == server // a server reports no buffer
	}
}

// allStall reports whether the buffers of all receivers behind the server have grown, and none of them is without processor time.
// A server that stands still delays round trips as well, which a buffer that the application chose does not.
func (c *call) allStall(legs []*leg, of func(*leg) (grown, calm bool)) bool {
	receivers := map[int]bool{}
	for _, l := range legs {
		if l.from != server || l.audioMs < MinTimeMs {
			continue
		}
		if grown, _ := of(l); !grown || l.slow == 0 || l.jittery >= badShare || !c.keepsPace(l.to) {
			return false
		}
		receivers[l.to] = true
	}
	return len(receivers) > 1
}

// calm is the least jitter that a leg has in a medium, and the next.
type calm struct {
	medium      string
	legs        int
	of          *leg
	least, next float64
}

func calmestOf(legs []*leg, medium string) *calm {
	c := &calm{medium: medium}
	for _, l := range legs {
		v, has := l.byMedium[medium]
		if !has {
			continue
		}
		switch {
		case c.legs == 0 || v < c.least:
			c.of, c.least, c.next = l, v, c.least
		case c.legs == 1 || v < c.next:
			c.next = v
		}
		c.legs++
	}
	return c
}

// but is the least jitter of another leg; it is known where both have some.
func (c *calm) but(l *leg) (least float64, known bool) {
	_, has := l.byMedium[c.medium]
	if l == c.of {
		return c.next, c.legs > 1
	}
	return c.least, has
}

// harmedPeople returns whose media were harmed, whether or not that shows a cause: by loss, limits or delay for more than a
// little of the time, or by jitter for most of it. Something was wrong then, if only with a machine.
func (c *call) harmedPeople(legs []*leg) map[int]bool {
	people := map[int]bool{}
	for _, l := range legs {
		loses := l.lossy > goodShare && (l.loss.V > LossFraction/2 || l.gaps > 0) // a single packet is a large part of a few
		if l.seen >= MinTimeMs && (loses || l.limited-l.limitedWarm > goodShare || l.jittery > mostly) || l.rttSeen >= MinTimeMs && l.slow > goodShare {
			people[l.from], people[l.to] = true, true
		}
	}
	c.eachStream(func(i int, f *Fabric, s *Stream) {
		missing := !f.Server && s.gapped() && share(s.GapMs, s.TimeMs) > goodShare
		heard := s.ConcealedMs >= MinTimeMs && share(s.ConcealedMs, s.TimeMs) > goodShare
		people[i] = people[i] || s.TimeMs >= MinTimeMs && (missing || heard)
	})
	return people
}

// interrupted returns who did not send for more than a little of the time, without a mute, pause or hold. Those who receive
// it may have excellent media nevertheless. Few frames are none: they may be slides.
func (c *call) interrupted() map[int]bool {
	people := map[int]bool{}
	c.eachStream(func(i int, _ *Fabric, s *Stream) {
		unsent := max(s.NoneMs, s.FrozenMs)
		if s.Media == "audio" {
			unsent = max(unsent, s.WeakMs)
		}
		people[i] = people[i] || s.Sends && s.Packets > 0 && s.TimeMs >= MinTimeMs && share(unsent, s.TimeMs) > goodShare
	})
	return people
}

// mostly is the share of the time with jitter that is a fault in itself.
const mostly = 0.5
