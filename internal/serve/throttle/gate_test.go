package throttle

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func sortTimes(times []time.Time) { slices.SortFunc(times, time.Time.Compare) }

// A class that floods leaves places and room to others.
func TestGateLeavesPlaces(t *testing.T) {
	g := NewGate(4, 8)
	f := func(key Key, want error, waits bool) chan struct{} {
		t.Helper()
		ready, err := g.enter(key, false)
		require.Equal(t, want, err)
		require.Equal(t, waits, ready != nil)
		return ready
	}
	f(1, nil, false)
	f(1, nil, false)
	first := f(1, nil, true) // two places are free, but it has two
	for range 3 {
		f(1, nil, true)
	}
	f(1, ErrFull, false) // it has half of the queue
	f(2, nil, false)     // another one finds places
	f(3, nil, false)
	second := f(2, nil, true)
	fourth := f(4, nil, true) // and room where there is no place
	require.EqualValues(t, 6, g.Waiting())

	g.Leave(3) // the free place is for who has none
	<-fourth
	g.Leave(4)
	require.False(t, isClosed(first), "it has two places, and one is free")
	require.False(t, isClosed(second), "it has one, and no more are free")
	g.Leave(1)
	<-first
	require.False(t, isClosed(second))
	g.Leave(1)
	<-second
}

// Classes that wait come in turns, however many of each there are.
func TestGateTakesTurns(t *testing.T) {
	g := NewGate(2, 1000)
	_, err := g.enter(9, false)
	require.NoError(t, err)
	var order []Key
	waiting := map[Key][]chan struct{}{}
	for key, n := range []int{1: 100, 2: 3, 3: 3} {
		for range n {
			key := Key(key)
			ready, err := g.enter(key, false)
			require.NoError(t, err)
			if ready == nil { // the one place that was free
				order = append(order, key)
				continue
			}
			waiting[key] = append(waiting[key], ready)
		}
	}
	for len(order) < 1+9 {
		g.Leave(order[len(order)-1])
		for key, queue := range waiting {
			if len(queue) > 0 && isClosed(queue[0]) {
				order, waiting[key] = append(order, key), queue[1:]
			}
		}
	}
	for _, key := range []Key{1, 2, 3} {
		n := 0
		for _, turn := range order[1:] {
			if turn == key {
				n++
			}
		}
		require.Equal(t, 3, n, "%v", order)
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Whatever comes and goes: no more are in than there are places, nobody waits who might go
// in, a class without anybody in finds a free place at once, and nothing is left in the end.
func TestGateProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := gateModel{Gate: NewGate(rapid.IntRange(2, 6).Draw(t, "places"), rapid.IntRange(1, 12).Draw(t, "room"))}
		t.Repeat(map[string]func(*rapid.T){"enter": m.tryToEnter, "leave": m.someLeave, "give up": m.someGiveUp})
		for len(m.in) > 0 {
			m.leave(t, 0)
		}
		if m.busy != 0 || m.waiting != 0 || len(m.classes) != 0 || len(m.turns) != 0 || len(m.queue) != 0 {
			t.Fatalf("left behind: %+v", m.Gate)
		}
	})
}

// gateModel is a gate and who is known to be in, or to wait.
type gateModel struct {
	*Gate
	in    []Key
	queue []gateWaiter
}

type gateWaiter struct {
	key   Key
	ready chan struct{}
}

// settle takes in those who were let in.
func (m *gateModel) settle(t *rapid.T) {
	m.queue = slices.DeleteFunc(m.queue, func(w gateWaiter) bool {
		if isClosed(w.ready) {
			m.in = append(m.in, w.key)
			return true
		}
		return false
	})
	consistent(t, m.Gate, len(m.in), len(m.queue))
}

func (m *gateModel) tryToEnter(t *rapid.T) {
	key := Key(rapid.IntRange(1, 5).Draw(t, "key"))
	free := m.slots - m.busy
	_, known := m.classes[key]
	ready, err := m.enter(key, false)
	switch {
	case err != nil && m.waiting == 0:
		t.Fatal("refused by an empty queue")
	case !known && free > 0 && (err != nil || ready != nil):
		t.Fatal("a class with nobody in was held up though places are free")
	case err == nil && ready == nil:
		m.in = append(m.in, key)
	case err == nil:
		m.queue = append(m.queue, gateWaiter{key, ready})
	}
	m.settle(t)
}

func (m *gateModel) someLeave(t *rapid.T) {
	if len(m.in) == 0 {
		t.Skip()
	}
	m.leave(t, rapid.IntRange(0, len(m.in)-1).Draw(t, "who"))
}

func (m *gateModel) leave(t *rapid.T, n int) {
	m.Leave(m.in[n])
	m.in = slices.Delete(m.in, n, n+1)
	m.settle(t)
}

func (m *gateModel) someGiveUp(t *rapid.T) {
	if len(m.queue) == 0 {
		t.Skip()
	}
	n := rapid.IntRange(0, len(m.queue)-1).Draw(t, "who")
	m.cancel(m.queue[n].key, m.queue[n].ready)
	m.queue = slices.Delete(m.queue, n, n+1)
	m.settle(t)
}

func consistent(t *rapid.T, g *Gate, in, queued int) {
	if g.busy != in || g.busy > g.slots || g.waiting != queued || g.waiting > g.room {
		t.Fatalf("%d in (of %d, reported %d), %d wait (of %d, reported %d)", in, g.slots, g.busy, queued, g.room, g.waiting)
	}
	for _, c := range g.turns {
		if g.admits(c) {
			t.Fatal("somebody waits who might go in")
		}
		if len(c.queue) == 0 {
			t.Fatal("a class has a turn and nobody for it")
		}
	}
	if len(g.classes) > in+queued {
		t.Fatal("a class is kept that has nobody here")
	}
}

func TestGateContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(2, 4)
		require.NoError(t, g.Enter(t.Context(), 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, g.Enter(ctx, 1), ErrFull, "it has waited as long as it may")
		canceled, end := context.WithCancel(t.Context())
		end()
		require.ErrorIs(t, g.Enter(canceled, 1), context.Canceled)
		require.Zero(t, g.Waiting())
		require.NoError(t, g.Enter(t.Context(), 2), "the place that nobody took is free")

		// Let in and given up in the same moment: the place goes on.
		next := make(chan struct{})
		ready, err := g.enter(1, false)
		require.NoError(t, err)
		var entered error
		go func() { defer close(next); entered = g.Enter(context.Background(), 1) }()
		synctest.Wait()
		g.Leave(1)
		<-ready
		g.cancel(1, ready)
		<-next
		require.NoError(t, entered)
		g.Leave(1)
		g.Leave(2)
		require.Empty(t, g.classes)
	})
}

func TestGateIsSafeForConcurrentUse(t *testing.T) {
	g := NewGate(3, 1000)
	var in, most atomic.Int64
	var wg sync.WaitGroup
	for n := range 40 {
		wg.Go(func() {
			for i := range 50 {
				ctx, cancel := context.WithCancel(context.Background())
				if i%5 == 0 {
					cancel()
				}
				if g.Enter(ctx, Key(n%7)) == nil {
					most.Store(max(most.Load(), in.Add(1)))
					in.Add(-1)
					g.Leave(Key(n % 7))
				}
				cancel()
			}
		})
	}
	wg.Wait()
	require.LessOrEqual(t, most.Load(), int64(3))
	require.Empty(t, g.classes)
	require.Zero(t, g.Waiting())
}

func TestGateWithoutQueueAllocatesNothing(t *testing.T) {
	g, ctx := NewGate(4, 4), t.Context()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		if g.Enter(ctx, 1) == nil {
			g.Leave(1)
		}
	}))
}
