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
	// tellPause lies between two messages: what is committed meanwhile goes together.
	tellPause = 50 * time.Millisecond
	// tellTimeout bounds one message, and what Close waits for the last.
	tellTimeout = 5 * time.Second
	// maxUntold is how many changes may wait to be told; one more makes them a catchUp.
	maxUntold = 4096
)

// teller tells every collector what this one committed, this one included. It does so
// after the commit, in a transaction of its own: NOTIFY in the transaction of a write holds
// a lock of the whole server while that is being made durable, so that the commits of all
// collectors would wait for each other. What a collector had no time to tell before it
// died is found out by the others' listeners.
type teller struct {
	pool  *pool
	pause time.Duration
	wake  chan struct{} // of one place: there is something to tell
	stop  chan struct{}
	wg    sync.WaitGroup

	mu     sync.Mutex
	untold follow.Changes
	count  int  // of changes that were added to untold
	lost   bool // some will not be told one by one
}

func startTeller(p *pool, pause time.Duration) *teller {
	t := &teller{pool: p, pause: pause, wake: make(chan struct{}, 1), stop: make(chan struct{})}
	t.wg.Go(t.run)
	return t
}

// tell takes in what was committed. It does not wait.
func (t *teller) tell(changes []storage.Change) {
	t.mu.Lock()
	t.count += len(changes)
	if t.count > maxUntold {
		t.loseLocked()
	}
	for _, c := range changes {
		if !t.lost {
			t.untold.Add(c)
		}
	}
	waiting := t.count > 0 || t.lost
	t.mu.Unlock()
	if waiting {
		t.rouse()
	}
}

// lose says that something may have been committed that nobody can name.
func (t *teller) lose() {
	t.mu.Lock()
	t.loseLocked()
	t.mu.Unlock()
	t.rouse()
}

func (t *teller) loseLocked() { t.untold, t.count, t.lost = follow.Changes{}, 0, true }

func (t *teller) rouse() {
	select {
	case t.wake <- struct{}{}:
	default: // roused already
	}
}

// run tells until close, and then what is left.
func (t *teller) run() {
	for failures := 0; ; {
		select {
		case <-t.wake:
		case <-t.stop:
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

func (t *teller) rest(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.stop:
	}
}

// send tells what waits, in one transaction. That does not wait for the disk: a server
// that goes down has no listeners.
func (t *teller) send() error {
	messages := t.take()
	if len(messages) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), tellTimeout)
	defer cancel()
	return t.pool.with(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT set_config('synchronous_commit', 'off', true), pg_notify($1, m) FROM unnest($2::text[]) m`,
			channel, messages)
		return err
	})
}

// take returns the messages that wait.
func (t *teller) take() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	messages := encodeChanges(t.untold.All())
	if t.lost {
		messages = []string{catchUp}
	}
	t.untold, t.count, t.lost = follow.Changes{}, 0, false
	return messages
}

// close tells what is left and stops.
func (t *teller) close() {
	close(t.stop)
	t.wg.Wait()
}
