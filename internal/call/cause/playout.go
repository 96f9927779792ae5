package cause

// refusedPlayouts returns the findings about received audio that the page did not play and did not mute.
func (c *call) refusedPlayouts() (findings []Finding) {
	c.eachStream(func(i int, _ *Fabric, s *Stream) {
		if s.TimeMs < MinTimeMs {
			return
		}
		f := Finding{Cause: Application, Session: c.session(i), MediaType: s.Media, affects: []string{c.session(i)}, legs: 1}
		f.weigh("playoutRefusedShare", s.RefusedMs, s.TimeMs, 0.7,
			"sound arrived and was not played for %.0f %% of the time: all elements with its track were paused and not muted, as if the browser refuses autoplay")
		findings = f.appendTo(findings)
	})
	return findings
}
