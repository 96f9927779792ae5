package sqlite

import (
	"context"
	"math"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/chunk"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
)

// Append implements storage.Writer. When ctx ends first, the records may
// still be written; appending them again is harmless.
func (s *Store) Append(ctx context.Context, batches []storage.Batch) (storage.Appended, error) {
	ready, err := frames.Prepare(batches)
	if err != nil {
		return storage.Appended{}, s.wrap("append", err)
	}
	var result storage.Appended
	for portion := range frames.Portions(ready) {
		some, err := s.appendPortion(ctx, portion)
		if err != nil {
			return result, s.wrap("append", err)
		}
		result.Add(some)
	}
	return result, nil
}

// appendPortion appends a portion in one transaction.
func (s *Store) appendPortion(ctx context.Context, portion []frames.Prepared) (storage.Appended, error) {
	var result storage.Appended
	var changes follow.Changes
	err := s.writer.do(ctx, job{run: func(t *tx) (err error) {
		result, changes, err = t.appendAll(portion)
		return err
	}, committed: func() { s.hub.Publish(changes.All()) }})
	if err != nil {
		return storage.Appended{}, err // the write may still be under way
	}
	return result, nil
}

func (t *tx) appendAll(batches []frames.Prepared) (result storage.Appended, changes follow.Changes, err error) {
	touch := join.Touched{}
	clear(t.changedSessions)
	clear(t.newParticipations)
	t.termsDropped = 0
	for i := range batches {
		b, err := t.lateBatch(&batches[i])
		if err != nil {
			return result, changes, err
		}
		session, err := t.session(b)
		if err != nil {
			return result, changes, err
		}
		for j := range b.Frames {
			added, err := t.appendFrame(&session, &b.Frames[j])
			if err != nil {
				return result, changes, err
			}
			result.New += added
			result.Duplicates += b.Frames[j].N - added
			if added == 0 {
				continue
			}
			place, err := t.place(b.Frames[j].Place)
			if err != nil {
				return result, changes, err
			}
			touch.Add(place, session.key, &b.Frames[j])
			changes.AddRow(&b.Frames[j], added)
		}
		t.sessions[b.Session] = session
	}
	err = touch.Join(func(place int64) (join.Table, error) { return table{t, place}, nil })
	result.TermsDropped = t.termsDropped
	return result, changes, err
}

// session writes the session's row if it is new or has changed.
func (t *tx) session(b *frames.Prepared) (knownSession, error) {
	known, ok := t.sessions[b.Session]
	if ok && known.row == b.Row {
		return known, nil
	}
	err := t.row(`INSERT INTO session (app_id, id, user_id, user_alias, details) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (app_id, id) DO UPDATE SET user_id = excluded.user_id, user_alias = excluded.user_alias, details = excluded.details
		RETURNING key`,
		b.Session.App, b.Session.ID[:], b.Row.UserID, b.Row.UserAlias, b.Row.Details).Scan(&known.key)
	if err != nil {
		return known, err
	}
	known.row, t.changedSessions[known.key] = b.Row, true
	if !ok {
		known.next = math.MaxInt // a part of the frame last may be stored
		known.last, err = t.lastSeq(known.key)
	}
	if len(t.sessions) >= maxCached {
		clear(t.sessions)
	}
	t.sessions[b.Session] = known
	return known, err
}

// lastSeq returns the highest stored seq of a session, 0 without frames.
func (t *tx) lastSeq(session int64) (last int64, err error) {
	err = t.row(`SELECT max(coalesce((SELECT max(seq) FROM frame WHERE session = ?1), 0),
		coalesce((SELECT max(last) FROM packed WHERE session = ?1
			AND first >= (SELECT max(first) FROM packed WHERE session = ?1) - ?2), 0))`, session, chunk.MaxRecords).Scan(&last)
	return last, err
}

// place returns the key of a conferenceID, and creates its row if necessary.
func (t *tx) place(p frames.PlaceID) (key int64, err error) {
	if key, ok := t.places[p]; ok {
		return key, nil
	}
	err = t.row(`INSERT INTO place (app_id, conference_id) VALUES (?, ?)
		ON CONFLICT DO UPDATE SET app_id = app_id RETURNING key`, p.App, p.Conference).Scan(&key)
	if err != nil {
		return 0, err
	}
	if len(t.places) >= maxCached {
		clear(t.places)
	}
	t.places[p] = key
	return key, nil
}

// appendFrame writes the records of f that are not stored yet and returns their number.
func (t *tx) appendFrame(s *knownSession, f *frames.Row) (added int, err error) {
	if f.Seq > s.last || f.Seq == s.last && f.Idx >= s.next {
		s.last, s.next = f.Seq, f.Idx+f.N
		return f.N, t.insertFrame(s.key, f)
	}
	runs, err := t.indexes(s.key, f.Seq)
	if err != nil {
		return 0, err
	}
	parts, err := f.Without(runs)
	for i := 0; i < len(parts) && err == nil; i++ {
		added += parts[i].N
		err = t.insertFrame(s.key, &parts[i])
		if f.Seq == s.last {
			s.next = max(s.next, parts[i].Idx+parts[i].N)
		}
	}
	return added, err
}

func (t *tx) insertFrame(session int64, f *frames.Row) error {
	place, err := t.place(f.Place)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO frame (session, seq, idx, n, place, activity, at, conference_at, observed_at, fabric, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, f.Seq, f.Idx, f.N, place, f.Activity, f.At, f.ConferenceAt, f.ObservedAt, f.Fabric, f.Body)
}

const storedIndexes = `SELECT idx, n FROM frame WHERE session = ?1 AND seq = ?2
	UNION ALL SELECT idx, n FROM packed WHERE session = ?1 AND first BETWEEN ?3 AND ?2 AND last >= ?2 ORDER BY idx`

// indexes returns the stored runs of a frame, in order.
func (t *tx) indexes(session, seq int64) (runs []frames.Run, err error) {
	err = t.each(func(row scanner) error {
		var idx, n int
		if err := row.Scan(&idx, &n); err != nil {
			return err
		}
		runs = append(runs, frames.Run{From: idx, To: idx + n})
		return nil
	}, storedIndexes, session, seq, seq-chunk.MaxRecords)
	return runs, err
}
