package frames

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/qosrtc/qos/storage"
)

// ReadRow is a row with its session's id.
type ReadRow struct {
	Session []byte
	Row
}

func (r *ReadRow) before(o *ReadRow) bool {
	if r.At != o.At {
		return r.At < o.At
	}
	if c := string(r.Session); c != string(o.Session) {
		return c < string(o.Session)
	}
	return r.Seq < o.Seq || r.Seq == o.Seq && r.Idx < o.Idx
}

// ReadPage returns the rows after from, in order of (At, Session, Seq, Idx), at most
// limit of them.
type ReadPage func(ctx context.Context, from *ReadRow, limit int) ([]ReadRow, error)

// pageRows is how many rows are read at a time. No read transaction stays open while the
// caller works on a page.
const pageRows = 256

// Records merges two orders of rows and hands out their records, until yield returns
// false.
func Records(ctx context.Context, d *Dictionary, conferenceID string, a, b ReadPage, yield func(string, storage.Record) bool) error {
	first, second := &pager{page: a}, &pager{page: b}
	for {
		x, err := first.peek(ctx)
		if err != nil {
			return err
		}
		y, err := second.peek(ctx)
		if err != nil {
			return err
		}
		from := first
		if x == nil || y != nil && y.before(x) {
			from = second
		}
		row := from.next()
		if row == nil {
			return nil
		}
		if goOn, err := row.yield(d, conferenceID, yield); !goOn {
			return err
		}
	}
}

// yield hands out the records of one row.
func (r *ReadRow) yield(d *Dictionary, conferenceID string, yield func(string, storage.Record) bool) (goOn bool, err error) {
	session := FormatUUID(r.Session)
	name, records, err := r.Decode(d)
	if err != nil {
		return false, fmt.Errorf("session %s, frame %d: %w", session, r.Seq, err)
	}
	for i, attributes := range records {
		goOn := yield(session, storage.Record{
			Seq: uint64(r.Seq), Index: r.Idx + i, ConferenceID: conferenceID, Fabric: r.Fabric, Name: name,
			ConferenceAt: FromMs(r.ConferenceAt), At: FromMs(r.At), ObservedAt: FromMs(r.ObservedAt),
			Activity: r.Activity, Attributes: attributes,
		})
		if !goOn {
			return false, nil
		}
	}
	return true, nil
}

// pager reads rows page by page.
type pager struct {
	page  ReadPage
	rows  []ReadRow
	last  ReadRow
	begun bool
	ended bool
}

// peek returns the next row, nil at the end.
func (p *pager) peek(ctx context.Context) (*ReadRow, error) {
	if len(p.rows) == 0 && !p.ended {
		if err := p.read(ctx); err != nil {
			return nil, err
		}
	}
	if len(p.rows) == 0 {
		return nil, nil //nolint:nilnil // the end is no error
	}
	return &p.rows[0], nil
}

// next takes the row that peek showed.
func (p *pager) next() *ReadRow {
	if len(p.rows) == 0 {
		return nil
	}
	row := &p.rows[0]
	p.rows = p.rows[1:]
	return row
}

func (p *pager) read(ctx context.Context) (err error) {
	from := &ReadRow{Session: []byte{}, Row: Row{Columns: Columns{At: math.MinInt64}}}
	if p.begun {
		from = &p.last
	}
	if p.rows, err = p.page(ctx, from, pageRows); err != nil {
		return err
	}
	if p.begun = len(p.rows) > 0; p.begun {
		p.last = p.rows[len(p.rows)-1]
	}
	p.ended = len(p.rows) < pageRows
	return nil
}

// FormatUUID is the reverse of storage.ParseSessionID.
func FormatUUID(id []byte) string {
	h := hex.EncodeToString(id)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// FromMs returns the time of ms since the epoch.
func FromMs(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// CeilMs rounds up to ms: a time that lies between two ms is after the first.
func CeilMs(t time.Time) int64 { return t.Add(time.Millisecond - 1).UnixMilli() }
