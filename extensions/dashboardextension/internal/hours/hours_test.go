package hours

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is digests in order of their start, and a tail of its changes.
type store struct {
	mu      sync.Mutex
	digests []storage.Digest
	made    map[int64][]byte // columns of hours
	read    []storage.DigestQuery
	during  func() // called while a query is answered, after its rows were read
	err     error
	changes chan storage.Change
	follows int
}

func (s *store) Digests(_ context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	s.mu.Lock()
	s.read = append(s.read, q)
	var found []storage.Digest
	for _, d := range s.digests {
		if (q.AppID == "" || q.AppID == d.AppID) && !d.Start.Before(q.From) && d.Start.Before(q.To) {
			found = append(found, d)
		}
	}
	err, during := s.err, s.during
	s.mu.Unlock()
	if during != nil {
		during()
	}
	for _, d := range found {
		if !yield(d) {
			return nil
		}
	}
	return err
}

func (s *store) Hours(_ context.Context, from, to time.Time, yield func(time.Time, []byte) bool) error {
	s.mu.Lock()
	made := maps.Clone(s.made)
	s.mu.Unlock()
	for _, ms := range slices.Sorted(maps.Keys(made)) {
		if at := time.UnixMilli(ms); !at.Before(from) && at.Before(to) && !yield(at, made[ms]) {
			break
		}
	}
	return nil
}

// make makes the columns of an hour, which the next change of it removes.
func (s *store) make(hour time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b digest.Builder
	for _, d := range s.digests {
		if d.Start.Truncate(time.Hour).Equal(hour) {
			b.Add(d.AppID, d.Start, d.Body)
		}
	}
	if s.made == nil {
		s.made = map[int64][]byte{}
	}
	s.made[hour.UnixMilli()] = b.Columns().Encode()
}

func (s *store) Follow(ctx context.Context, _ storage.Filter, yield func(storage.Change) bool) error {
	s.mu.Lock()
	s.follows++
	s.mu.Unlock()
	for c := (storage.Change{CatchUp: true}); yield(c); {
		select {
		case next, ok := <-s.changes:
			if !ok {
				return errors.New("the store is away")
			}
			c = next
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (s *store) add(app string, at time.Time, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := digest.Digest{Outcome: outcome}
	body := d.Encode()
	if outcome == "" {
		body = nil
	}
	s.digests = append(s.digests, storage.Digest{AppID: app, Start: at, Body: body})
	delete(s.made, at.Truncate(time.Hour).UnixMilli())
	slices.SortStableFunc(s.digests, func(a, b storage.Digest) int { return a.Start.Compare(b.Start) })
}

func (s *store) queries() []storage.DigestQuery {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { s.read = nil }()
	return s.read
}

// change reports a commit of the app shop.
func (s *store) change(from, to time.Time) { s.changeOf("shop", from, to) }

func (s *store) changeOf(app string, from, to time.Time) {
	s.changes <- storage.Change{AppID: app, From: from, To: to, Summary: true}
	synctest.Wait()
}

// begin returns Hours that follow the store, and a time at the start of an hour.
func begin(t *testing.T) (*Hours, *store, time.Time) {
	t.Helper()
	s := &store{changes: make(chan storage.Change)}
	h := New(s, s, time.Now)
	t.Cleanup(h.Close)
	at := time.Now().UTC().Truncate(time.Hour).Add(-24 * time.Hour)
	count(t, h, at.Add(-100*time.Hour), at.Add(-99*time.Hour)) // begins to follow
	synctest.Wait()
	s.queries()
	return h, s, at
}

func count(t *testing.T, h *Hours, from, to time.Time, apps ...string) Series {
	t.Helper()
	series, err := h.Count(t.Context(), apps, from, to)
	require.NoError(t, err)
	return series
}

func perPoint(s Series) (out []int) {
	for _, p := range s.Points {
		out = append(out, p.Totals.Conferences)
	}
	return out
}

// Whole hours are read once; the parts at both ends each time.
func TestCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		half := 30 * time.Minute
		for i := range 6 {
			s.add("shop", at.Add(time.Duration(i)*time.Hour+45*time.Minute), "success")
		}
		s.add("desk", at.Add(time.Hour), "dropped")
		s.add("desk", at.Add(2*time.Hour-time.Millisecond), "")
		got := count(t, h, at.Add(half), at.Add(4*time.Hour+half))
		require.Equal(t, []int{1, 3, 1, 1, 0}, perPoint(got))
		require.Equal(t, []int{6, 1, 1}, []int{got.Total.Conferences, got.Total.Failed, got.Total.WithoutSummary})
		require.Equal(t, []time.Time{at.Add(half), at.Add(time.Hour)}, []time.Time{got.Points[0].At, got.Points[1].At})
		require.Equal(t, []storage.DigestQuery{{From: at, To: at.Add(5 * time.Hour)}}, s.queries(), "in one pass, by whole hours")

		require.Equal(t, got, count(t, h, at.Add(half), at.Add(4*time.Hour+half)))
		require.Empty(t, s.queries(), "parts of hours are counted of their columns")

		require.Equal(t, []int{1, 3}, perPoint(count(t, h, at, at.Add(2*time.Hour), "shop", "desk")))
		require.Equal(t, []int{0, 2}, perPoint(count(t, h, at, at.Add(2*time.Hour), "desk")))
		require.Equal(t, []storage.DigestQuery{{AppID: "shop", From: at, To: at.Add(2 * time.Hour)}, {AppID: "desk", From: at, To: at.Add(2 * time.Hour)}}, s.queries(), "each app has its own counts")
		require.Equal(t, []string{"desk", "shop"}, (&got).Apps(5))
		require.Equal(t, []string{"shop"}, (&got).Apps(1))
	})
}

// A commit removes the hours of its times, of its app and of all apps, and no others.
func TestChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		day := func(apps ...string) { count(t, h, at, at.Add(4*time.Hour), apps...) }
		day()
		day("shop", "desk")
		s.queries()
		s.add("shop", at.Add(90*time.Minute), "success")
		s.change(at.Add(90*time.Minute), at.Add(2*time.Hour))
		require.Equal(t, []int{0, 1, 0, 0}, perPoint(count(t, h, at, at.Add(4*time.Hour))))
		day("shop", "desk")
		hours := func(app string) storage.DigestQuery {
			return storage.DigestQuery{AppID: app, From: at.Add(time.Hour), To: at.Add(3 * time.Hour)}
		}
		require.Equal(t, []storage.DigestQuery{hours(""), hours("shop")}, s.queries())
		s.changes <- storage.Change{CatchUp: true}
		synctest.Wait()
		day()
		require.Len(t, s.queries(), 1)
		s.change(at.Add(-48*time.Hour), at)
		day()
		require.Len(t, s.queries(), 1, "a conference of days removes all")
	})
}

// Counts that a commit changed while they were read are not kept.
func TestChangeDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		s.during = func() {
			s.add("shop", at.Add(time.Minute), "success")
			s.change(at.Add(time.Minute), at.Add(2*time.Minute))
		}
		require.Equal(t, []int{0, 0}, perPoint(count(t, h, at, at.Add(2*time.Hour))))
		s.during = nil
		require.Equal(t, []int{1, 0}, perPoint(count(t, h, at, at.Add(2*time.Hour))))
		require.Equal(t, storage.DigestQuery{From: at, To: at.Add(time.Hour)}, s.queries()[1], "the other hour is kept")
	})
}

// Nothing is kept that is not followed, that is old, or that nobody asks for.
func TestNotKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		one := func() int {
			count(t, h, at, at.Add(time.Hour))
			synctest.Wait()
			return len(s.queries())
		}
		require.Equal(t, []int{1, 0}, []int{one(), one()})
		time.Sleep(maxAge / 2)
		require.Zero(t, one())
		time.Sleep(maxAge/2 + time.Second)
		require.Equal(t, []int{1, 0, 1}, []int{one(), one(), s.follows}, "old counts are read again")
		time.Sleep(maxIdle + time.Second)
		synctest.Wait()
		require.Nil(t, h.kept.hours)
		require.Zero(t, h.kept.columns.bytes)
		require.Equal(t, []int{1, 0, 0, 2}, []int{one(), one(), one(), s.follows}, "the tail ended with the requests, and begins with the next")
		close(s.changes)
		synctest.Wait()
		s.changes = make(chan storage.Change)
		require.Equal(t, []int{1, 0, 0, 3}, []int{one(), one(), one(), s.follows}, "after the store was away all is read again")
	})
}

func TestFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		s.err = errors.New("locked")
		_, err := h.Count(t.Context(), nil, at, at.Add(time.Hour))
		require.ErrorIs(t, err, s.err)
		s.err = nil
		require.Zero(t, count(t, h, at, at.Add(time.Hour)).Total.Conferences)
		require.Len(t, s.queries(), 2, "what failed is not kept")

		ctx, cancel := context.WithCancel(t.Context())
		s.during = cancel
		_, err = h.Count(ctx, nil, at.Add(time.Hour), at.Add(2*time.Hour))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestKeptIsBounded(t *testing.T) {
	k := kept{follows: true}
	for i := range int64(maxKept + 10) {
		k.put(key{"app", i}, &overview.Totals{}, 0, time.Now())
	}
	require.Len(t, k.hours, 10)
	at := time.Unix(0, 0)
	for i := range maxKept + 10 {
		k.change(&storage.Change{From: at.Add(time.Duration(i) * time.Hour), To: at.Add(time.Duration(i) * time.Hour)})
	}
	require.Less(t, len(k.changed), 20)
}
