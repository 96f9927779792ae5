package throttle

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// ErrFull says that a class waits for a gate in greater number than there is room for it, or longer than the caller has time.
var ErrFull = errors.New("too many wait already")

// Gate lets a bounded number in at once, and the classes of those who wait in turns. Shadows are
// classes that take nothing from others: each is admitted and waits as if it were the only
// shadow, and is not counted for any other class. Safe for concurrent use.
type Gate struct {
	places int // at work
	room   int // in the queue

	mu      sync.Mutex
	busy    int            // without shadows
	waiting int            // without shadows
	shadows int            // of shadows that wait
	classes map[Key]*class // with somebody at work or in the queue
	turns   []*class       // with somebody in the queue, the one whose turn it is first
	spare   []*class       // for the next ones, so that a gate without a queue allocates nothing
}

// class is what one class has of a gate.
type class struct {
	key    Key
	shadow bool
	busy   int
	queue  []chan struct{} // closed where the one who waits is let in
}

// maxSpare bounds what is kept for the next classes.
const maxSpare = 64

// NewGate returns a gate with so many places, at least 2, and so much room to wait.
func NewGate(places, room int) *Gate {
	return &Gate{places: max(2, places), room: max(1, room), classes: make(map[Key]*class)}
}

// Enter waits for a place. Who is let in must Leave with the same key. It returns ErrFull
// at once where there is no room to wait and when the deadline of the context passes, and
// the error of a context that is canceled: the caller is not to blame what it would have
// done next.
func (g *Gate) Enter(ctx context.Context, key Key) error { return g.await(ctx, key, false) }

// EnterShadow is Enter for a shadow. The key must be of no other class.
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
		g.giveUp(key, ready)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return ErrFull
		}
		return ctx.Err()
	}
}

// enter takes a place, or one in the queue: then it returns what is closed when it is
// the caller's turn.
func (g *Gate) enter(key Key, shadow bool) (chan struct{}, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.class(key, shadow)
	if len(c.queue) == 0 && g.admits(c) {
		g.work(c, 1)
		return nil, nil
	}
	if !g.hasRoom(c) {
		g.forget(c)
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

// admits reports whether a class may have one more place: as long as it has fewer than
// are free.
func (g *Gate) admits(c *class) bool {
	busy := g.busy
	if c.shadow {
		busy += c.busy
	}
	return c.busy < g.places-busy
}

// hasRoom reports whether one more of a class may wait: as long as fewer of it wait than
// there is room for.
func (g *Gate) hasRoom(c *class) bool {
	waiting := g.waiting
	if c.shadow {
		waiting += len(c.queue)
	}
	return len(c.queue) < g.room-waiting
}

// work counts n more at work.
func (g *Gate) work(c *class, n int) {
	c.busy += n
	if !c.shadow {
		g.busy += n
	}
}

// wait counts n more in the queue.
func (g *Gate) wait(c *class, n int) {
	if c.shadow {
		g.shadows += n
	} else {
		g.waiting += n
	}
}

// class returns the class of a key.
func (g *Gate) class(key Key, shadow bool) *class {
	if c, ok := g.classes[key]; ok {
		return c
	}
	c := g.fresh()
	c.key, c.shadow = key, shadow
	g.classes[key] = c
	return c
}

// fresh returns a class that nobody uses.
func (g *Gate) fresh() *class {
	last := len(g.spare) - 1
	if last < 0 {
		return new(class)
	}
	c := g.spare[last]
	g.spare = g.spare[:last]
	return c
}

// forget drops a class that has nobody here.
func (g *Gate) forget(c *class) {
	if c.busy > 0 || len(c.queue) > 0 {
		return
	}
	delete(g.classes, c.key)
	if len(g.spare) < maxSpare {
		g.spare = append(g.spare, c)
	}
}

// Leave gives a place back.
func (g *Gate) Leave(key Key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.leave(g.classes[key])
}

func (g *Gate) leave(c *class) {
	g.work(c, -1)
	for g.letIn() { // whom the free places are enough for
	}
	g.forget(c)
}

// letIn gives a place to the next class that may have one, and reports whether there was
// one. At most as many classes are passed over as there are places, and shadows.
func (g *Gate) letIn() bool {
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

// giveUp leaves the queue, or the place that was given meanwhile.
func (g *Gate) giveUp(key Key, ready chan struct{}) {
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
	g.forget(c)
}

// Waiting is the number of those in the queue.
func (g *Gate) Waiting() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return int64(g.waiting + g.shadows)
}
