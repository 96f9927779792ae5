package notice

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Fact is what one conference, one feedback or one pre-call test counts for. A measure that is unknown is nil.
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

// document is the part of a conference's summary that facts are made of.
type document struct {
	Outcome string    `json:"outcome"`
	SetupMs []float64 `json:"setupMs"`
	MOS     *float64  `json:"mos"`

	Participants []struct {
		Session string `json:"session"`
		Fabrics []struct {
			CandidatePair *measured  `json:"candidatePair"`
			Streams       []measured `json:"streams"`
		} `json:"fabrics"`
		Feedback []struct {
			Seq     uint64 `json:"seq"`
			Index   int    `json:"index"`
			AtMs    int64  `json:"atMs"`
			Overall *int   `json:"overall"`
		} `json:"feedback"`
	} `json:"participants"`
}

type measured struct {
	LossFraction *float64 `json:"lossFraction"`
	RTTMs        *struct {
		P50 float64 `json:"p50"`
	} `json:"rttMs"`
}

// maxOutcomeBytes is longer than every outcome.
const maxOutcomeBytes = 64

// ReadSummary returns the fact of a conference's summary, and its feedback with an overall rating.
// The document is internal/conference.Summary as JSON.
func ReadSummary(text []byte) (Fact, []Rated, error) {
	var d document
	if err := json.Unmarshal(text, &d); err != nil {
		return Fact{}, nil, errors.New("the summary is no JSON of a summary")
	}
	if d.Outcome == "" || len(d.Outcome) > maxOutcomeBytes {
		return Fact{}, nil, fmt.Errorf("outcome must have 1 to %d bytes (got %d)", maxOutcomeBytes, len(d.Outcome))
	}
	f := Fact{Outcome: d.Outcome, MOS: d.MOS}
	for _, ms := range d.SetupMs {
		f.SetupMs = higher(f.SetupMs, &ms)
	}
	var rated []Rated
	for _, p := range d.Participants {
		for _, fabric := range p.Fabrics {
			if fabric.CandidatePair != nil {
				f.add(fabric.CandidatePair)
			}
			for i := range fabric.Streams {
				f.add(&fabric.Streams[i])
			}
		}
		for _, one := range p.Feedback {
			if one.Overall != nil {
				rated = append(rated, Rated{p.Session, one.AtMs, *one.Overall, one.Seq, one.Index})
			}
		}
	}
	return f, rated, nil
}

func (f *Fact) add(m *measured) {
	f.Loss = higher(f.Loss, m.LossFraction)
	if m.RTTMs != nil {
		f.RTTMs = higher(f.RTTMs, &m.RTTMs.P50)
	}
}

func higher(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// Encode returns the body of a point.
func (f Fact) Encode() ([]byte, error) { return json.Marshal(f) }

// DecodeFact reads the body of a point.
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

// outcomes are those that count for a reason.
//
//nolint:gochecknoglobals // a constant
var outcomes = map[Reason]string{
	FailedConferences: "totallyFailed", PartiallyFailedConferences: "partiallyFailed", DroppedConferences: "dropped",
}

// Counts reports whether f is a sample of a reason that is past its limit.
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
