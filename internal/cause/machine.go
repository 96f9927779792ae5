package cause

import "fmt"

// machines are the findings about processors: what an encoder says, and what a decoder does
// with what came whole.
func (c *call) machines(pairings []pairing) (findings []Finding) {
	for i := range pairings {
		p := &pairings[i]
		if p.out != nil && p.out.TimeMs >= MinTimeMs {
			findings = c.encoder(findings, p)
		}
		if p.in != nil && p.in.TimeMs >= MinTimeMs {
			findings = c.decoder(findings, p)
		}
	}
	return findings
}

func (c *call) encoder(findings []Finding, p *pairing) []Finding {
	limited, work := share(p.out.CPUMs, p.out.TimeMs), share(p.out.BusyMs, p.out.TimeMs)
	f := Finding{Cause: SendingMachineCPU, Session: c.session(p.from), MediaType: p.media, affects: []string{c.session(p.from), c.session(p.to)}, legs: 1}
	say := func(metric string, value, limit float64, text string) {
		f.Evidence = append(f.Evidence, Evidence{metric, f.Session, p.media, round(value), limit, fmt.Sprintf(text, 100*value)})
	}
	if limited >= badShare {
		f.Confidence = 0.88
		say("cpuLimitedShare", limited, badShare, "the encoder had too little processor for %.0f %% of the time")
	}
	if work >= badShare {
		f.Confidence = max(f.Confidence, 0.8)
		say("encodeShare", work, badShare, "encoding took nearly all of the time there was for %.0f %% of the call")
	}
	if f.Confidence == 0 {
		return findings
	}
	return append(findings, f)
}

func (c *call) decoder(findings []Finding, p *pairing) []Finding {
	in := p.in
	if share(in.LostMs, in.SeenMs) > badShare { // what did not come cannot be shown
		return findings
	}
	stuck, work, choppy := share(in.StuckMs, in.TimeMs), share(in.BusyMs, in.TimeMs), share(in.ChoppyMs, in.TimeMs)
	f := Finding{Cause: ReceivingMachine, Session: c.session(p.to), MediaType: p.media, affects: []string{c.session(p.to)}, legs: 1}
	say := func(metric string, value, limit float64, text string) {
		f.Evidence = append(f.Evidence, Evidence{metric, f.Session, p.media, round(value), limit, fmt.Sprintf(text, 100*value)})
	}
	if stuck >= badShare {
		f.Confidence = 0.8
		say("notShownShare", stuck, badShare, "pictures came whole and were not shown for %.0f %% of the time")
	}
	if work >= badShare {
		f.Confidence = max(f.Confidence, 0.8)
		say("decodeShare", work, badShare, "decoding took nearly all of the time there was for %.0f %% of the call")
	}
	if choppy >= badShare {
		f.Confidence = max(f.Confidence, 0.55)
		say("choppyShare", choppy, badShare, "sound was made up though nothing was lost for %.0f %% of the time")
	}
	if f.Confidence == 0 {
		return findings
	}
	return append(findings, f)
}
