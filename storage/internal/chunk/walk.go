package chunk

import (
	"errors"
	"math"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// Walk is the progress of packing a conference. Use NewWalk.
type Walk struct {
	Ended bool            // all rows have been read
	Left  int             // number of rows that stay loose: damaged, or too long for a chunk
	from  frames.Position // rows up to here have been processed
}

// NewWalk returns a Walk that begins with the first row.
func NewWalk() Walk { return Walk{from: frames.Position{At: math.MinInt64}} }

// ReadLoose returns loose rows of activity of a conference after a position, in order. Fewer than limit
// means that there are no more.
type ReadLoose func(from frames.Position, limit int) ([]frames.ReadRow, error)

// readRows is the limit of a ReadLoose.
const readRows = 256

// Gather adds rows to an empty builder until it is full or there are no more. It returns
// the rows added, without their bodies, and an error for each damaged row.
func (w *Walk) Gather(b *Builder, read ReadLoose) (added []frames.ReadRow, damaged []error, err error) {
	for !w.Ended {
		rows, err := read(w.from, readRows)
		if err != nil {
			return nil, nil, err
		}
		for i := range rows {
			row := &rows[i]
			switch result, err := b.Add(row); {
			case errors.Is(err, storage.ErrDamaged):
				damaged = append(damaged, err)
				w.Left++
			case err != nil:
				return nil, nil, err
			case result == Full:
				return added, damaged, nil
			case result == TooLong:
				w.Left++
			default:
				row.Body = nil
				added = append(added, *row)
			}
			w.from = row.End()
		}
		w.Ended = len(rows) < readRows
	}
	return added, damaged, nil
}
