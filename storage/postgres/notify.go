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
	// notifyPause is the minimum time between two transactions of send: changes in between are merged.
	notifyPause = 50 * time.Millisecond
	// notifyTimeout bounds one transaction, and so how long Close waits for the last one.
	notifyTimeout = 5 * time.Second
	// maxPending bounds the pending changes; when it is exceeded, a catchUp replaces them.
	maxPending = 4096
)

// notifier sends committed changes to every collector, this one included, by NOTIFY. It does so
// after the commit, in a separate transaction: NOTIFY in the transaction of a write holds
// a lock of the whole server until the commit is durable, so that the commits of all collectors
// would be serial. Listeners of other collectors detect that a collector crashed before it sent
// its changes.
type notifier struct {
	pool  *pool
	pause time.Duration
	wake  chan struct{} // capacity 1: changes are pending
	stop  chan struct{}
	wg    sync.WaitGroup

	mu      sync.Mutex
	pending follow.Changes
	count   int  // number of notified changes, before pending merged them
	catchUp bool // send a catchUp instead of pending
}

func startNotifier(p *pool, pause time.Duration) *notifier {
	t := &notifier{pool: p, pause: pause, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	t.wg.Go(t.run)
	return t
}

// notify adds committed changes to the pending ones. It does not block.
func (t *notifier) notify(changes []storage.Change) {
	t.mu.Lock()
	t.count += len(changes)
	if t.count > maxPending {
		t.requestCatchUpLocked()
	}
	for _, c := range changes {
		if !t.catchUp {
			t.pending.Add(c)
		}
	}
	waiting := t.count > 0 || t.catchUp
	t.mu.Unlock()
	if waiting {
		t.wakeUp()
	}
}

// requestCatchUp replaces the pending changes by a catchUp, for changes that are not known one by one.
func (t *notifier) requestCatchUp() {
	t.mu.Lock()
	t.requestCatchUpLocked()
	t.mu.Unlock()
	t.wakeUp()
}

func (t *notifier) requestCatchUpLocked() { t.pending, t.count, t.catchUp = follow.Changes{}, 0, true }

func (t *notifier) wakeUp() {
	select {
	case t.wake <- struct{}{}:
	default: // a wake-up is pending
	}
}

// run sends pending changes until close, then once more.
func (t *notifier) run() {
	for failures := 0; ; {
		if !t.wait() {
			_ = t.send()
			return
		}
		pause := t.pause
		if err := t.send(); err != nil {
			t.requestCatchUp()
			failures++
			pause = backOff(failures)
		} else {
			failures = 0
		}
		t.sleep(pause)
	}
}

// wait reports whether changes are pending; false after close.
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

func (t *notifier) sleep(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.stop:
	}
}

// send sends the pending changes in one transaction. It does not wait until the commit is durable:
// if the server crashes, all its listeners are disconnected.
func (t *notifier) send() error {
	messages := t.take()
	if len(messages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	return t.pool.withConn(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, m) FROM unnest($2::text[]) m`,
			channel, messages)
		return err
	})
}

// take returns the pending changes as messages and clears them.
func (t *notifier) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages := encodeChanges(t.pending.All())
	if t.catchUp {
		messages = []string{catchUp}
	}
	t.pending, t.count, t.catchUp = follow.Changes{}, 0, false
	return messages
}

// close sends the pending changes and stops.
func (t *notifier) close() {
	close(t.stop)
	t.wg.Wait()
}
