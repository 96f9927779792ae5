package follow

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func second(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }

func change(app, conference string, from, to, records int) storage.Change {
	return storage.Change{AppID: app, ConferenceID: conference, From: second(from), To: second(to), Records: records}
}

var catchUp = storage.Change{CatchUp: true}

// slow is a follower that takes a change when the test says so.
type slow struct {
	step chan struct{}
	got  chan storage.Change
	end  chan error
}

func follow(ctx context.Context, h *Hub, filter storage.Filter) *slow {
	s := &slow{step: make(chan struct{}), got: make(chan storage.Change), end: make(chan error, 1)}
	go func() {
		s.end <- h.Follow(ctx, filter, func(c storage.Change) bool {
			s.got <- c
			_, more := <-s.step
			return more
		})
	}()
	return s
}

// take returns the next change and lets the follower go on.
func (s *slow) take() storage.Change {
	c := <-s.got
	s.step <- struct{}{}
	return c
}

// idle reports that nothing waits, once all goroutines rest.
func (s *slow) idle(t *testing.T) {
	t.Helper()
	synctest.Wait()
	select {
	case c := <-s.got:
		require.Failf(t, "not idle", "%+v", c)
	default:
	}
}

func TestMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		s := follow(t.Context(), h, storage.Filter{})
		require.Equal(t, catchUp, <-s.got) // and is busy with it
		summary := storage.Change{AppID: "a", ConferenceID: "x", From: second(-5), To: second(3), Summary: true}
		h.Publish([]storage.Change{change("a", "x", 2, 4, 3), change("a", "y", 0, 0, 1)})
		h.Publish([]storage.Change{change("b", "x", 7, 7, 1), summary, change("a", "x", 9, 9, 2)})
		h.Publish([]storage.Change{{AppID: "a", ConferenceID: "duplicates"}})
		s.step <- struct{}{}
		want := change("a", "x", -5, 9, 5)
		want.Summary = true
		require.Equal(t, want, s.take())
		require.Equal(t, change("a", "y", 0, 0, 1), s.take())
		require.Equal(t, change("b", "x", 7, 7, 1), s.take())
		s.idle(t)
		h.Publish([]storage.Change{change("a", "x", 10, 10, 1)})
		require.Equal(t, change("a", "x", 10, 10, 1), <-s.got)
		close(s.step) // the follower has had enough
		require.NoError(t, <-s.end)
		require.Zero(t, h.Followers())
	})
}

func TestFilter(t *testing.T) {
	for _, c := range []struct {
		filter storage.Filter
		want   []storage.Change
	}{
		{storage.Filter{AppID: "a"}, []storage.Change{change("a", "x", 0, 0, 1), change("a", "X", 0, 0, 1)}},
		{storage.Filter{ConferenceID: "x"}, []storage.Change{change("a", "x", 0, 0, 1), change("b", "x", 0, 0, 1)}},
		{storage.Filter{AppID: "a", ConferenceID: "x"}, []storage.Change{change("a", "x", 0, 0, 1)}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := NewHub()
			s := follow(t.Context(), h, c.filter)
			require.Equal(t, catchUp, s.take())
			synctest.Wait()
			h.Publish([]storage.Change{change("a", "x", 0, 0, 1), change("a", "X", 0, 0, 1), change("b", "x", 0, 0, 1)})
			for _, want := range c.want {
				require.Equal(t, want, s.take())
			}
			s.idle(t)
			h.Close(errors.New("over"))
			require.EqualError(t, <-s.end, "over")
		})
	}
}

// A follower that is stuck costs a bounded number of changes, and then reads anew. What
// comes while that waits is in it; what comes after is notified again.
func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		s := follow(t.Context(), h, storage.Filter{})
		require.Equal(t, catchUp, <-s.got)
		for n := range MaxWaiting {
			h.Publish([]storage.Change{change("a", strconv.Itoa(n), 0, 0, 1)})
		}
		h.Publish([]storage.Change{change("a", "0", 1, 1, 1)}) // merges: no new one
		require.Zero(t, h.Overflows())
		for n := range 3 * MaxWaiting {
			h.Publish([]storage.Change{change("b", strconv.Itoa(n), 0, 0, 1)})
		}
		require.EqualValues(t, 1, h.Overflows())
		for f := range h.followers {
			require.Empty(t, f.waiting.order)
		}
		s.step <- struct{}{}
		require.Equal(t, catchUp, <-s.got)
		h.Publish([]storage.Change{change("a", "x", 0, 0, 1)})
		s.step <- struct{}{}
		require.Equal(t, change("a", "x", 0, 0, 1), s.take())
		s.idle(t)
		h.Close(errors.New("over"))
		require.Error(t, <-s.end)
	})
}

func TestGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		one, two := follow(t.Context(), h, storage.Filter{}), follow(t.Context(), h, storage.Filter{AppID: "none"})
		require.Equal(t, catchUp, one.take())
		require.Equal(t, catchUp, two.take())
		synctest.Wait()
		h.Gap()
		require.Equal(t, catchUp, one.take())
		require.Equal(t, catchUp, <-two.got)
		h.Gap()
		h.Gap()
		two.step <- struct{}{}
		require.Equal(t, catchUp, two.take())
		two.idle(t)
		require.Equal(t, catchUp, one.take())
		one.idle(t)
		h.Close(errors.New("over"))
		require.Error(t, <-one.end)
		require.Error(t, <-two.end)
	})
}

func TestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHub()
		ctx, cancel := context.WithCancel(t.Context())
		s := follow(ctx, h, storage.Filter{})
		require.Equal(t, catchUp, s.take())
		s.idle(t)
		cancel()
		require.ErrorIs(t, <-s.end, context.Canceled)

		never := func(storage.Change) bool { panic("called") }
		require.ErrorIs(t, h.Follow(ctx, storage.Filter{}, never), context.Canceled)
		h.Close(errors.New("first"))
		h.Close(errors.New("second"))
		require.EqualError(t, h.Follow(t.Context(), storage.Filter{}, never), "first")
		h.Publish([]storage.Change{change("a", "x", 0, 0, 1)})
		h.Gap()
		require.Zero(t, h.Followers())
	})
}
