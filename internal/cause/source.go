package cause

import (
	"fmt"
	"slices"
)

// sources are the findings about what is sent at all: by a participant, and by a server on
// their behalf.
func (c *call) sources(pairings []pairing) (findings []Finding) {
	for i := range c.people {
		findings = c.silent(findings, i)
		for j := range c.people[i].Fabrics {
			findings = c.unsent(findings, i, &c.people[i].Fabrics[j])
		}
	}
	return c.forwarded(findings, pairings)
}

// unsent: a connection that is there to send, and carries nothing from here.
func (c *call) unsent(findings []Finding, i int, f *Fabric) []Finding {
	if !f.Media || !f.Sends || !f.Connected || !measured(f) || sendsAnything(f) {
		return findings
	}
	confidence := 0.6
	if f.Server { // whoever only listens may not have said so
		confidence = 0.4
	}
	return append(findings, Finding{
		Cause: Application, Session: c.session(i), Confidence: confidence, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))},
		Evidence: []Evidence{{
			Metric: "packetsSent", Session: c.session(i), Text: "the connection stood and was said to send, and no stream was sent",
		}},
	})
}

// measured: enough to say that nothing was sent.
func measured(f *Fabric) bool {
	return slices.ContainsFunc(f.Streams, func(s Stream) bool { return s.TimeMs >= MinTimeMs })
}

// silent: streams that fall silent although nobody muted, paused or held them. What the
// encoder was not given comes from the device; where all streams stop at once, the
// application took them away.
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
				Text: "all streams stopped: they were taken away, or all devices were",
			})
		}
		findings = append(findings, *worst)
	}
	return findings
}

// capture is the finding about one stream, nil where nothing is to be found.
func (c *call) capture(i int, f *Fabric, s *Stream, none, weak float64) *Finding {
	if none < badShare && weak < badShare {
		return nil
	}
	if s.LimitedMs+s.CPUMs > badShare*s.TimeMs || s.Media == "video" && c.weary[i] { // the encoder, not the camera
		return nil
	}
	finding := &Finding{Cause: SendingCapture, Session: c.session(i), MediaType: s.Media, Confidence: 0.6, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))}}
	switch {
	case s.Media == "audio" || s.LimitSeenMs > 0:
		finding.Confidence = 0.8
	case none < badShare: // it may be the encoder after all, of which nothing is known
		finding.Confidence = 0.45
	}
	say := func(metric string, value float64, text string) {
		finding.Evidence = append(finding.Evidence, Evidence{metric, finding.Session, s.Media, round(value), badShare, fmt.Sprintf("%s for %.0f %% of the time, and no mute, pause or hold was told", text, 100*value)})
	}
	if none >= badShare {
		say("nothingSentShare", none, "nothing was sent")
	}
	if weak >= badShare {
		text := "hardly a picture was sent"
		if s.Media == "audio" {
			text = "the microphone heard nothing"
		}
		say("hardlyAnythingSentShare", weak, text)
	}
	return finding
}

// sent: whoever this stream from the server is of sends; where nobody can tell whose it is,
// everybody does. Of somebody who was not measured nobody knows.
func (c *call) sent(p *pairing, sends map[string]bool, senders int) bool {
	if p.sender >= 0 {
		return sends[c.session(p.sender)+p.media]
	}
	return p.in.User == "" && senders >= len(c.people)
}

// forwarded: what a participant sends well, and no one gets from the server.
func (c *call) forwarded(findings []Finding, pairings []pairing) []Finding {
	type flow struct{ sent, came, missed int }
	media := map[string]*flow{"audio": {}, "video": {}}
	var evidence []Evidence
	sends := map[string]bool{} // session and medium
	for i := range pairings {
		p := &pairings[i]
		if p.throughSFU && p.out != nil && p.out.TimeMs >= MinTimeMs && share(p.out.QuietMs, p.out.TimeMs) < goodShare && p.out.Packets > 0 {
			sends[c.session(p.from)+p.media] = true
			media[p.media].sent++
		}
	}
	var affects []string
	for i := range pairings {
		p := &pairings[i]
		if !p.throughSFU || p.in == nil || p.in.TimeMs < MinTimeMs {
			continue
		}
		if !c.sent(p, sends, media[p.media].sent) {
			continue
		}
		missing := share(max(p.in.NoneMs, p.in.QuietMs), p.in.TimeMs)
		if missing < badShare {
			media[p.media].came++
			continue
		}
		media[p.media].missed++
		affects = append(affects, c.session(p.to))
		evidence = append(evidence, Evidence{
			Metric: "nothingCameShare", Session: c.session(p.to), MediaType: p.media, Value: round(missing), ComparedWith: badShare,
			Text: fmt.Sprintf("the sender sent, and nothing came from the server for %.0f %% of the time", 100*missing),
		})
	}
	missed := media["audio"].missed + media["video"].missed
	if missed == 0 {
		return findings
	}
	f := Finding{Cause: MediaServer, Confidence: 0.7, legs: missed, affects: affects, Evidence: evidence}
	if missed > 1 {
		f.Confidence = 0.85
	}
	return append(findings, f)
}
