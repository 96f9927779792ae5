package cause

import (
	"fmt"
	"slices"
)

// A media server forwards what it receives. It passes a gap of the packets that a sender lost on the way to it on to all who
// receive them, and it need not forward a stream: nobody may watch it, or others may be louder.

// split returns the pairings whose media a server forwards after all others.
func split(pairings []pairing) (sent, forwarded []pairing) {
	for i := range pairings {
		if pairings[i].from == server {
			forwarded = append(forwarded, pairings[i])
		} else {
			sent = append(sent, pairings[i])
		}
	}
	return sent, forwarded
}

// lostAfterTheServer returns the pairings that are evidence of the path from the server: not those whose media were lost on the
// sender's way to it. The way of a sender without the library is known by the streams of others that the same receiver has.
func (c *call) lostAfterTheServer(forwarded []pairing, legs map[[2]int]*leg) (after []pairing) {
	owners := ownersOf(forwarded)
	for i := range forwarded {
		p := &forwarded[i]
		if up := legs[[2]int{p.sender, server}]; p.sender >= 0 && up != nil && up.narrow() == bad {
			continue
		}
		if p.sender < 0 && owners.alone(p) {
			continue
		}
		after = append(after, *p)
	}
	return after
}

// owners has the loss of what each receiver has from each sender, by the sender's name.
type owners map[int]map[string]*ownerLoss

type ownerLoss struct{ lostMs, seenMs float64 }

func (l *ownerLoss) state() state { return stateOf(share(l.lostMs, l.seenMs), l.seenMs >= MinTimeMs) }

func ownersOf(forwarded []pairing) owners {
	all := owners{}
	for i := range forwarded {
		p := &forwarded[i]
		if all[p.to] == nil {
			all[p.to] = map[string]*ownerLoss{}
		}
		own := all[p.to][p.in.User]
		if own == nil {
			own = new(ownerLoss)
			all[p.to][p.in.User] = own
		}
		own.lostMs, own.seenMs = own.lostMs+p.in.LostMs, own.seenMs+p.in.SeenMs
	}
	return all
}

// alone reports whether a receiver lost packets of the sender of a stream while those of another sender arrived.
func (o owners) alone(p *pairing) bool {
	if p.in.User == "" || o[p.to][p.in.User].state() != bad {
		return false
	}
	for user, own := range o[p.to] {
		if user != "" && own.state() == well {
			return true
		}
	}
	return false
}

// arrivals returns the media that participants send to a server without pauses, by session and medium. Those of the one
// participant whose path to the server is bad may not reach it.
func (c *call) arrivals(pairings []pairing, legs []*leg) map[string]bool {
	alone := onlyNarrow(legs, func(l *leg) (int, bool) { return l.from, l.to == server })
	sends := map[string]bool{}
	for i := range pairings {
		p := &pairings[i]
		if p.throughSFU && p.out != nil && p.out.TimeMs >= MinTimeMs && share(p.out.QuietMs, p.out.TimeMs) < goodShare && p.out.Packets > 0 && p.from != alone {
			sends[c.session(p.from)+p.media] = true
		}
	}
	return sends
}

// onlyNarrow returns the only participant whose path to, or from, the server loses packets; nobody if there is none or several.
func onlyNarrow(legs []*leg, end func(*leg) (person int, is bool)) int {
	only := nobody
	for _, l := range legs {
		person, is := end(l)
		switch {
		case !is || l.narrow() != bad || l.gaps > 0: // gaps may be what the server does not forward
		case only != nobody:
			return nobody
		default:
			only = person
		}
	}
	return only
}

// forwarded returns the finding about media that participants send and the server does not forward.
func (c *call) forwarded(pairings []pairing, legs []*leg) []Finding {
	missing, received := c.missing(pairings, legs)
	if i, gone := cutOff(missing); gone {
		f := c.unforwarded(missing)
		f.Cause, f.Session, f.Others = SenderUplink, c.session(i), []Other{{ReceiverDownlink, c.session(i), 0.4}}
		if c.disrupted(i) {
			f.Cause = ICEConnectivity
		}
		return []Finding{f}
	}
	if a, b, both := deafToEachOther(missing); both {
		f := c.unforwarded(missing)
		f.Cause, f.Session, f.Peer, f.Confidence = PathOrTURN, c.session(a), c.session(b), 0.6
		return []Finding{f}
	}
	if evidence := onlyTheServer(missing, received); len(evidence) > 1 && involved(evidence) > 2 {
		return []Finding{c.unforwarded(evidence)}
	}
	return nil
}

// involved counts the participants who send or miss streams.
func involved(missing []*pairing) int {
	people := map[int]bool{}
	for _, p := range missing {
		people[p.sender], people[p.to] = true, true
	}
	return len(people)
}

// deafToEachOther returns the two participants of all missing streams, if the sound of both is missing: either of them may be
// cut off from the server.
func deafToEachOther(missing []*pairing) (a, b int, both bool) {
	sounds := map[int]bool{}
	for _, p := range missing {
		if i, j := min(p.sender, p.to), max(p.sender, p.to); len(sounds) > 0 && (i != a || j != b) {
			return nobody, nobody, false
		} else if p.media == "audio" {
			a, b, sounds[p.sender] = i, j, true
		}
	}
	return a, b, len(sounds) > 1
}

// missing returns the streams that are sent and not received from the server for a part of the time, and those that are
// received, of senders with the library.
func (c *call) missing(pairings []pairing, legs []*leg) (missing, received []*pairing) {
	sends := c.arrivals(pairings, legs)
	deaf := onlyNarrow(legs, func(l *leg) (int, bool) { return l.to, l.from == server })
	for i := range pairings {
		p := &pairings[i]
		switch {
		case !p.throughSFU || p.in == nil || p.in.TimeMs < MinTimeMs || !sends[c.session(p.sender)+p.media]:
		case p.unreceived() < badShare:
			received = append(received, p)
		case p.to != deaf:
			missing = append(missing, p)
		}
	}
	return missing, received
}

// unreceived is the share of the time in which no packet of a stream was received.
func (p *pairing) unreceived() float64 { return share(max(p.in.NoneMs, p.in.QuietMs), p.in.TimeMs) }

// onlyTheServer returns the missing streams that only a fault of the server explains. A server forwards sound to all or to
// nobody, and to nobody only for want of a voice: it is at fault if one receives it and another does not, or if several miss it.
// It need not forward pictures that nobody watches: it is at fault if several miss those of several, or one that has a place on their pages.
func onlyTheServer(missing, received []*pairing) (evidence []*pairing) {
	type stream struct {
		sender int
		media  string
	}
	misses, gets, places := map[stream]int{}, map[stream]int{}, map[stream]int{}
	blind, unseen := map[int]bool{}, map[int]bool{} // receivers and senders of pictures
	for _, p := range received {
		gets[stream{p.sender, p.media}]++
	}
	for _, p := range missing {
		at := stream{p.sender, p.media}
		misses[at]++
		if p.media != "audio" {
			blind[p.to], unseen[p.sender] = true, true
		}
		if share(p.in.UnseenMs, p.in.TimeMs) >= badShare {
			places[at]++
		}
	}
	for _, p := range missing {
		at := stream{p.sender, p.media}
		sound := p.media == "audio" && (misses[at] > 1 || gets[at] > 0)
		pictures := p.media != "audio" && (len(blind) > 1 && len(unseen) > 1 || places[at] > 1)
		if sound || pictures {
			evidence = append(evidence, p)
		}
	}
	return evidence
}

// unforwarded is the finding about streams that are missing.
func (c *call) unforwarded(missing []*pairing) Finding {
	f := Finding{Cause: MediaServer, Confidence: 0.85, legs: len(missing)}
	for _, p := range missing {
		silent := p.unreceived()
		f.affects = append(f.affects, c.session(p.to))
		f.Evidence = append(f.Evidence, Evidence{
			Metric: "nothingReceivedShare", Session: c.session(p.to), MediaType: p.media, Value: round(silent), ComparedWith: badShare,
			Text: fmt.Sprintf("the sender sent, and nothing was received from the server for %.0f %% of the time", 100*silent),
		})
	}
	return f
}

// cutOff returns the only participant of whom nothing is received and who receives nothing: not the server is at fault, but
// the network between it and that participant. Of two it may be either.
func cutOff(missing []*pairing) (i int, ok bool) {
	if i = nobody; len(missing) == 0 {
		return nobody, false
	}
	for _, one := range []int{missing[0].sender, missing[0].to} {
		sends, receives := false, false
		for _, p := range missing {
			sends, receives = sends || p.sender == one, receives || p.to == one
			if p.sender != one && p.to != one {
				sends, receives = false, false
				break
			}
		}
		if one < 0 || !sends || !receives {
			continue
		}
		if i != nobody {
			return nobody, false
		}
		i = one
	}
	return i, i != nobody
}

// disrupted reports whether ICE was disrupted in a connection of a participant.
func (c *call) disrupted(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool { return f.Broken || f.BrokenMs > 0 || f.FlowedMs > 0 })
}
