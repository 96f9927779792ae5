package conference

// labelNames are the labels of scores, best first.
var labelNames = [...]string{"excellent", "good", "fair", "poor", "bad"}

const badLabel = len(labelNames) - 1

// Labels are the lower bounds of the labels excellent, good, fair and poor; what is below
// is bad.
type Labels [len(labelNames) - 1]float64

// DefaultLabels are the bounds that the welcome message carries by default.
var DefaultLabels = Labels{4.2, 3.8, 3.2, 2.6}

// Of returns the label of a score, "" when there is none.
func (l Labels) Of(mos *float64) string {
	if mos == nil {
		return ""
	}
	for i, lower := range l {
		if *mos >= lower {
			return labelNames[i]
		}
	}
	return labelNames[badLabel]
}
