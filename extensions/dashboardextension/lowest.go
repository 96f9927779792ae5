package dashboardextension

import (
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

// lowest is the interval of a stream that has the lowest score, with all that anyone needs to
// compute the score again (docs/quality.md).
type lowest struct {
	At         int64              `json:"at"`  // ms since the Unix epoch, the interval's end
	MOS        float64            `json:"mos"` // 1 to 5
	Label      string             `json:"label,omitempty"`
	Model      string             `json:"model"` // with its version
	Confidence string             `json:"confidence,omitempty"`
	Assumed    string             `json:"assumed,omitempty"` // inputs that were not measured, separated by commas
	Inputs     map[string]float64 `json:"inputs"`            // by their names, which end in their units
}

// noteScore keeps the measurement where its score is the lowest so far; of equals the first.
func (s *streamHead) noteScore(r storage.Record, attrs attributes) {
	mos := attrs.number(semconv.QualityMOS)
	if math.IsNaN(mos) || s.Lowest != nil && s.Lowest.MOS <= mos {
		return
	}
	s.Lowest = &lowest{
		At: r.At.UnixMilli(), MOS: mos, Label: attrs.text(semconv.QualityLabel), Model: attrs.text(semconv.QualityModel),
		Confidence: attrs.text(semconv.QualityConfidence), Assumed: attrs.text(semconv.QualityAssumed),
		Inputs: map[string]float64{},
	}
	for name := range attrs {
		input, found := strings.CutPrefix(name, semconv.QualityInputPrefix)
		if v := attrs.number(name); found && !math.IsNaN(v) {
			s.Lowest.Inputs[input] = v
		}
	}
}
