package sqlstore

import (
	"context"
	"math"

	"github.com/qosrtc/qos/internal/call/instance"
)

// Loose is a conference that has loose activity.
type Loose struct{ Key, Place, Start int64 }

// NextLoose selects the next conference to pack.
const NextLoose = `SELECT c.key, c.place, c.start_ms FROM {table conference} c {by conference_loose}
	WHERE NOT c.packed AND c.end_ms < ? AND (c.start_ms, c.key) > (?, ?) ORDER BY c.start_ms, c.key LIMIT 1`

// EachLoose calls pack for each conference that has loose activity and ended before a time, until it
// returns an error.
func EachLoose(ctx context.Context, db DB, before int64, pack func(context.Context, Loose) error) error {
	for last := (Loose{Start: math.MinInt64}); ; {
		var next Loose
		var found bool
		err := db.Read(ctx, func(tx Tx) (err error) {
			found, err = One(tx, []any{&next.Key, &next.Place, &next.Start}, NextLoose, before, last.Start, last.Key)
			return err
		})
		if err != nil || !found {
			return err
		}
		if err := pack(ctx, next); err != nil {
			return err
		}
		last = next
	}
}

// Span returns the current span of the conference; false if it was deleted, or merged into another.
func (l Loose) Span(tx Tx) (span instance.Span, found bool, err error) {
	found, err = One(tx, []any{&span.Start, &span.End}, `SELECT start_ms, end_ms FROM {table conference} WHERE place = ? AND key = ?`, l.Place, l.Key)
	return span, found, err
}

const setPacked = `UPDATE {table conference} SET packed = true WHERE place = ? AND key = ? AND NOT packed
	AND ? = (SELECT count(*) FROM (SELECT 1 FROM {table frame} f {by frame_activity}
		WHERE f.activity AND f.place = ? AND f.at BETWEEN ? AND ? {indays f} LIMIT ?) counted)`

// SetPacked marks a conference as packed if it has only left loose rows, and reports whether it did: activity may
// have arrived meanwhile.
func (l Loose) SetPacked(tx Tx, left int) (packed bool, err error) {
	span, found, err := l.Span(tx)
	if err != nil || !found {
		return false, err
	}
	days, err := tx.Days(l.Place, span)
	if err != nil {
		return false, err
	}
	changed, err := tx.Exec(setPacked, l.Place, l.Key, left, l.Place, span.Start, span.End, days, left+1)
	return changed == 1, err
}
