package hours

import (
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// key is an hour of an app; the app "" is all apps.
type key struct {
	app string
	ms  int64 // when the hour begins
}

// counted is the counts of an hour.
type counted struct {
	totals *overview.Totals
	at     time.Time // when they were read
}

// kept is the counts of whole hours that no later commit has changed, and the columns of some. The zero value keeps none
// until follows is set.
type kept struct {
	hours   map[key]counted
	columns cache
	follows bool   // commits are followed
	clock   uint64 // number of changes so far
	all     uint64 // clock of the last change of all hours
	changed map[int64]uint64
}

func (k *kept) get(of key, now time.Time) *overview.Totals {
	c, ok := k.hours[of]
	if !ok || now.Sub(c.at) > maxAge {
		return nil
	}
	return c.totals
}

// unchanged reports whether what was read of an hour since a clock may be kept.
func (k *kept) unchanged(of key, began uint64) bool {
	return k.follows && k.all <= began && k.changed[of.ms] <= began
}

// putColumns is put for columns.
func (k *kept) putColumns(of key, c *digest.Columns, began uint64, now time.Time) {
	if k.unchanged(of, began) {
		k.columns.put(of, c, now)
	}
}

// put keeps counts whose reading began at a clock, unless a commit changed them since.
func (k *kept) put(of key, totals *overview.Totals, began uint64, now time.Time) {
	if !k.unchanged(of, began) {
		return
	}
	if k.hours == nil || len(k.hours) >= maxKept {
		k.hours = map[key]counted{}
	}
	k.hours[of] = counted{totals, now}
}

// change removes what a commit changed: the hours of the conference's times, for all apps and for its own.
func (k *kept) change(c *storage.Change) {
	from, to := c.From.Truncate(time.Hour), c.To.Truncate(time.Hour)
	if c.CatchUp || to.Sub(from) > 24*time.Hour || len(k.changed) >= maxKept {
		k.clear()
		return
	}
	k.clock++
	if k.changed == nil {
		k.changed = map[int64]uint64{}
	}
	for at := from; !at.After(to); at = at.Add(time.Hour) {
		ms := at.UnixMilli()
		k.changed[ms] = k.clock
		for _, of := range []key{{"", ms}, {c.AppID, ms}} {
			delete(k.hours, of)
			k.columns.remove(of)
		}
	}
}

func (k *kept) clear() {
	k.clock++
	k.all, k.hours, k.changed, k.columns = k.clock, nil, nil, cache{}
}
