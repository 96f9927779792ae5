package conference

import (
	"cmp"
	"slices"

	"github.com/qosrtc/qos/internal/quality"
)

// Thresholds of issues: where a metric leaves "fair" for "poor".
const (
	lossThreshold   = 0.03 // fraction
	rttThreshold    = 300  // ms
	jitterThreshold = 30   // ms
	freezeThreshold = 0.03 // share of the time
)

// maxIssues bounds the list; the worst of each kind come first.
const maxIssues = 100

var issueOrder = []string{IssueHighPacketLoss, IssueHighRoundTripTime, IssueHighJitter, IssueFrozenVideo, IssueLowQuality}

// findIssues names what was wrong, with its evidence.
func findIssues(participants []Participant, labels quality.Bounds) []Issue {
	issues := []Issue{}
	received := receivedSSRCs(participants)
	for i := range participants {
		p := &participants[i]
		about := Issue{Session: p.Session, UserID: p.UserID, Alias: p.Alias}
		if fair := labels[2]; p.MOS != nil && *p.MOS < fair {
			issues = append(issues, about.with(IssueLowQuality, *p.MOS, fair))
		}
		for j := range p.Fabrics {
			about.Fabric = p.Fabrics[j].Fabric
			issues = fabricIssues(issues, about, &p.Fabrics[j], received)
		}
	}
	slices.SortStableFunc(issues, func(a, b Issue) int {
		return cmp.Or(cmp.Compare(slices.Index(issueOrder, a.Kind), slices.Index(issueOrder, b.Kind)), a.compareSeverity(b))
	})
	return issues[:min(len(issues), maxIssues)]
}

func (i Issue) with(kind string, value, threshold float64) Issue {
	i.Kind, i.Value, i.Threshold = kind, value, threshold
	return i
}

// compareSeverity puts the worse one first: a score is worse when it is lower.
func (i Issue) compareSeverity(o Issue) int {
	if i.Kind == IssueLowQuality {
		return cmp.Compare(i.Value, o.Value)
	}
	return cmp.Compare(o.Value, i.Value)
}

// receivedSSRCs tells for which streams a participant's own receiving end was measured:
// then what the sender heard of the loss is the same thing a second time.
func receivedSSRCs(participants []Participant) map[int64]bool {
	received := map[int64]bool{}
	for i := range participants {
		for j := range participants[i].Fabrics {
			for _, s := range participants[i].Fabrics[j].Streams {
				if s.StatsType == inboundRTP && s.LossFraction != nil {
					received[s.SSRC] = true
				}
			}
		}
	}
	return received
}

func fabricIssues(issues []Issue, about Issue, f *Fabric, received map[int64]bool) []Issue {
	if pair := f.CandidatePair; pair != nil && pair.RTTMs != nil && pair.RTTMs.Mean > rttThreshold {
		issues = append(issues, about.with(IssueHighRoundTripTime, pair.RTTMs.Mean, rttThreshold))
	}
	for i := range f.Streams {
		s := &f.Streams[i]
		about.SSRC, about.MediaType, about.Direction = s.SSRC, s.MediaType, DirectionInbound
		repeated := false
		if s.StatsType == outboundRTP {
			about.Direction, repeated = DirectionOutbound, received[s.SSRC]
		}
		if !repeated {
			issues = transportIssues(issues, about, s)
		}
		if share := s.FreezeMs / float64(max(1, s.DurationMs)); share > freezeThreshold {
			issues = append(issues, about.with(IssueFrozenVideo, round4(share), freezeThreshold))
		}
		if f.CandidatePair == nil && s.RTTMs != nil && s.RTTMs.Mean > rttThreshold {
			issues = append(issues, about.with(IssueHighRoundTripTime, s.RTTMs.Mean, rttThreshold))
		}
	}
	return issues
}

func transportIssues(issues []Issue, about Issue, s *Stream) []Issue {
	if s.LossFraction != nil && *s.LossFraction > lossThreshold {
		issues = append(issues, about.with(IssueHighPacketLoss, *s.LossFraction, lossThreshold))
	}
	if s.JitterMs != nil && s.JitterMs.Mean > jitterThreshold {
		issues = append(issues, about.with(IssueHighJitter, s.JitterMs.Mean, jitterThreshold))
	}
	return issues
}
