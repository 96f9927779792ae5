package sqlstore

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/envelope"
	"github.com/qosrtc/qos/storage/internal/frames"
)

const (
	hourMs = int64(time.Hour / time.Millisecond)
	// maxHours bounds the hours that have columns: the last 100 days.
	maxHours = 100 * 24
	// newHours bounds the hours that one call marks.
	newHours = 500
	// maxHourBytes bounds the columns of an hour: some 200,000 conferences. Beyond it none are stored.
	maxHourBytes = 16 << 20
	// hourRows is the number of hours that one statement reads.
	hourRows = 6
)

// hourBodies compresses the counts of an hour. It is safe for concurrent use.
var hourBodies = envelope.New(maxHourBytes)

// Hours implements storage.Reader. Columns that are damaged are left out.
func (l Lists) Hours(ctx context.Context, from, to time.Time, yield func(hour time.Time, columns []byte) bool) error {
	end := to.UnixMilli()
	for next := floorHour(from.UnixMilli()); next < end; {
		page, err := l.hours(ctx, next, end)
		if err != nil {
			return l.db.Wrap("read hours", err)
		}
		for i := range page {
			columns, err := hourBodies.Open(page[i].body)
			if err == nil && !yield(frames.FromMs(page[i].start), columns) {
				return nil
			}
		}
		if len(page) < hourRows {
			return nil
		}
		next = page[len(page)-1].start + hourMs
	}
	return nil
}

// hour is a row of the table hour.
type hour struct {
	start, mark int64
	marked      bool // without columns
	body        []byte
}

func (l Lists) hours(ctx context.Context, from, to int64) (page []hour, err error) {
	err = l.db.Read(ctx, func(tx Tx) error {
		page, err = All(tx, func(row Row) (h hour, err error) {
			err = row.Scan(&h.start, &h.body)
			return h, err
		}, `SELECT start_ms, body FROM {table hour} WHERE start_ms >= ? AND start_ms < ? AND length(body) > 0 ORDER BY start_ms LIMIT ?`, from, to, hourRows)
		return err
	})
	return page, err
}

func floorHour(ms int64) int64 { return ms - ms%hourMs }

// HourWriter is the functions of an engine that the columns of hours need.
type HourWriter struct {
	// Write runs statements in one transaction.
	Write func(ctx context.Context, write func(Tx) error) error
	// Settle waits until all current write transactions have ended.
	Settle func(ctx context.Context) error
}

// Hours implements storage.HourMaker.
//
// First it commits a mark, a row without a body. Later changes of a conference of the hour delete the row. A
// transaction that changed one before the commit may not have seen the mark, but has ended before the digests are
// read. The columns are written only if the row with the same mark still exists.
type Hours struct {
	db     DB
	writer HourWriter
}

var _ storage.HourMaker = (*Hours)(nil)

// NewHours returns the Hours of a store.
func NewHours(db DB, writer HourWriter) *Hours { return &Hours{db, writer} }

// MakeHours implements storage.HourMaker.
func (h *Hours) MakeHours(ctx context.Context, before time.Time) (made int, err error) {
	marked, missing, err := h.readMarks(ctx, floorHour(before.UnixMilli()))
	if err == nil && len(marked) > 0 {
		err = h.writer.Settle(ctx)
	}
	for i := len(marked) - 1; i >= 0 && err == nil; i-- { // newest first: most pages show the newest hours
		var done bool
		if done, err = h.build(ctx, marked[i]); done {
			made++
		}
	}
	if err == nil && len(missing) > 0 {
		err = h.mark(ctx, missing)
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return made, h.db.Wrap("make hours", err)
	}
	return made, nil
}

// readMarks returns the marked hours before a time, and the newest hours without a row. It deletes the rows
// of hours that are too old.
func (h *Hours) readMarks(ctx context.Context, before int64) (marked []hour, missing []int64, err error) {
	var first int64
	var found bool
	var rows []hour
	err = h.db.Read(ctx, func(tx Tx) error {
		if found, err = One(tx, []any{&first}, `SELECT start_ms FROM {table conference} ORDER BY start_ms LIMIT 1`); err != nil {
			return err
		}
		rows, err = All(tx, func(row Row) (h hour, err error) {
			err = row.Scan(&h.start, &h.mark, &h.marked)
			return h, err
		}, `SELECT start_ms, mark, body IS NULL FROM {table hour} ORDER BY start_ms`)
		return err
	})
	if err != nil || !found {
		return nil, nil, err
	}
	first = max(floorHour(first), before-maxHours*hourMs, 0)
	if len(rows) > 0 && rows[0].start < first {
		err = h.writer.Write(ctx, func(tx Tx) error {
			_, err := tx.Exec(`DELETE FROM {table hour} WHERE start_ms < ?`, first)
			return err
		})
	}
	existing := make(map[int64]bool, len(rows))
	for _, r := range rows {
		existing[r.start] = true
		if r.marked && r.start >= first && r.start < before {
			marked = append(marked, r)
		}
	}
	for at := before - hourMs; at >= first && len(missing) < newHours; at -= hourMs {
		if !existing[at] {
			missing = append(missing, at)
		}
	}
	return marked, missing, err
}

func (h *Hours) mark(ctx context.Context, hours []int64) error {
	return h.writer.Write(ctx, func(tx Tx) error {
		for _, at := range hours {
			mark := rand.Int64() //nolint:gosec // not a secret
			if _, err := tx.Exec(`INSERT INTO {table hour} (start_ms, mark) VALUES (?, ?) ON CONFLICT DO NOTHING`, at, mark); err != nil {
				return err
			}
		}
		return nil
	})
}

// build reads the digests of a marked hour and writes its columns, if the mark still exists.
func (h *Hours) build(ctx context.Context, marked hour) (bool, error) {
	var b digest.Builder
	err := h.db.View(ctx, func(tx Tx) (err error) {
		b = digest.Builder{}
		p := newDigestPage(storage.DigestQuery{From: frames.FromMs(marked.start), To: frames.FromMs(marked.start + hourMs)})
		for more := true; more; {
			if more, err = p.read(tx); err != nil {
				return err
			}
			for i := range p.rows {
				d := p.digest(i)
				b.Add(d.AppID, d.Start, d.Body)
			}
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	body, err := hourBodies.Seal(b.Columns().Encode())
	if err != nil {
		body = []byte{} // too long
	}
	var made bool
	err = h.writer.Write(ctx, func(tx Tx) error {
		changed, err := tx.Exec(`UPDATE {table hour} SET body = ? WHERE start_ms = ? AND mark = ? AND body IS NULL`, body, marked.start, marked.mark)
		made = changed == 1 && len(body) > 0
		return err
	})
	if err != nil {
		return false, err // the write may still be under way
	}
	return made, nil
}
