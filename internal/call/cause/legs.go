package cause

import (
	"cmp"
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
)

// leg is the media path from one end to another: between two people, or between one of them and
// the server.
type leg struct {
	from, to int // index of the person; server
	lossy, jittery, limited,
	slow float64 // shares of the time
	loss, jitter, rtt event.Value
	waiting,          // shares of the audio time in which the jitter buffer held more than BufferMs,
	grown, // GrownBufferMs,
	held float64 // and CalmBufferMs
	waitingWarm, limitedWarm float64 // shares of the time of waiting and limited that a warm-up explains
	audioMs                  float64 // measured time of received audio
	seen                     float64 // measured time, ms
	missed                   float64 // ms in which packets were sent and none arrived
	gaps                     float64 // ms in which sent audio did not arrive and was not counted as lost
	soundMs,                 // measured time of the audio streams with gaps
	soundLostMs float64 // the part of it with lost or missing packets
	slowMs, rttMs, // sums of both ends: time with a long round trip, time with a known one
	rttSeen float64 // ms, of the end that measured more
	relay     string
	fabrics   []*Fabric
	byMedium  map[string]float64 // mean jitter, ms
	standsOut bool               // by its jitter, among the legs of the call
	stalls    bool               // by its jitter buffer, among the legs to the same receiver
	received  bool               // the receiver measured it
	doubtful  bool               // only remote reports exist, and the reverse path loses them
}

// server is the index of the media server as an end of legs.
const server = -1

// state classifies a leg by one harm.
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

// lossState returns the state by loss and limited bandwidth, which affect one direction.
func (l *leg) lossState() state {
	judged := stateOf(max(l.lossy, l.limited), l.seen >= MinTimeMs)
	if judged == bad && max(l.lossy, l.limited-l.limitedWarm) < badShare {
		return between
	}
	return l.unlessDoubtful(judged)
}

// unlessDoubtful returns between in place of well for a doubtful leg: later reports may have been lost.
func (l *leg) unlessDoubtful(judged state) state {
	if judged == well && l.doubtful {
		return between
	}
	return judged
}

// jitterState returns the state by jitter. A busy machine at either end causes jitter in all that it sends
// and receives, so a leg whose jitter does not stand out is no evidence.
func (l *leg) jitterState() state {
	judged := stateOf(l.jittery, l.seen >= MinTimeMs)
	switch {
	case l.stalls:
		return bad
	case judged == bad && !l.standsOut:
		return between
	}
	return l.unlessDoubtful(judged)
}

// delayState returns the state by the round trip, which has no direction. A machine without processor
// time responds late too, and then all that it sends and receives has jitter.
func (l *leg) delayState() state {
	judged := stateOf(l.slow, l.rttSeen >= MinTimeMs)
	if judged == bad && l.jittery > mostly && !l.standsOut {
		return between
	}
	return judged
}

// pairing is one direction of one medium with those of its ends that were measured.
type pairing struct {
	from, to   int // index of the person; server
	out, in    *Stream
	outF, inF  *Fabric
	media      string
	throughSFU bool
	sender     int // behind a server: index of the sender; server: unknown
}

// pairings returns the two ends of each stream. Between two people they are found by SSRC. A server
// rewrites the SSRC, so there each end is paired with the server.
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
			if other.from == noPerson {
				return
			}
			p = other
		default:
			return
		}
		found = append(found, p)
	})
	c.eachStream(func(i int, f *Fabric, s *Stream) { // the senders whose other end was not measured
		if p, left := senders[key{s.SSRC, s.Media}]; left && p.out == s {
			if p.to = c.peer(i, f); p.to != noPerson {
				found = append(found, p)
			}
		}
	})
	return found
}

// noPerson is the index of no person, and of an unknown end.
const noPerson = -2

// peer returns the index of the person at the other end of a fabric, by remote userID; noPerson if
// none or several have it.
func (c *call) peer(i int, f *Fabric) int {
	found := noPerson
	for _, name := range f.Remote {
		for _, j := range c.named[name] {
			switch {
			case j == i || j == found:
			case found != noPerson:
				return noPerson // several endpoints with one userID
			default:
				found = j
			}
		}
	}
	return found
}

// userOf returns the index of the sender of a stream behind a server; server where it is unknown.
func (c *call) userOf(name string) int {
	if found := c.named[name]; name != "" && len(found) == 1 {
		return found[0]
	}
	return server
}

// measure sums up the streams of each leg. It uses the receiving end where that was measured, which
// has all values, else the sender's remote reports.
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

// sum adds pairings to their legs and finishes those. No pairing may be added to them later.
func (c *call) sum(legs map[[2]int]*leg, pairings []pairing) {
	added := map[*leg]bool{}
	for i := range pairings {
		p := &pairings[i]
		at := [2]int{p.from, p.to}
		if legs[at] == nil {
			legs[at] = &leg{from: p.from, to: p.to, byMedium: map[string]float64{}}
		}
		legs[at].add(p)
		legs[at].addMissed(c, p)
		added[legs[at]] = true
	}
	c.addGaps(legs, pairings)
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

// addMissed counts as lost the time in which one person sent and the other received no packet. Legs of a
// server are excluded: it need not forward.
func (l *leg) addMissed(c *call, p *pairing) {
	if p.throughSFU || p.out == nil || p.out.Packets == 0 || p.from < 0 || p.to < 0 || c.unmeasured(p.to) {
		return
	}
	missedMs := 0.0
	switch {
	case p.in != nil:
		missedMs = p.in.NoneMs
	case share(p.out.QuietMs, p.out.TimeMs) < goodShare && c.connected[arrival{p.to, p.from, ""}] && !c.receives[arrival{p.to, p.from, p.media}]:
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

// arrival identifies a medium that one person may receive from another.
type arrival struct {
	at, from int
	media    string // empty: any
}

// findReceived finds the connections that were measured long enough, and the media that each person received from each other.
func (c *call) findReceived() {
	c.connected, c.receives = map[arrival]bool{}, map[arrival]bool{}
	for i := range c.people {
		for j := range c.people[i].Fabrics {
			f := &c.people[i].Fabrics[j]
			from := c.peer(i, f)
			if f.Connected && !f.Server && measured(f) {
				c.connected[arrival{i, from, ""}] = true
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
	l.lossy = max(share(l.lossy, l.seen), share(l.soundLostMs, l.soundMs)) // gaps of video cannot be measured
	l.jittery, l.slow = share(l.jittery, l.seen), share(l.slowMs, l.rttMs)
	l.waiting, l.grown, l.held = share(l.waiting, l.audioMs), share(l.grown, l.audioMs), share(l.held, l.audioMs)
	l.waitingWarm = share(l.waitingWarm, l.audioMs)
}

// standOut is the least ratio of a leg's jitter to that of the calmest other leg at which it stands out.
const standOut = 1.75

// compare finds the legs that stand out by their jitter: in audio if there is any, since it is sent
// at a constant pace, else in video.
func (c *call) compare(legs []*leg) {
	media := []string{"audio", "video"}
	calmest := make(map[string]*leastJitter, len(media))
	for _, medium := range media {
		calmest[medium] = leastJitterOf(legs, medium)
	}
	for _, l := range legs {
		for _, medium := range media {
			if least, known := calmest[medium].except(l); known {
				l.standsOut = l.byMedium[medium] > standOut*least
				break
			}
		}
	}
	c.compareBuffers(legs, func(l *leg) (grown, calm bool) { return l.waiting-l.waitingWarm >= badShare, l.waiting <= goodShare })
	// A buffer that has grown less is evidence if it remains so while another one is nearly empty.
	c.compareBuffers(legs, func(l *leg) (grown, calm bool) { return l.grown >= mostly, l.held <= goodShare })
}

// compareBuffers finds the legs that stall: the leg's jitter buffer has grown, and another buffer of the same receiver has
// not. Stalls that delay many packets, or single ones, cause little measured jitter. A receiver without processor time has
// large buffers for all streams; but it measures late, and its packets have jitter all the time. So where all buffers of a
// receiver have grown, the leg stalls if both are excluded, in a call of two or if another receiver's buffer has not grown.
func (c *call) compareBuffers(legs []*leg, of func(*leg) (grown, calm bool)) {
	calmBuffers, alone := map[int]bool{}, true // by receiver; whether the call has two ends
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

// allStall reports whether the buffers of all receivers behind the server have grown, all receivers have processor time, and
// round trips are long: a server that stalls delays them too, a buffer length that the application chose does not.
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

// leastJitter holds the least and the second least jitter of all legs in a medium.
type leastJitter struct {
	medium      string
	legs        int
	of          *leg
	least, next float64
}

func leastJitterOf(legs []*leg, medium string) *leastJitter {
	c := &leastJitter{medium: medium}
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

// except returns the least jitter of the legs other than l; known where l and another leg have some.
func (c *leastJitter) except(l *leg) (least float64, known bool) {
	_, has := l.byMedium[c.medium]
	if l == c.of {
		return c.next, c.legs > 1
	}
	return c.least, has
}

// harmedPeople returns the people whose media were harmed, with or without evidence for a cause: by loss, limited bandwidth,
// gaps, concealment or delay for more than goodShare of the time, or by jitter for most of it.
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

// interrupted returns the people who did not send for more than goodShare of the time, without a mute, pause or hold; the
// receivers may have excellent scores nevertheless. A low frame rate is no interruption: the video may show slides.
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
