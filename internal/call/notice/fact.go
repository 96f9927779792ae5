package notice

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/qosrtc/qos/internal/call/conference"
)

// Fact holds the measures of one conference, one feedback or one pre-call test. An unknown measure is nil.
type Fact struct {
	Outcome string   `json:"outcome,omitempty"` // of a conference
	SetupMs *float64 `json:"setupMs,omitempty"` // the longest setup delay of its fabrics
	RTTMs   *float64 `json:"rttMs,omitempty"`   // the highest median of its candidate pairs and streams
	Loss    *float64 `json:"loss,omitempty"`    // the highest share of its streams, 0 to 1
	MOS     *float64 `json:"mos,omitempty"`
	Rating  *int     `json:"rating,omitempty"` // overall, of a feedback

	PreCall   *bool           `json:"preCall,omitempty"`   // of a pre-call test: whether it failed
	Providers map[string]bool `json:"providers,omitempty"` // of a pre-call test: whether each provider failed
}

// Rated is one feedback in a summary. Session, Seq and Index identify its record.
type Rated struct {
	Session string
	AtMs    int64
	Overall int
	Seq     uint64 // 0: unknown
	Index   int
}

// maxOutcomeBytes is longer than every outcome.
const maxOutcomeBytes = 64

// ReadSummary returns the fact of a conference's summary, and its feedback with an overall rating.
// The document is conference.Summary as JSON.
func ReadSummary(text []byte) (Fact, []Rated, error) {
	var s conference.Summary
	if err := json.Unmarshal(text, &s); err != nil {
		return Fact{}, nil, errors.New("the summary is no JSON of a summary")
	}
	if s.Outcome == "" || len(s.Outcome) > maxOutcomeBytes {
		return Fact{}, nil, fmt.Errorf("outcome must have 1 to %d bytes (got %d)", maxOutcomeBytes, len(s.Outcome))
	}
	f := Fact{Outcome: string(s.Outcome), MOS: s.MOS}
	f.RTTMs, f.Loss = s.Highest()
	if len(s.SetupMs) > 0 {
		f.SetupMs = new(slices.Max(s.SetupMs))
	}
	var rated []Rated
	for i := range s.Participants {
		for _, one := range s.Participants[i].Feedback {
			if one.Overall != nil {
				rated = append(rated, Rated{s.Participants[i].Session, one.AtMs, *one.Overall, one.Seq, one.Index})
			}
		}
	}
	return f, rated, nil
}

// Encode returns the fact as the body of a stored point.
func (f Fact) Encode() ([]byte, error) { return json.Marshal(f) }

// DecodeFact returns the fact in the body of a stored point.
func DecodeFact(body []byte) (f Fact, err error) {
	err = json.Unmarshal(body, &f)
	return f, err
}

// Measured reports whether f is a sample of a reason.
func (f Fact) Measured(r Reason) bool {
	switch r {
	case FailedConferences, PartiallyFailedConferences, DroppedConferences:
		return f.Outcome != ""
	case HighSetupDelays:
		return f.SetupMs != nil
	case HighRoundTripTime:
		return f.RTTMs != nil
	case HighPacketLoss:
		return f.Loss != nil
	case LowQuality:
		return f.MOS != nil
	case DissatisfactoryUserFeedback:
		return f.Rating != nil
	case PreCallFailures:
		return f.PreCall != nil
	}
	return false
}

// outcomes are the outcomes that count, by reason.
var outcomes = map[Reason]string{
	FailedConferences: "totallyFailed", PartiallyFailedConferences: "partiallyFailed", DroppedConferences: "dropped",
}

// Counts reports whether f is a sample of a reason and beyond its limit.
func (f Fact) Counts(r Reason, limit float64) bool {
	if !f.Measured(r) {
		return false
	}
	switch r {
	case HighSetupDelays:
		return *f.SetupMs > limit
	case HighRoundTripTime:
		return *f.RTTMs > limit
	case HighPacketLoss:
		return *f.Loss > limit
	case LowQuality:
		return *f.MOS < limit
	case DissatisfactoryUserFeedback:
		return float64(*f.Rating) <= limit
	case PreCallFailures:
		return *f.PreCall
	}
	return f.Outcome == outcomes[r]
}
