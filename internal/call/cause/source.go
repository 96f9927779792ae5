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
	return append(findings, Finding{
		Cause: Application, Session: c.session(i), Confidence: listenerTrust, legs: 1, affects: []string{c.session(i), c.session(c.peer(i, f))},
		Evidence: []Evidence{{
			Metric: "packetsSent", Session: c.session(i), Text: "the connection was to send, and no stream was sent",
		}},
	})
}

// listenerTrust is below sure: a participant who only listens may not have set the direction.
const listenerTrust = 0.4

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

// measured reports whether a fabric was measured long enough for the absence of a stream to be evidence.
func measured(f *Fabric) bool {
	return slices.ContainsFunc(f.Streams, func(s Stream) bool { return s.TimeMs >= MinTimeMs })
}

// silent adds the findings about streams that become silent without a mute, pause or hold. The device
// is at fault where the encoder had no input; where all streams stopped, the application removed
// them.
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
			if finding := c.capture(i, f, s, none, weak); finding != nil && (worst == nil || finding.Confidence > worst.Confidence) {
				worst = finding
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
		if c.peerMayBeGone(i, f) {
			worst.Confidence = min(worst.Confidence, leftTrust)
		}
		findings = append(findings, *worst)
	}
	return findings
}

// capture returns the finding about one stream; nil where there is none.
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
	case none < badShare && weak < badShare: // the camera may show a photograph
		finding.Confidence = 0.55
	case s.Media == "audio" || s.LimitSeenMs > 0:
		finding.Confidence = 0.8
	case none < badShare: // the encoder may be the cause: its limits are unknown
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
