package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/follow"
)

const (
	// notifyPause is the least time between two messages: changes in between are sent together.
	notifyPause = 50 * time.Millisecond
	// notifyTimeout bounds one message, and how long Close waits for the last.
	notifyTimeout = 5 * time.Second
	// maxPending bounds the changes that wait to be sent; one more replaces them by a catchUp.
	maxPending = 4096
)

// notifier sends committed changes to every collector, this one included, by NOTIFY. It does so
// after the commit, in a transaction of its own: NOTIFY in the transaction of a write holds
// a lock of the whole server while that is made durable, so that the commits of all collectors
// would wait for each other. The others' listeners detect a collector that died before it sent
// its changes.
type notifier struct {
	pool  *pool
	pause time.Duration
	wake  chan struct{} // of length one: changes are pending
	stop  chan struct{}
	wg    sync.WaitGroup

	mu      sync.Mutex
	pending follow.Changes
	count   int  // of changes that were added to pending
	lost    bool // some changes are not known one by one
}

func startNotifier(p *pool, pause time.Duration) *notifier {
	t := &notifier{pool: p, pause: pause, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	t.wg.Go(t.run)
	return t
}

// notify adds committed changes to those that are pending. It does not wait.
func (t *notifier) notify(changes []storage.Change) {
	t.mu.Lock()
	t.count += len(changes)
	if t.count > maxPending {
		t.loseLocked()
	}
	for _, c := range changes {
		if !t.lost {
			t.pending.Add(c)
		}
	}
	waiting := t.count > 0 || t.lost
	t.mu.Unlock()
	if waiting {
		t.rouse()
	}
}

// lose replaces the pending changes by a catchUp, because others may have been committed.
func (t *notifier) lose() {
	t.mu.Lock()
	t.loseLocked()
	t.mu.Unlock()
	t.rouse()
}

func (t *notifier) loseLocked() { t.pending, t.count, t.lost = follow.Changes{}, 0, true }

func (t *notifier) rouse() {
	select {
	case t.wake <- struct{}{}:
	default: // roused already
	}
}

// run sends until close, and then what is pending.
func (t *notifier) run() {
	for failures := 0; ; {
		if !t.wait() {
			_ = t.send()
			return
		}
		pause := t.pause
		if err := t.send(); err != nil {
			t.lose()
			failures++
			pause = backOff(failures)
		} else {
			failures = 0
		}
		t.rest(pause)
	}
}

// wait reports whether changes are pending; false when it stops, also where both hold.
func (t *notifier) wait() bool {
	select {
	case <-t.wake:
	case <-t.stop:
	}
	select {
	case <-t.stop:
		return false
	default:
		return true
	}
}

func (t *notifier) rest(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.stop:
	}
}

// send sends the pending changes in one transaction. It does not wait for the disk: a server
// that stops has no listeners.
func (t *notifier) send() error {
	messages := t.take()
	if len(messages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	return t.pool.with(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, m) FROM unnest($2::text[]) m`,
			channel, messages)
		return err
	})
}

// take returns the messages of the pending changes.
func (t *notifier) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages := encodeChanges(t.pending.All())
	if t.lost {
		messages = []string{catchUp}
	}
	t.pending, t.count, t.lost = follow.Changes{}, 0, false
	return messages
}

// close sends what is pending and stops.
func (t *notifier) close() {
	close(t.stop)
	t.wg.Wait()
}
