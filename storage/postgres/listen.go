package postgres

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/follow"
	"github.com/qosrtc/qos/storage/internal/group"
)

const (
	// lookEvery is how often the listener asks the server who is there, of those that it knows from before or that have started since. It
	// finds out by that whether its own connection is.
	lookEvery = 10 * time.Second
	// lookTimeout bounds the answer.
	lookTimeout = 5 * time.Second
	maxBackOff  = 10 * time.Second
)

// Follow implements storage.Follower. It takes one more connection, from the first call to
// Close; while the server cannot be reached, changes wait for it. A CatchUp also comes when
// a collector has gone, for it may have committed changes that it did not send.
func (s *Store) Follow(ctx context.Context, f storage.Filter, yield func(storage.Change) bool) error {
	if err := s.listener.ready(ctx); err != nil {
		return s.wrap("follow", err)
	}
	if err := s.listener.hub.Follow(ctx, f, yield); err != nil {
		return s.wrap("follow", err)
	}
	return nil
}

// Following returns how many of this process follow the store now, and how often one was so
// slow that what waited for it became a CatchUp.
func (s *Store) Following() (followers int, overflows int64) {
	return s.listener.hub.Followers(), s.listener.hub.Overflows()
}

// listener hears what all collectors commit and hands it to the followers of this one.
type listener struct {
	config *pgx.ConnConfig
	every  time.Duration
	hub    *follow.Hub
	there  map[int64]bool // collectors, of run

	mu     sync.Mutex
	begun  bool
	closed bool
	tried  chan struct{} // closed when the first connection was made, or could not be
	stop   context.CancelFunc
	wg     sync.WaitGroup
}

func newListener(config *pgx.ConnConfig, every time.Duration) *listener {
	return &listener{config: config, every: every, hub: follow.NewHub(), tried: make(chan struct{})}
}

// ready begins to listen, where nobody did yet.
func (l *listener) ready(ctx context.Context) error {
	l.mu.Lock()
	if !l.begun && !l.closed {
		l.begun = true
		mine, stop := context.WithCancel(context.Background())
		l.stop = stop
		l.wg.Go(func() { l.run(mine) })
	}
	tried, closed := l.tried, l.closed
	l.mu.Unlock()
	if closed {
		return group.ErrClosed
	}
	select {
	case <-tried:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends all followers.
func (l *listener) close() {
	l.hub.Close(group.ErrClosed)
	l.mu.Lock()
	l.closed = true
	if l.begun {
		l.stop()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// run listens until ctx ends, on one connection after the other.
func (l *listener) run(ctx context.Context) {
	tried := sync.OnceFunc(func() { close(l.tried) })
	for failures := 0; ctx.Err() == nil; failures++ {
		if conn, err := l.connect(ctx); err == nil {
			failures = 0
			tried()
			l.listen(ctx, conn)
			closing, cancel := context.WithTimeout(context.Background(), lookTimeout)
			_ = conn.Close(closing)
			cancel()
		}
		tried()
		sleep(ctx, backOff(failures))
	}
}

// connect makes a connection that listens. Notifications before it are a gap.
func (l *listener) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	l.hub.Gap()
	return conn, nil
}

// listen passes notifications on until the connection is lost or ctx ends.
func (l *listener) listen(ctx context.Context, conn *pgx.Conn) {
	l.there = map[int64]bool{}
	for due := time.Now(); ; {
		if time.Until(due) <= 0 {
			now, err := l.collectors(ctx, conn)
			if err != nil {
				return
			}
			if gone(l.there, now) {
				l.hub.Gap()
			}
			l.there, due = now, time.Now().Add(l.every)
		}
		if err := l.hear(ctx, conn, due); err != nil {
			return
		}
	}
}

// hear waits for one message, until it is time to look.
func (l *listener) hear(ctx context.Context, conn *pgx.Conn, due time.Time) error {
	wait, cancel := context.WithDeadline(ctx, due)
	defer cancel()
	n, err := conn.WaitForNotification(wait)
	if err != nil {
		if ctx.Err() == nil && wait.Err() != nil && !conn.IsClosed() {
			return nil
		}
		return err
	}
	if number, ok := startedNumber(n.Payload); ok {
		l.there[number] = true
	} else if changes, ok := decodeChanges(n.Payload); ok {
		l.hub.Publish(changes)
	} else {
		l.hub.Gap()
	}
	return nil
}

// collectors returns who is there: each holds a lock on its number (lockCollector).
func (l *listener) collectors(ctx context.Context, conn *pgx.Conn) (map[int64]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	numbers, err := collect[int64](conn.Query(ctx, `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1
		AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockCollector))
	there := make(map[int64]bool, len(numbers))
	for _, n := range numbers {
		there[n] = true
	}
	return there, err
}

// gone says whether one who was there is not any more.
func gone(before, now map[int64]bool) bool {
	for n := range before {
		if !now[n] {
			return true
		}
	}
	return false
}

// backOff is how long to wait after a number of failures in a row: up to 10 s, and not all
// collectors as long.
func backOff(failures int) time.Duration {
	longest := min(100*time.Millisecond<<min(failures, 10), maxBackOff)
	return longest/2 + rand.N(longest/2) //nolint:gosec // not a secret
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
