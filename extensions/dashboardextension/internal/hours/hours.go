package hours

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxAge bounds the age of counts: deletions by retention are no commits that Follow reports.
	maxAge = 10 * time.Minute
	// maxIdle is the time after the last request after which nothing is kept or followed any more.
	maxIdle = 10 * time.Minute
	// maxReads is how many requests read at once: the overview counts two times.
	maxReads = 2
	// followWait is how long the first request waits for the tail of commits, without which it keeps nothing.
	followWait = time.Second
	// maxKept bounds the hours that are kept, of all apps together: some 4 kB each.
	maxKept = 20_000
)

// Reader is what Hours reads.
type Reader interface {
	Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error
	Hours(ctx context.Context, from, to time.Time, yield func(hour time.Time, columns []byte) bool) error
}

// Hours reads and counts conferences. It is safe for concurrent use.
type Hours struct {
	reader   Reader
	follower storage.Follower
	now      func() time.Time

	reading chan struct{} // taken by who reads: others wait, and find what was read

	mu   sync.Mutex
	kept kept
	stop context.CancelFunc // ends the tail of commits; nil: nothing is followed
	idle *time.Timer        // calls stop a time after the last request
	tail chan struct{}      // closed when the tail has begun, or has ended
	wg   sync.WaitGroup
}

// New returns Hours that count what reader reads. Close ends it.
func New(reader Reader, follower storage.Follower, now func() time.Time) *Hours {
	return &Hours{reader: reader, follower: follower, now: now, reading: make(chan struct{}, maxReads)}
}

// Close ends the tail of commits and waits for it.
func (h *Hours) Close() {
	h.mu.Lock()
	if h.stop != nil {
		h.stop()
	}
	h.mu.Unlock()
	h.wg.Wait()
}

// Series is the counts of a time.
type Series struct {
	Total  overview.Totals
	Points []Point // by hour, ascending; the first and the last may be a part of an hour
}

// Point is the counts of an hour. Its Totals are shared: nobody changes them.
type Point struct {
	At     time.Time // when the hour, or the part of it, begins
	Totals *overview.Totals
}

// Count counts the conferences of some apps that started in [from, to). No apps: those of all apps.
func (h *Hours) Count(ctx context.Context, apps []string, from, to time.Time) (Series, error) {
	var all Series
	err := h.request(ctx, apps, func(app string) error {
		points, err := h.count(ctx, app, from, to)
		if err == nil {
			all.add(points)
		}
		return err
	})
	if err != nil {
		return Series{}, err
	}
	for _, p := range all.Points {
		all.Total.Merge(p.Totals)
	}
	return all, nil
}

// request calls read for each app when it is its turn and commits are followed.
func (h *Hours) request(ctx context.Context, apps []string, read func(app string) error) error {
	if len(apps) == 0 {
		apps = []string{""}
	}
	select {
	case h.reading <- struct{}{}:
		defer func() { <-h.reading }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h.use(ctx)
	for _, app := range apps {
		if err := read(app); err != nil {
			return err
		}
	}
	return nil
}

// add merges the points of one more app, which are at the same times.
func (s *Series) add(points []Point) {
	if s.Points == nil {
		s.Points = points
		return
	}
	for i := range points {
		merged := &overview.Totals{}
		merged.Merge(s.Points[i].Totals)
		merged.Merge(points[i].Totals)
		s.Points[i].Totals = merged
	}
}

// count returns a point for each hour. Counts of whole hours are kept; those of the parts at both ends are counted anew.
func (h *Hours) count(ctx context.Context, app string, from, to time.Time) ([]Point, error) {
	times := split(from, to)
	points := make([]Point, len(times))
	missing, at := make([]time.Time, 0, len(times)), make([]int, 0, len(times))
	h.mu.Lock()
	began := h.kept.clock
	for i, begin := range times {
		points[i].At = begin
		if whole(times, i, to) {
			points[i].Totals = h.kept.get(key{app, begin.UnixMilli()}, h.now())
		}
		if points[i].Totals == nil {
			missing, at = append(missing, begin.Truncate(time.Hour)), append(at, i)
		}
	}
	h.mu.Unlock()
	err := h.columns(ctx, app, missing, func(i int, c *digest.Columns) {
		p := &points[at[i]]
		p.Totals = &overview.Totals{}
		first, end := c.Between(p.At, endOf(times, at[i], to))
		p.Totals.AddColumns(c, first, end)
		if whole(times, at[i], to) {
			h.mu.Lock()
			h.kept.put(key{app, p.At.UnixMilli()}, p.Totals, began, h.now())
			h.mu.Unlock()
		}
	})
	return points, err
}

// split returns when the hours in [from, to) begin; the first is from.
func split(from, to time.Time) (hours []time.Time) {
	for at := from; at.Before(to); at = at.Truncate(time.Hour).Add(time.Hour) {
		hours = append(hours, at)
	}
	return hours
}

func endOf(hours []time.Time, i int, to time.Time) time.Time {
	if i+1 < len(hours) {
		return hours[i+1]
	}
	return to
}

func whole(hours []time.Time, i int, to time.Time) bool {
	return endOf(hours, i, to).Sub(hours[i]) == time.Hour
}

// Apps returns the most frequent apps of a series, by name.
func (s *Series) Apps(most int) []string {
	top, _ := s.Total.Apps.Top(most)
	names := make([]string, len(top))
	for i := range top {
		names[i] = top[i].Value
	}
	slices.Sort(names)
	return names
}
