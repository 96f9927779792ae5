package cause

import "fmt"

// machines returns the findings about processors, by the reports of encoders, and by the output of
// decoders for media that were received completely.
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
	f := Finding{Cause: SendingMachineCPU, Session: c.session(p.from), MediaType: p.media, affects: []string{c.session(p.from), c.session(p.to)}, legs: 1}
	f.weigh("cpuLimitedShare", p.out.CPUMs, p.out.TimeMs, 0.88, "the encoder had too little processor time for %.0f %% of the time")
	f.weigh("encodeShare", p.out.BusyMs, p.out.TimeMs, 0.8, "encoding took nearly all processor time for %.0f %% of the call")
	return f.appendTo(findings)
}

func (c *call) decoder(findings []Finding, p *pairing) []Finding {
	in := p.in
	if share(in.LostMs, in.SeenMs) > badShare { // frames with lost packets cannot be shown
		return findings
	}
	f := Finding{Cause: ReceivingMachine, Session: c.session(p.to), MediaType: p.media, affects: []string{c.session(p.to)}, legs: 1}
	f.weigh("notShownShare", in.StuckMs, in.TimeMs, 0.8, "frames were received whole and not shown for %.0f %% of the time")
	f.weigh("decodeShare", in.BusyMs, in.TimeMs, 0.8, "decoding took nearly all processor time for %.0f %% of the call")
	if p.throughSFU && p.sender < 0 || !p.throughSFU && p.out == nil { // the fault may lie at the sender's end
		return f.appendTo(findings)
	}
	f.weigh("choppyShare", in.ChoppyMs, in.TimeMs, 0.55, "samples were concealed without packet loss for %.0f %% of the time")
	return f.appendTo(findings)
}

// minSignMs is the least time for which a condition must hold to be evidence: more than one measurement.
const minSignMs = 3000

// weigh adds the share of the time in which a condition held as evidence, if it is at least badShare. Half
// of the time gives the full confidence, a smaller share up to 0.2 less. text is a format for the share
// in percent.
func (f *Finding) weigh(metric string, ms, wholeMs, confidence float64, text string) {
	if value := share(ms, wholeMs); value >= badShare && ms >= minSignMs {
		f.Confidence = max(f.Confidence, confidence-max(0, 0.5-value)*0.8)
		f.Evidence = append(f.Evidence, Evidence{metric, f.Session, f.MediaType, round(value), badShare, fmt.Sprintf(text, 100*value)})
	}
}

// appendTo appends the finding if it has evidence.
func (f *Finding) appendTo(findings []Finding) []Finding {
	if f.Confidence == 0 {
		return findings
	}
	return append(findings, *f)
}
