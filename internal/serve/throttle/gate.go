package throttle

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull means that too many callers of a class wait for a gate, or that the caller's deadline passed.
var ErrFull = errors.New("too many wait already")

// Gate admits a bounded number of callers at once, and the classes of waiting callers in turns.
// Shadows are classes that take nothing from others: each is admitted and waits as if it were the
// only shadow, and does not count for any other class. Safe for concurrent use.
type Gate struct {
	slots int // callers at work at once, without shadows
	room  int // callers that may wait, without shadows

	mu      sync.Mutex
	busy    int            // callers at work, without shadows
	waiting int            // callers that wait, without shadows
	shadows int            // callers of shadows that wait
	classes map[Key]*class // those with callers at work or in the queue
	turns   []*class       // classes with callers in the queue, the next one first
	spare   []*class       // for reuse, so that a gate without a queue allocates nothing
}

// class is the state of one class at a gate.
type class struct {
	key    Key
	shadow bool
	busy   int
	queue  []chan struct{} // one channel for each caller that waits; closed when it is admitted
}

// maxSpare bounds the classes that are kept for reuse.
const maxSpare = 64

// NewGate returns a gate that admits slots callers at once, at least 2, while room others may wait.
func NewGate(slots, room int) *Gate {
	return &Gate{slots: max(2, slots), room: max(1, room), classes: make(map[Key]*class)}
}

// Enter waits until the caller is admitted; the caller must then call Leave with the same key. It
// returns ErrFull if the queue is full or the deadline of ctx passes, and the error of ctx if it is
// canceled: a canceled caller is not to blame for the length of the queue.
func (g *Gate) Enter(ctx context.Context, key Key) error { return g.await(ctx, key, false) }

// EnterShadow is Enter for a shadow. No class that is not a shadow may have the key.
func (g *Gate) EnterShadow(ctx context.Context, key Key) error { return g.await(ctx, key, true) }

func (g *Gate) await(ctx context.Context, key Key, shadow bool) error {
	ready, err := g.enter(key, shadow)
	if ready == nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		g.cancel(key, ready)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ErrFull
		}
		return ctx.Err()
	}
}

// enter admits a caller, or adds it to the queue: then it returns a channel that is closed when
// the caller is admitted.
func (g *Gate) enter(key Key, shadow bool) (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.class(key, shadow)
	if len(c.queue) == 0 && g.admits(c) {
		g.work(c, 1)
		return nil, nil
	}
	if !g.hasRoom(c) {
		g.dropIdle(c)
		return nil, ErrFull
	}
	ready := make(chan struct{})
	if len(c.queue) == 0 {
		g.turns = append(g.turns, c)
	}
	c.queue = append(c.queue, ready)
	g.wait(c, 1)
	return ready, nil
}

// admits reports whether one more caller of a class may work: the class has fewer at work than
// slots are free.
func (g *Gate) admits(c *class) bool {
	busy := g.busy
	if c.shadow {
		busy += c.busy
	}
	return c.busy < g.slots-busy
}

// hasRoom reports whether one more caller of a class may wait: fewer of the class wait than the
// queue has room for.
func (g *Gate) hasRoom(c *class) bool {
	waiting := g.waiting
	if c.shadow {
		waiting += len(c.queue)
	}
	return len(c.queue) < g.room-waiting
}

// work adds n to the callers at work.
func (g *Gate) work(c *class, n int) {
	c.busy += n
	if !c.shadow {
		g.busy += n
	}
}

// wait adds n to the callers in the queue.
func (g *Gate) wait(c *class, n int) {
	if c.shadow {
		g.shadows += n
	} else {
		g.waiting += n
	}
}

// class returns the class of a key, a new one if there is none.
func (g *Gate) class(key Key, shadow bool) *class {
	if c, ok := g.classes[key]; ok {
		return c
	}
	c := g.newClass()
	c.key, c.shadow = key, shadow
	g.classes[key] = c
	return c
}

// newClass returns an unused class.
func (g *Gate) newClass() *class {
	last := len(g.spare) - 1
	if last < 0 {
		return new(class)
	}
	c := g.spare[last]
	g.spare = g.spare[:last]
	return c
}

// dropIdle drops a class without callers.
func (g *Gate) dropIdle(c *class) {
	if c.busy > 0 || len(c.queue) > 0 {
		return
	}
	delete(g.classes, c.key)
	if len(g.spare) < maxSpare {
		g.spare = append(g.spare, c)
	}
}

// Leave ends the work of an admitted caller.
func (g *Gate) Leave(key Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(g.classes[key])
}

func (g *Gate) leave(c *class) {
	g.work(c, -1)
	for g.admitNext() { // until no waiting caller is admitted
	}
	g.dropIdle(c)
}

// admitNext admits the first caller of the next class that may work, and reports whether there was
// one. It passes over at most as many classes as there are slots, beside shadows.
func (g *Gate) admitNext() bool {
	turn := 0
	for turn < len(g.turns) && !g.admits(g.turns[turn]) {
		turn++
	}
	if turn == len(g.turns) {
		return false
	}
	c := g.turns[turn]
	g.turns = slices.Delete(g.turns, turn, turn+1)
	close(c.queue[0])
	c.queue = slices.Delete(c.queue, 0, 1)
	if len(c.queue) > 0 {
		g.turns = append(g.turns, c)
	}
	g.wait(c, -1)
	g.work(c, 1)
	return true
}

// cancel removes a caller from the queue, or ends its work if it was admitted meanwhile.
func (g *Gate) cancel(key Key, ready chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.classes[key]
	at := slices.Index(c.queue, ready)
	if at < 0 {
		g.leave(c)
		return
	}
	g.wait(c, -1)
	c.queue = slices.Delete(c.queue, at, at+1)
	if len(c.queue) == 0 {
		g.turns = slices.DeleteFunc(g.turns, func(other *class) bool { return other == c })
	}
	g.dropIdle(c)
}

// Waiting returns the number of callers in the queue.
func (g *Gate) Waiting() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int64(g.waiting + g.shadows)
}
