package sqlite

import (
	"context"
	"slices"

	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/storage"
)

// Append implements storage.Writer. When ctx ends before it returns, the records may
// still be written; appending them again is harmless.
func (s *Store) Append(ctx context.Context, batches []storage.Batch) (storage.Appended, error) {
	ready, err := s.prepare(ctx, batches)
	if err != nil {
		return storage.Appended{}, s.wrap("append", err)
	}
	var result storage.Appended
	err = s.writer.do(ctx, job{run: func(t *tx) (err error) {
		result, err = t.appendAll(s.words, ready)
		return err
	}})
	if err != nil {
		return storage.Appended{}, s.wrap("append", err)
	}
	return result, nil
}

// touched is what one Append adds to one place: who was there, and when.
type touched map[int64]map[int64]*moments // by place and session

// moments are times of one session in one place.
type moments struct{ activity, other []int64 }

func (t *tx) appendAll(d *dictionary, batches []prepared) (result storage.Appended, err error) {
	touch := touched{}
	for i := range batches {
		b := &batches[i]
		session, err := t.session(b)
		if err != nil {
			return result, err
		}
		for j := range b.frames {
			added, err := t.appendFrame(d, &session, &b.frames[j])
			if err != nil {
				return result, err
			}
			result.New += added
			result.Duplicates += b.frames[j].n - added
			if added == 0 {
				continue
			}
			if err := touch.add(t, session.key, &b.frames[j]); err != nil {
				return result, err
			}
		}
		t.sessions[b.session] = session
	}
	return result, t.join(touch)
}

func (to touched) add(t *tx, session int64, f *frameRow) error {
	place, err := t.place(f.place)
	if err != nil {
		return err
	}
	if to[place] == nil {
		to[place] = map[int64]*moments{}
	}
	m := to[place][session]
	if m == nil {
		m = &moments{}
		to[place][session] = m
	}
	if f.activity {
		m.activity = append(m.activity, f.at)
	} else {
		m.other = append(m.other, f.conferenceAt)
	}
	return nil
}

// session writes the session's row where it is new or has changed.
func (t *tx) session(b *prepared) (knownSession, error) {
	known, ok := t.sessions[b.session]
	if ok && known.row == b.row {
		return known, nil
	}
	err := t.row(`INSERT INTO session (app_id, id, user_id, user_alias, details) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (app_id, id) DO UPDATE SET user_id = excluded.user_id, user_alias = excluded.user_alias, details = excluded.details
		RETURNING key`,
		b.session.app, b.session.id[:], b.row.userID, b.row.userAlias, b.row.details).Scan(&known.key)
	if err != nil {
		return known, err
	}
	known.row = b.row
	if !ok {
		err = t.row(`SELECT coalesce(max(seq), 0) FROM frame WHERE session = ?`, known.key).Scan(&known.last)
	}
	if len(t.sessions) >= maxCached {
		clear(t.sessions)
	}
	t.sessions[b.session] = known
	return known, err
}

// place returns the key of a place and makes its row where there is none.
func (t *tx) place(p placeID) (key int64, err error) {
	if key, ok := t.places[p]; ok {
		return key, nil
	}
	err = t.row(`INSERT INTO place (app_id, conference_id) VALUES (?, ?)
		ON CONFLICT DO UPDATE SET app_id = app_id RETURNING key`, p.app, p.conference).Scan(&key)
	if err != nil {
		return 0, err
	}
	if len(t.places) >= maxCached {
		clear(t.places)
	}
	t.places[p] = key
	return key, nil
}

// appendFrame writes the records of f that are not there yet and returns their number.
func (t *tx) appendFrame(d *dictionary, s *knownSession, f *frameRow) (added int, err error) {
	if f.seq > s.last {
		s.last = f.seq
		return f.n, t.insertFrame(s.key, f)
	}
	have, err := t.indexes(s.key, f.seq)
	if err != nil {
		return 0, err
	}
	parts, err := f.without(d, have)
	for i := 0; i < len(parts) && err == nil; i++ {
		added += parts[i].n
		err = t.insertFrame(s.key, &parts[i])
	}
	return added, err
}

func (t *tx) insertFrame(session int64, f *frameRow) error {
	place, err := t.place(f.place)
	if err != nil {
		return err
	}
	return t.exec(`INSERT INTO frame (session, seq, idx, n, place, activity, at, conference_at, observed_at, fabric, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		session, f.seq, f.idx, f.n, place, f.activity, f.at, f.conferenceAt, f.observedAt, f.fabric, f.body)
}

// run is the indexes from to to-1 of a frame.
type run struct{ from, to int }

// indexes returns what is stored of a frame, in order.
func (t *tx) indexes(session, seq int64) (have []run, err error) {
	err = t.each(func(row scanner) error {
		var idx, n int
		if err := row.Scan(&idx, &n); err != nil {
			return err
		}
		have = append(have, run{idx, idx + n})
		return nil
	}, `SELECT idx, n FROM frame WHERE session = ? AND seq = ? ORDER BY idx`, session, seq)
	return have, err
}

// without returns the parts of f that are not in have.
func (f *frameRow) without(d *dictionary, have []run) ([]frameRow, error) {
	missing := gaps(run{f.idx, f.idx + f.n}, have)
	if len(missing) == 1 && missing[0] == (run{f.idx, f.idx + f.n}) {
		return []frameRow{*f}, nil
	}
	if len(missing) == 0 {
		return nil, nil
	}
	decoder := decoder{words: d.text, buf: f.body}
	_, records, err := decoder.decode(f.n)
	if err != nil {
		return nil, err
	}
	var parts []frameRow
	for _, m := range missing {
		e := encoder{words: d.current.Load().ids}
		part := *f
		part.idx = m.from
		part.n, part.body, err = e.row(f.name, records[m.from-f.idx:m.to-f.idx])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// gaps returns what of r is in none of have, which are in order and do not overlap.
func gaps(r run, have []run) (missing []run) {
	for _, h := range have {
		if h.to <= r.from || h.from >= r.to {
			continue
		}
		if h.from > r.from {
			missing = append(missing, run{r.from, h.from})
		}
		r.from = h.to
	}
	if r.from < r.to {
		missing = append(missing, r)
	}
	return missing
}

// join makes the conferences that the new records belong to.
func (t *tx) join(touch touched) error {
	for place, sessions := range touch {
		for session, m := range sessions {
			for _, span := range sessionSpans(m.activity) {
				if err := t.joinActivity(place, session, span); err != nil {
					return err
				}
			}
		}
		for session, m := range sessions {
			slices.Sort(m.other)
			for _, at := range slices.Compact(m.other) {
				if err := t.joinOther(place, session, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// sessionSpans joins times into spans.
func sessionSpans(times []int64) (spans []instance.Span) {
	slices.Sort(times)
	for _, at := range times {
		last := len(spans) - 1
		if last >= 0 && spans[last].Contains(at) {
			spans[last] = spans[last].Union(instance.At(at))
		} else {
			spans = append(spans, instance.At(at))
		}
	}
	return spans
}
