package cause

import (
	"fmt"
	"slices"
)

// sources returns the findings about media that a participant does not send.
func (c *call) sources() (findings []Finding) {
	for i := range c.people {
		findings = c.silent(findings, i)
		for j := range c.people[i].Fabrics {
			findings = c.unsent(findings, i, &c.people[i].Fabrics[j])
			findings = c.endedTracks(findings, i, &c.people[i].Fabrics[j])
		}
	}
	return findings
}

// unsent adds the finding about a connection whose direction includes sending and that sends nothing.
func (c *call) unsent(findings []Finding, i int, f *Fabric) []Finding {
	if !f.Media || !f.Sends || !f.Connected || !measured(f) || sendsAnything(f) {
		return findings
	}
	confidence := 0.6
	if f.Server { // a listener may not have set its direction
		confidence = 0.4
	}
	return append(findings, Finding{
		Cause: Application, Session: c.session(i), Confidence: confidence, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))},
		Evidence: []Evidence{{
			Metric: "packetsSent", Session: c.session(i), Text: "the connection was to send, and no stream was sent",
		}},
	})
}

// endedTracks adds the finding about a camera or microphone that had ended before its stream began.
func (c *call) endedTracks(findings []Finding, i int, f *Fabric) []Finding {
	for _, media := range [...]string{"video", "audio"} {
		ms := f.EndedTrackMs[media]
		if !f.Connected || ms < MinTimeMs || share(ms, f.LifeMs) < badShare {
			continue
		}
		findings = append(findings, Finding{
			Cause: SendingCapture, Session: c.session(i), MediaType: media, Confidence: 0.7, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))},
			Evidence: []Evidence{{
				Metric: "endedTrackShare", Session: c.session(i), MediaType: media, Value: round(share(ms, f.LifeMs)), ComparedWith: badShare,
				Text: "the track had ended before it was to be sent, and nothing was sent, without a mute, pause or hold",
			}},
		})
	}
	return findings
}

// measured reports whether a fabric was measured long enough to know that it sent nothing.
func measured(f *Fabric) bool {
	return slices.ContainsFunc(f.Streams, func(s Stream) bool { return s.TimeMs >= MinTimeMs })
}

// silent adds the findings about streams that fall silent without a mute, pause or hold. The device
// is at fault where the encoder got no input; where all streams stop at once, the application
// removed them.
func (c *call) silent(findings []Finding, i int) []Finding {
	for j := range c.people[i].Fabrics {
		f := &c.people[i].Fabrics[j]
		stopped, streams := 0, 0
		var worst *Finding
		for k := range f.Streams {
			s := &f.Streams[k]
			if !s.Sends || s.TimeMs < MinTimeMs || s.Packets == 0 {
				continue
			}
			streams++
			none, weak := share(s.NoneMs, s.TimeMs), share(s.WeakMs, s.TimeMs)
			if none >= badShare {
				stopped++
			}
			if own := c.capture(i, f, s, none, weak); own != nil && (worst == nil || own.Confidence > worst.Confidence) {
				worst = own
			}
		}
		if worst == nil {
			continue
		}
		if stopped > 1 && stopped == streams {
			worst.Cause, worst.MediaType = Application, ""
			worst.Evidence = append(worst.Evidence, Evidence{
				Metric: "streamsStopped", Session: worst.Session, Value: float64(stopped), ComparedWith: float64(streams),
				Text: "all streams stopped: they were removed, or all devices were",
			})
		}
		findings = append(findings, *worst)
	}
	return findings
}

// capture returns the finding about one stream, nil without one.
func (c *call) capture(i int, f *Fabric, s *Stream, none, weak float64) *Finding {
	frozen := share(s.FrozenMs, s.TimeMs)
	if s.FrozenMs < MinTimeMs {
		frozen = 0
	}
	if none < badShare && weak < badShare && frozen < badShare {
		return nil
	}
	if s.LimitedMs+s.CPUMs > badShare*s.TimeMs || s.Media == "video" && c.cpuStarved[i] { // the encoder, not the camera
		return nil
	}
	finding := &Finding{Cause: SendingCapture, Session: c.session(i), MediaType: s.Media, Confidence: 0.6, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))}}
	switch {
	case none < badShare && weak < badShare: // somebody may show a photograph
		finding.Confidence = 0.55
	case s.Media == "audio" || s.LimitSeenMs > 0:
		finding.Confidence = 0.8
	case none < badShare: // it may be the encoder after all, of which nothing is known
		finding.Confidence = 0.45
	}
	add := func(metric string, value float64, text string) {
		finding.Evidence = append(finding.Evidence, Evidence{metric, finding.Session, s.Media, round(value), badShare, fmt.Sprintf("%s for %.0f %% of the time, without a mute, pause or hold", text, 100*value)})
	}
	if none >= badShare {
		add("nothingSentShare", none, "nothing was sent")
	}
	if weak >= badShare {
		text := "hardly a frame was sent"
		if s.Media == "audio" {
			text = "the microphone was silent"
		}
		add("hardlyAnythingSentShare", weak, text)
	}
	if frozen >= badShare {
		add("stillPictureShare", frozen, "the same picture was sent again and again, after pictures that changed,")
	}
	return finding
}

// arrivals are the media that reach a server.
type arrivals struct {
	sends   map[string]bool // by session and medium
	senders map[string]int  // participants, by medium
}

// arrivals returns the media that participants send to a server without pauses. Those of the one participant whose path to the
// server is bad may not reach it.
func (c *call) arrivals(pairings []pairing, legs []*leg) arrivals {
	var narrow []int
	for _, l := range legs {
		if l.to == server && l.narrow() == bad {
			narrow = append(narrow, l.from)
		}
	}
	all := arrivals{map[string]bool{}, map[string]int{}}
	for i := range pairings {
		p := &pairings[i]
		alone := len(narrow) == 1 && narrow[0] == p.from
		if p.throughSFU && p.out != nil && p.out.TimeMs >= MinTimeMs && share(p.out.QuietMs, p.out.TimeMs) < goodShare && p.out.Packets > 0 && !alone {
			all.sends[c.session(p.from)+p.media] = true
			all.senders[p.media]++
		}
	}
	return all
}

// sent reports whether the participant whose stream the server forwards sends it; where the stream's
// sender is unknown, whether everybody sends. A sender without the library is unknown too.
func (c *call) sent(p *pairing, all arrivals) bool {
	if p.sender >= 0 {
		return all.sends[c.session(p.sender)+p.media]
	}
	return p.in.User == "" && all.senders[p.media] >= len(c.people)
}

// forwarded returns the finding about media that a participant sends and the server does not forward.
func (c *call) forwarded(pairings []pairing, legs []*leg) []Finding {
	all := c.arrivals(pairings, legs)
	f := Finding{Cause: MediaServer, Confidence: 0.7}
	var missing []*pairing
	for i := range pairings {
		p := &pairings[i]
		if !p.throughSFU || p.in == nil || p.in.TimeMs < MinTimeMs || !c.sent(p, all) {
			continue
		}
		silent := share(max(p.in.NoneMs, p.in.QuietMs), p.in.TimeMs)
		if silent < badShare {
			continue
		}
		missing = append(missing, p)
		f.affects = append(f.affects, c.session(p.to))
		f.Evidence = append(f.Evidence, Evidence{
			Metric: "nothingReceivedShare", Session: c.session(p.to), MediaType: p.media, Value: round(silent), ComparedWith: badShare,
			Text: fmt.Sprintf("the sender sent, and nothing was received from the server for %.0f %% of the time", 100*silent),
		})
	}
	if len(missing) == 0 {
		return nil
	}
	f.legs = len(missing)
	if len(missing) > 1 {
		f.Confidence = 0.85
	}
	if i, gone := cutOff(missing); gone {
		f.Cause, f.Session, f.Others = SenderUplink, c.session(i), []Other{{ReceiverDownlink, c.session(i), 0.4}}
		if c.disrupted(i) {
			f.Cause = ICEConnectivity
		}
	}
	return []Finding{f}
}

// cutOff returns the only participant of whom nothing is received and who receives nothing: not the server is at fault, but
// the network between it and that participant. Of two it may be either.
func cutOff(missing []*pairing) (i int, ok bool) {
	i = nobody
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
