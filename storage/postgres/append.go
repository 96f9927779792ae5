package postgres

import (
	"context"
	"fmt"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
	"github.com/qosrtc/qos/storage/internal/join"
	"github.com/qosrtc/qos/storage/internal/sqlstore"
)

// Append implements storage.Writer. When ctx ends first, the records may
// still be written; appending them again is harmless.
func (s *Store) Append(ctx context.Context, batches []storage.Batch) (storage.Appended, error) {
	if err := ctx.Err(); err != nil {
		return storage.Appended{}, s.wrap("append", err)
	}
	ready, err := frames.Prepare(batches)
	if err != nil {
		return storage.Appended{}, s.wrap("append", err)
	}
	var result storage.Appended
	for portion := range frames.Portions(ready) {
		j := &job{batches: portion}
		if err := s.queue.Do(ctx, j); err != nil {
			return result, s.wrap("append", err)
		}
		result.Add(j.result)
	}
	return result, nil
}

// PutSummary implements storage.Writer. It writes the summary to the conference that overlaps its
// span or lies within instance.Gap of it, the nearest to its start if there are several.
func (s *Store) PutSummary(ctx context.Context, sum storage.Summary) error {
	stored, err := join.NewSummary(sum)
	if err != nil {
		return s.wrap("put summary", fmt.Errorf("%w: %w", storage.ErrInvalid, err))
	}
	place := frames.PlaceID{App: sum.AppID, Conference: sum.ConferenceID}
	j := &job{place: place, summary: stored, original: sum}
	err = s.queue.Do(ctx, j)
	if err == nil && !j.found {
		err = storage.ErrNotFound
	}
	if err != nil {
		return s.wrap("put summary", err)
	}
	return nil
}

// run executes one job and queues its writes.
func (t *tx) run(j *job) error {
	if j.summary != nil {
		return t.putSummary(j)
	}
	j.result = storage.Appended{}
	touch := join.Touched{}
	for i := range j.batches {
		b, err := t.lateBatch(&j.batches[i])
		if err != nil {
			return err
		}
		session := t.w.sessions[b.Session]
		t.describe(session.key, b.Row)
		for f := range b.Frames {
			added, err := t.appendFrame(session, &b.Frames[f])
			if err != nil {
				return err
			}
			j.result.New += added
			j.result.Duplicates += b.Frames[f].N - added
			if added > 0 {
				touch.Add(t.w.places[b.Frames[f].Place], session.key, &b.Frames[f])
				t.changes.AddRow(&b.Frames[f], added)
			}
		}
	}
	return touch.Join(t.table)
}

func (t *tx) putSummary(j *job) error {
	table, err := t.table(t.w.places[j.place])
	if err != nil {
		return err
	}
	before := t.summaries
	summary, err := sqlstore.LateSummary(t.w.late, j.place.App, j.summary)
	if err != nil {
		return err
	}
	if j.found, err = (join.Place{Table: table}).PutSummary(summary); err != nil {
		return err
	}
	if t.summaries > before {
		t.changes.AddSummary(j.original)
	}
	return nil
}

// appendFrame queues the records of f that are not stored yet and returns their number.
func (t *tx) appendFrame(session sessionKey, f *frames.Row) (added int, err error) {
	id := frameID{session.key, f.Seq}
	parts, err := f.Without(t.storedRuns[id])
	for i := range parts {
		p := &parts[i]
		added += p.N
		t.insert(session, p)
		t.storedRuns[id] = frames.Insert(t.storedRuns[id], frames.Run{From: p.Idx, To: p.Idx + p.N})
	}
	return added, err
}
