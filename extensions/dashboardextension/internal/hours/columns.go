package hours

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

const (
	// runHours is how many hours one query reads at most. Queries of one request run beside each other.
	runHours = 6
	// maxQueries bounds the queries of one request that run at a time.
	maxQueries = 4
	// window is how many hours of columns a request holds at a time, besides those that are kept.
	window = 24
)

// Each calls yield with the conferences that started in [from, to), of some apps one after the other, in order of start.
// No apps: those of all apps. Those without a summary are among them.
func (h *Hours) Each(ctx context.Context, apps []string, from, to time.Time, yield func(c *digest.Columns, first, end int)) error {
	return h.request(ctx, apps, func(app string) error {
		for hours := split(from.Truncate(time.Hour), to); len(hours) > 0; hours = hours[min(window, len(hours)):] {
			some := hours[:min(window, len(hours))]
			all := make([]*digest.Columns, len(some))
			if err := h.columns(ctx, app, some, func(i int, c *digest.Columns) { all[i] = c }); err != nil {
				return err
			}
			for _, c := range all {
				first, end := c.Between(from, to)
				yield(c, first, end)
			}
		}
		return nil
	})
}

// columns calls found once for each of some hours, ascending, of an app: several at once, with columns that are kept or
// that it reads.
func (h *Hours) columns(ctx context.Context, app string, hours []time.Time, found func(i int, c *digest.Columns)) error {
	kept := make([]*digest.Columns, len(hours))
	h.mu.Lock()
	began := h.kept.clock
	for i, at := range hours {
		kept[i] = h.kept.columns.get(key{app, at.UnixMilli()}, h.now())
	}
	h.mu.Unlock()
	runs := make([]run, 0, len(hours))
	for i, c := range kept {
		last := len(runs) - 1
		switch {
		case c != nil:
			found(i, c)
		case last >= 0 && runs[last].continues(hours, i):
			runs[last].n++
		default:
			runs = append(runs, run{i, 1})
		}
	}
	return each(ctx, runs, func(ctx context.Context, r run) error {
		return h.read(ctx, app, hours[r.first:r.first+r.n], func(i int, c *digest.Columns) {
			h.mu.Lock()
			h.kept.putColumns(key{app, hours[r.first+i].UnixMilli()}, c, began, h.now())
			h.mu.Unlock()
			found(r.first+i, c)
		})
	})
}

// run is some hours that follow each other.
type run struct{ first, n int }

// continues reports whether hour i belongs to the run.
func (r run) continues(hours []time.Time, i int) bool {
	return r.n < runHours && i == r.first+r.n && hours[i].Sub(hours[i-1]) == time.Hour
}

// each calls f for all runs, some at a time, until one fails.
func each(ctx context.Context, runs []run, f func(context.Context, run) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(len(runs), maxQueries, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(runs) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := f(ctx, runs[i]); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// read reads hours that follow each other, and calls found once for each of them, first for those whose columns are stored.
func (h *Hours) read(ctx context.Context, app string, hours []time.Time, found func(i int, c *digest.Columns)) error {
	have := make([]bool, len(hours))
	end := hours[len(hours)-1].Add(time.Hour)
	err := h.reader.Hours(ctx, hours[0], end, func(hour time.Time, columns []byte) bool {
		i := int(hour.Sub(hours[0]) / time.Hour)
		c, err := digest.DecodeColumns(columns)
		if err != nil { // written by another version of this program
			return ctx.Err() == nil
		}
		if app != "" {
			c = c.Of(app)
		}
		have[i] = true
		found(i, c)
		return ctx.Err() == nil
	})
	for first := 0; first < len(hours) && err == nil; first++ {
		if have[first] {
			continue
		}
		last := first
		for last+1 < len(hours) && !have[last+1] {
			last++
		}
		err = h.readDigests(ctx, app, hours[first:last+1], func(i int, c *digest.Columns) { found(first+i, c) })
		first = last
	}
	return errors.Join(err, ctx.Err())
}

// readDigests reads hours that follow each other in one query, and calls found for each of them, ascending.
func (h *Hours) readDigests(ctx context.Context, app string, hours []time.Time, found func(i int, c *digest.Columns)) error {
	var b digest.Builder
	i := 0
	q := storage.DigestQuery{AppID: app, From: hours[0], To: hours[len(hours)-1].Add(time.Hour)}
	err := h.reader.Digests(ctx, q, func(d storage.Digest) bool {
		for i+1 < len(hours) && !d.Start.Before(hours[i+1]) {
			found(i, b.Columns())
			i++
		}
		b.Add(d.AppID, d.Start, d.Body)
		return ctx.Err() == nil
	})
	if err = errors.Join(err, ctx.Err()); err != nil {
		return err
	}
	for ; i < len(hours); i++ {
		found(i, b.Columns())
	}
	return nil
}
