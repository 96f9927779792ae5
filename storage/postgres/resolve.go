package postgres

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage/internal/frames"
)

// futureDays is the number of days ahead for which sessions get a partition of their day: clocks are
// wrong by hours, and time zones differ.
const futureDays = 2

// strayDay is the partition of sessions whose ids have a day out of range.
const strayDay = 0

// sessionDay returns the partition of a new session, by the time in its id.
func (s *Store) sessionDay(id [16]byte, now time.Time) int32 {
	ms := int64(binary.BigEndian.Uint64(id[:8]) >> 16)
	day, today := dayOf(ms), dayOf(now.UnixMilli())
	if id[6]>>4 != 7 || day <= today-int64(s.options.Days) || day > today+futureDays {
		return strayDay
	}
	return int32(day)
}

// resolve creates the rows of sessions and of qos_place and the partitions that the caches do not
// have, before the transaction: there the locks would be taken out of order.
func (w *writer) resolve(ctx context.Context, jobs []*job) error {
	var sessions []*frames.Prepared
	var places []frames.PlaceID
	place := func(p frames.PlaceID) {
		if _, ok := w.places[p]; !ok {
			places = append(places, p)
			w.places[p] = 0
		}
	}
	if len(w.sessions) > maxCached || len(w.places) > maxCached {
		w.clearCaches()
	}
	for _, j := range jobs {
		if j.summary != nil {
			place(j.place)
		}
		for i := range j.batches {
			b := &j.batches[i]
			if _, ok := w.sessions[b.Session]; !ok {
				sessions = append(sessions, b)
				w.sessions[b.Session] = sessionKey{}
			}
			for f := range b.Frames {
				place(b.Frames[f].Place)
			}
		}
	}
	err := w.makeSessions(ctx, sessions)
	if err == nil {
		err = w.makePlaces(ctx, places)
	}
	if err == nil {
		err = w.makePartitions(ctx, jobs)
	}
	if err != nil {
		w.clearCaches()
	}
	return err
}

// makeSessions creates rows without names: the transaction applies erasures to the names and writes them.
func (w *writer) makeSessions(ctx context.Context, missing []*frames.Prepared) error {
	if len(missing) == 0 {
		return nil
	}
	slices.SortFunc(missing, func(a, b *frames.Prepared) int {
		return cmp.Or(cmp.Compare(a.Session.App, b.Session.App), bytes.Compare(a.Session.ID[:], b.Session.ID[:]))
	})
	var apps, ids [][]byte
	var days []int32
	now := time.Now()
	for _, b := range missing {
		apps, ids = append(apps, []byte(b.Session.App)), append(ids, b.Session.ID[:])
		days = append(days, w.store.sessionDay(b.Session.ID, now))
	}
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO qos_session (app_id, id, day, user_id, user_alias, details)
		SELECT *, '', '', 'null' FROM unnest($1::bytea[], $2::bytea[], $3::int[])
		ON CONFLICT DO NOTHING`, apps, ids, days)
	batch.Queue(`SELECT s.app_id, s.id, s.key, s.day FROM unnest($1::bytea[], $2::bytea[]) q (app_id, id)
		JOIN qos_session s USING (app_id, id)`, apps, ids).Query(func(rows pgx.Rows) error {
		var app, id []byte
		var s sessionKey
		_, err := pgx.ForEachRow(rows, []any{&app, &id, &s.key, &s.day}, func() error {
			w.sessions[frames.SessionID{App: string(app), ID: [16]byte(id)}] = s
			return nil
		})
		return err
	})
	return w.conn.SendBatch(ctx, batch).Close()
}

func (w *writer) makePlaces(ctx context.Context, missing []frames.PlaceID) error {
	if len(missing) == 0 {
		return nil
	}
	slices.SortFunc(missing, func(a, b frames.PlaceID) int {
		return cmp.Or(cmp.Compare(a.App, b.App), cmp.Compare(a.Conference, b.Conference))
	})
	var keys []int64
	var apps, ids [][]byte
	byKey := map[int64]frames.PlaceID{}
	for _, p := range missing {
		key := placeKey(p.App, p.Conference)
		keys, apps, ids, byKey[key] = append(keys, key), append(apps, []byte(p.App)), append(ids, []byte(p.Conference)), p
	}
	batch := &pgx.Batch{}
	batch.Queue(`INSERT INTO qos_place (key, app_id, conference_id)
		SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) ON CONFLICT DO NOTHING`, keys, apps, ids)
	batch.Queue(`SELECT key, app_id, conference_id FROM qos_place WHERE key = ANY ($1)`, keys).Query(func(rows pgx.Rows) error {
		var app, id []byte
		var key int64
		_, err := pgx.ForEachRow(rows, []any{&key, &app, &id}, func() error {
			if p := (frames.PlaceID{App: string(app), Conference: string(id)}); p != byKey[key] {
				return errKeyCollision
			}
			w.places[byKey[key]] = key
			return nil
		})
		return err
	})
	return w.conn.SendBatch(ctx, batch).Close()
}

// errKeyCollision is returned when two conferenceIDs have the same key, a hash of 64 bits.
var errKeyCollision = errors.New("another conferenceID has the same key")

// placeKey returns the key of a row of qos_place: a hash of AppID and conferenceID, so that every collector, and
// every server of a partitioned database, computes it without a query.
func placeKey(app, conference string) int64 {
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(app))))
	h.Write([]byte(app))
	h.Write([]byte(conference))
	return int64(binary.BigEndian.Uint64(h.Sum(nil)))
}

func (w *writer) makePartitions(ctx context.Context, jobs []*job) error {
	for _, j := range jobs {
		for i := range j.batches {
			day := w.sessions[j.batches[i].Session].day
			if w.days[day] {
				continue
			}
			if err := makePartitions(ctx, w.conn, day); err != nil {
				return fmt.Errorf("make the partitions of day %d: %w", day, err)
			}
			w.days[day] = true
		}
	}
	return nil
}
