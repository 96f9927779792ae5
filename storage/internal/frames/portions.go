package frames

import "iter"

// PortionRows is the maximum number of rows of one transaction. A frame may be about thousands of conferences;
// each takes some hundred microseconds, for which other writers wait.
const PortionRows = 256

// Portions divides batches, in their order, into portions of at most PortionRows rows.
func Portions(batches []Prepared) iter.Seq[[]Prepared] {
	return func(yield func([]Prepared) bool) {
		var portion []Prepared
		left := PortionRows
		for _, b := range batches {
			for len(b.Frames) > left {
				if left > 0 {
					part := b
					part.Frames, b.Frames = b.Frames[:left], b.Frames[left:]
					portion = append(portion, part)
				}
				if !yield(portion) {
					return
				}
				portion, left = nil, PortionRows
			}
			portion, left = append(portion, b), left-len(b.Frames)
		}
		yield(portion)
	}
}
