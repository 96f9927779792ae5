package readapi

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// lowest is the interval of a stream that has the lowest score, with all that anyone needs to
// compute the score again (docs/quality.md).
type lowest struct {
	At         int64              `json:"at"`                   // ms since the Unix epoch, the interval's end
	MOS        float64            `json:"mos"`                  // 1 to 5
	Label      string             `json:"label,omitempty"`      // excellent, good, fair, poor or bad
	Model      string             `json:"model"`                // with its version
	Confidence string             `json:"confidence,omitempty"` // how reliable the score is: high, medium or low
	Assumed    string             `json:"assumed,omitempty"`    // inputs that were not measured, separated by commas
	Inputs     map[string]float64 `json:"inputs"`               // by their names, which end in their units
}

// noteScore keeps the measurement where its score is the lowest so far; of equals the first.
func (s *streamHead) noteScore(e *event.Event, r *storage.Record) {
	score := &e.Measured.Score
	if !score.MOS.Known || s.Lowest != nil && s.Lowest.MOS <= score.MOS.V {
		return
	}
	s.Lowest = &lowest{
		At: e.AtMs, MOS: score.MOS.V, Label: score.Label, Model: score.Model,
		Confidence: score.Confidence, Assumed: score.Assumed, Inputs: eventrow.Inputs(r),
	}
}
