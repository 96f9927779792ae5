package cause

import (
	"fmt"
	"slices"
)

// A media server forwards the packets that it receives, so a loss on the sender's path to it affects all receivers. It need
// not forward each stream: a video may have no viewer, and an audio may be among the quieter ones.

// split separates the pairings whose media a server forwards from all others.
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

// lostAfterTheServer returns the pairings that are evidence of the path from the server: it omits those whose media were lost
// before it. For a sender without the library, the streams of other senders to the same receiver show where packets were lost.
func (c *call) lostAfterTheServer(forwarded []pairing, legs map[[2]int]*leg) (after []pairing) {
	owners := ownersOf(forwarded)
	for i := range forwarded {
		p := &forwarded[i]
		if up := legs[[2]int{p.sender, server}]; p.sender >= 0 && up != nil && up.lossState() == bad {
			continue
		}
		if p.sender < 0 && owners.lostAlone(p) {
			continue
		}
		after = append(after, *p)
	}
	return after
}

// owners holds the loss of the streams of each sender at each receiver, by receiver and the sender's user ID.
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
		loss := all[p.to][p.in.User]
		if loss == nil {
			loss = new(ownerLoss)
			all[p.to][p.in.User] = loss
		}
		loss.lostMs, loss.seenMs = loss.lostMs+p.in.LostMs, loss.seenMs+p.in.SeenMs
	}
	return all
}

// lostAlone reports whether a receiver lost packets of a stream's sender while packets of another sender arrived.
func (o owners) lostAlone(p *pairing) bool {
	if p.in.User == "" || o[p.to][p.in.User].state() != bad {
		return false
	}
	for user, loss := range o[p.to] {
		if user != "" && loss.state() == well {
			return true
		}
	}
	return false
}

// continuousMedia returns the media that participants send to a server without pauses, keyed by session and medium. It
// omits those of the one participant whose path to the server is bad: they may not reach it.
func (c *call) continuousMedia(pairings []pairing, legs []*leg) map[string]bool {
	lossy := onlyLossy(legs, func(l *leg) (int, bool) { return l.from, l.to == server })
	sends := map[string]bool{}
	for i := range pairings {
		p := &pairings[i]
		if p.throughSFU && p.out != nil && p.out.TimeMs >= MinTimeMs && share(p.out.QuietMs, p.out.TimeMs) < goodShare && p.out.Packets > 0 && p.from != lossy {
			sends[c.session(p.from)+p.media] = true
		}
	}
	return sends
}

// onlyLossy returns the only participant whose lossState to (or from) the server is bad; noPerson if none or several are.
func onlyLossy(legs []*leg, end func(*leg) (person int, is bool)) int {
	only := noPerson
	for _, l := range legs {
		person, is := end(l)
		switch {
		case !is || l.lossState() != bad || l.gaps > 0: // the server may have caused the gaps
		case only != noPerson:
			return noPerson
		default:
			only = person
		}
	}
	return only
}

// serverFaults returns the finding about media that participants send and the server does not forward.
func (c *call) serverFaults(pairings []pairing, legs []*leg) []Finding {
	missing, received := c.missing(pairings, legs)
	if i, gone := cutOff(missing); gone {
		f := c.forwardingFault(missing)
		f.Cause, f.Session, f.Others = SenderUplink, c.session(i), []Other{{ReceiverDownlink, c.session(i), 0.4}}
		if c.disrupted(i) {
			f.Cause = ICEConnectivity
		}
		return []Finding{f}
	}
	if a, b, both := mutuallyMissing(missing); both {
		f := c.forwardingFault(missing)
		f.Cause, f.Session, f.Peer, f.Confidence = PathOrTURN, c.session(a), c.session(b), 0.6
		return []Finding{f}
	}
	if evidence := onlyTheServer(missing, received); len(evidence) > 1 && involved(evidence) > 2 {
		return []Finding{c.forwardingFault(evidence)}
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

// mutuallyMissing returns the only two participants with missing streams, if the audio of both is missing. Either of them
// may be cut off from the server.
func mutuallyMissing(missing []*pairing) (a, b int, both bool) {
	sounds := map[int]bool{}
	for _, p := range missing {
		if i, j := min(p.sender, p.to), max(p.sender, p.to); len(sounds) > 0 && (i != a || j != b) {
			return noPerson, noPerson, false
		} else if p.media == "audio" {
			a, b, sounds[p.sender] = i, j, true
		}
	}
	return a, b, len(sounds) > 1
}

// missing returns the streams of senders with the library that were sent and not received from the server for badShare of
// the time, and those that were received.
func (c *call) missing(pairings []pairing, legs []*leg) (missing, received []*pairing) {
	sends := c.continuousMedia(pairings, legs)
	lossy := onlyLossy(legs, func(l *leg) (int, bool) { return l.to, l.from == server })
	for i := range pairings {
		p := &pairings[i]
		switch {
		case !p.throughSFU || p.in == nil || p.in.TimeMs < MinTimeMs || !sends[c.session(p.sender)+p.media]:
		case p.unreceived() < badShare:
			received = append(received, p)
		case p.to != lossy:
			missing = append(missing, p)
		}
	}
	return missing, received
}

// unreceived returns the share of the time in which no packet of a stream was received.
func (p *pairing) unreceived() float64 { return share(max(p.in.NoneMs, p.in.QuietMs), p.in.TimeMs) }

// onlyTheServer returns the missing streams that only a fault of the server explains. Audio is forwarded to all receivers, or
// to none if it is not loud: the server is at fault if one receives it and another does not, or if several miss it. Video
// without a viewer need not be forwarded: the server is at fault if several receivers miss the video of several senders, or
// one whose element several pages show.
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

// forwardingFault returns the finding about missing streams.
func (c *call) forwardingFault(missing []*pairing) Finding {
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

// cutOff returns the only participant who is an end of all missing streams, in both directions: the network between that
// participant and the server is at fault. With two such participants ok is false.
func cutOff(missing []*pairing) (i int, ok bool) {
	if i = noPerson; len(missing) == 0 {
		return noPerson, false
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
		if i != noPerson {
			return noPerson, false
		}
		i = one
	}
	return i, i != noPerson
}

// disrupted reports whether ICE was disrupted in a connection of a participant.
func (c *call) disrupted(i int) bool {
	return slices.ContainsFunc(c.people[i].Fabrics, func(f Fabric) bool { return f.Broken || f.BrokenMs > 0 || f.FlowedMs > 0 })
}
