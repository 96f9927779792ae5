package join

import (
	"math"
	"strings"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

// UnattachedRows is how many rows are read of one entry of the list: as many as have the
// records that are listed, and one.
const UnattachedRows = storage.MaxUnattachedRecords + 1

// Unattached is an entry of the list of unattached annotations, with the engine's keys.
type Unattached struct {
	storage.Unattached
	Key, Place, SessionKey int64
}

// UnattachedWhere returns the conditions, the order and the limit of a list as SQL over a
// table u, and their arguments in the order of the question marks. It asks for one entry more
// than CutUnattached leaves.
func UnattachedWhere(q storage.UnattachedQuery, text func(string) any) (where string, args []any) {
	var c condition
	if q.AppID != "" {
		c.add("u.app_id = ?", text(q.AppID))
	}
	if !q.From.IsZero() {
		c.add("u.conference_at >= ?", frames.CeilMs(q.From))
	}
	if !q.To.IsZero() {
		c.add("u.conference_at < ?", frames.CeilMs(q.To))
	}
	if q.Before != (storage.Cursor{}) {
		c.add("(u.conference_at, u.key) < (?, ?)", q.Before.Start.UnixMilli(), q.Before.Key)
	}
	if len(c.terms) > 0 {
		where = "WHERE " + strings.Join(c.terms, " AND ")
	}
	return where + " ORDER BY u.conference_at DESC, u.key DESC LIMIT ?", append(c.args, limited(q.Limit)+1)
}

// CutUnattached returns the entries of one page, and where the next begins.
func CutUnattached(found []Unattached, q storage.UnattachedQuery) (page []Unattached, next storage.Cursor) {
	limit := limited(q.Limit)
	if len(found) <= limit {
		return found, next
	}
	last := &found[limit-1]
	return found[:limit], storage.Cursor{Start: last.At, Key: last.Key}
}

// From is the position before all records of the entry.
func (*Unattached) From() frames.Position { return frames.Position{At: math.MinInt64} }

// Read returns the entry with the records of its rows, of which there are at most
// UnattachedRows. Rows that are damaged are left out.
func (u *Unattached) Read(rows []frames.ReadRow, damage *frames.Damage) storage.Unattached {
	out := u.Unattached
	frames.Records(u.ConferenceID, rows, damage, func(_ string, r storage.Record) bool {
		if out.More = len(out.Records) == storage.MaxUnattachedRecords; !out.More {
			out.Records = append(out.Records, r)
		}
		return !out.More
	})
	return out
}
