package conference

import "github.com/qosrtc/qos/internal/call/quality"

// Pooling (docs/quality.md): a stream's score is the plain time mean of its
// intervals; audio and video are combined as a product; a participant's score is that of the
// worse direction, and a conference's the mean over participants, weighted by their time. The
// mean over time correlates better with user ratings than minimum and percentiles do.

// pooled returns the time mean of the scores of all streams of one kind, nil without scores.
func (p *participant) pooled(statsType, mediaType string) *float64 {
	var sum, weight float64
	for _, f := range p.fabrics {
		for key, s := range f.streams {
			if key.statsType == statsType && key.mediaType == mediaType {
				sum += s.result.mos.sum
				weight += s.result.mos.weight
			}
		}
	}
	if weight == 0 {
		return nil
	}
	v := unscaled(sum / weight)
	return &v
}

func (p *participant) rate(out *Participant, labels quality.Bounds) {
	audioIn, videoIn := p.pooled(inboundRTP, audio), p.pooled(inboundRTP, video)
	audioOut, videoOut := p.pooled(outboundRTP, audio), p.pooled(outboundRTP, video)
	in, sent := quality.ParticipantAV(audioIn, videoIn), quality.ParticipantAV(audioOut, videoOut)
	mos := quality.Worse(in, sent)
	out.Label = label(mos, labels)
	out.AudioMOSIn, out.VideoMOSIn = roundedPointer(audioIn), roundedPointer(videoIn)
	out.AudioMOSOut, out.VideoMOSOut = roundedPointer(audioOut), roundedPointer(videoOut)
	out.MOSIn, out.MOSOut, out.MOS = roundedPointer(in), roundedPointer(sent), roundedPointer(mos)
}

// label returns the label of a score, "" if there is none.
func label(mos *float64, labels quality.Bounds) string {
	if mos == nil {
		return ""
	}
	return quality.Label(*mos, labels)
}

func roundedPointer(v *float64) *float64 {
	if v == nil {
		return nil
	}
	r := round4(*v)
	return &r
}

// rate sets the conference's score, the mean of its participants' scores, in their order.
func (s *Summary) rate(labels quality.Bounds) {
	var total, weight float64
	for i := range s.Participants {
		p := &s.Participants[i]
		if p.MOS == nil {
			continue
		}
		w := float64(max(1, p.DurationMs))
		total += *p.MOS * w
		weight += w
		if s.WorstParticipant == nil || *p.MOS < s.WorstParticipant.MOS {
			s.WorstParticipant = &WorstParticipant{p.Session, p.UserID, p.Alias, *p.MOS}
		}
	}
	if weight > 0 {
		mos := round4(total / weight)
		s.MOS, s.Label = &mos, label(&mos, labels)
	}
}

// shareBad returns the share of bad time in the scored time of all streams.
func (c *Conference) shareBad() *float64 {
	var bad, scored float64
	for _, p := range c.participants {
		for _, f := range p.fabrics {
			for _, s := range f.streams {
				bad += s.result.labels[badLabel]
				scored += s.result.labelledMs()
			}
		}
	}
	return share(bad, scored, true)
}
