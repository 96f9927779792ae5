package hours

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/qosrtc/qos/internal/overview"
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
}

// Hours counts conferences. It is safe for concurrent use.
type Hours struct {
	reader   Reader
	follower storage.Follower
	now      func() time.Time

	reading chan struct{} // taken by who reads: others wait, and find what was read

	mu   sync.Mutex
	kept kept
	used time.Time          // of the last request
	stop context.CancelFunc // ends the tail of commits; nil: nothing is followed
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
	if len(apps) == 0 {
		apps = []string{""}
	}
	select {
	case h.reading <- struct{}{}:
		defer func() { <-h.reading }()
	case <-ctx.Done():
		return Series{}, ctx.Err()
	}
	h.use(ctx)
	var all Series
	for _, app := range apps {
		points, err := h.count(ctx, app, from, to)
		if err != nil {
			return Series{}, err
		}
		all.add(points)
	}
	for _, p := range all.Points {
		all.Total.Merge(p.Totals)
	}
	return all, nil
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

// count returns a point for each hour: those that are kept, and those between, which are read in one pass each.
func (h *Hours) count(ctx context.Context, app string, from, to time.Time) ([]Point, error) {
	points := split(from, to)
	h.mu.Lock()
	began := h.kept.clock
	for i := range points {
		points[i].Totals = h.kept.get(key{app, points[i].At.UnixMilli()}, whole(points, i, to), h.now())
	}
	h.mu.Unlock()
	for i := 0; i < len(points); {
		if points[i].Totals != nil {
			i++
			continue
		}
		next := i + 1
		for next < len(points) && points[next].Totals == nil {
			next++
		}
		if err := h.read(ctx, app, points[i:next], end(points, next-1, to)); err != nil {
			return nil, err
		}
		h.mu.Lock()
		for k := i; k < next; k++ {
			if whole(points, k, to) {
				h.kept.put(key{app, points[k].At.UnixMilli()}, points[k].Totals, began, h.now())
			}
		}
		h.mu.Unlock()
		i = next
	}
	return points, nil
}

// split returns the hours in [from, to), without counts.
func split(from, to time.Time) (points []Point) {
	for at := from; at.Before(to); at = at.Truncate(time.Hour).Add(time.Hour) {
		points = append(points, Point{At: at})
	}
	return points
}

func end(points []Point, i int, to time.Time) time.Time {
	if i+1 < len(points) {
		return points[i+1].At
	}
	return to
}

func whole(points []Point, i int, to time.Time) bool {
	return end(points, i, to).Sub(points[i].At) == time.Hour
}

// read counts the conferences of points, which are next to each other.
func (h *Hours) read(ctx context.Context, app string, points []Point, to time.Time) error {
	for i := range points {
		points[i].Totals = &overview.Totals{}
	}
	var counter counter
	i := 0
	err := h.reader.Digests(ctx, storage.DigestQuery{AppID: app, From: points[0].At, To: to}, func(d storage.Digest) bool {
		for i+1 < len(points) && !d.Start.Before(points[i+1].At) {
			i++
		}
		counter.add(points[i].Totals, &d)
		return ctx.Err() == nil
	})
	if err == nil {
		err = ctx.Err()
	}
	return err
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
