package sqlstore

import (
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Located is a conference's row, the key of its conferenceID, and the times of the annotations that it owns.
type Located struct {
	join.Row
	Place int64
	Own   instance.Span
}

// Find returns the conference at ref that join.Find selects, or storage.ErrNotFound.
func Find(tx Tx, ref storage.Ref) (found Located, err error) {
	var known bool
	if found.Place, known, err = tx.Place(ref.AppID, ref.ConferenceID); err != nil {
		return found, err
	}
	if !known {
		return found, storage.ErrNotFound
	}
	at := ref.At.UnixMilli()
	rows, err := Around(tx, found.Place, join.Owners(at))
	if err != nil {
		return found, err
	}
	if found.Row, known = join.Find(rows, at); !known {
		return found, storage.ErrNotFound
	}
	found.Own, err = OwnTimes(tx, found.Place, found.Row)
	return found, err
}

// OwnTimes returns the times of the annotations that a conference owns.
func OwnTimes(tx Tx, place int64, row join.Row) (instance.Span, error) {
	rows, err := Around(tx, place, join.Beside(row.Span))
	return join.Own(row, rows), err
}

const selectAround = `SELECT c.key, c.start_ms, c.end_ms, c.packed, c.revision, c.summary_start, c.summary_end
	FROM {table conference} c {by conference_place} WHERE c.place = ?
	AND c.start_ms >= coalesce((SELECT max(x.start_ms) FROM {table conference} x WHERE x.place = ? AND x.start_ms <= ?), ?)
	AND c.start_ms <= coalesce((SELECT min(x.start_ms) FROM {table conference} x WHERE x.place = ? AND x.start_ms > ?), ?)
	ORDER BY c.start_ms`

// Around returns the rows of a conferenceID that join.Table.Around specifies, in order.
func Around(tx Tx, place int64, span instance.Span) ([]join.Row, error) {
	return All(tx, scanRow, selectAround, place, place, span.Start, span.Start, place, span.End, span.End)
}

func scanRow(row Row) (r join.Row, err error) {
	var revision, start, end *int64
	err = row.Scan(&r.Key, &r.Span.Start, &r.Span.End, &r.Packed, &revision, &start, &end)
	if err == nil && revision != nil {
		r.Summary = &join.Order{Revision: *revision, Span: instance.Span{Start: *start, End: *end}}
	}
	return r, err
}
