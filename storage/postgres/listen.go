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
	// checkInterval is how often the listener asks the server which of the known collectors still run. The query
	// also detects a lost connection.
	checkInterval = 10 * time.Second
	// checkTimeout bounds the query, LISTEN and Close of the connection.
	checkTimeout = 5 * time.Second
	maxBackOff   = 10 * time.Second
)

// Follow implements storage.Follower. The first call opens one more connection, until Close.
// While the server is unreachable, followers receive no changes. A CatchUp is also sent when
// a collector has ended, because it may have committed changes without a notification.
func (s *Store) Follow(ctx context.Context, f storage.Filter, yield func(storage.Change) bool) error {
	if err := s.listener.ready(ctx); err != nil {
		return s.wrap("follow", err)
	}
	if err := s.listener.hub.Follow(ctx, f, yield); err != nil {
		return s.wrap("follow", err)
	}
	return nil
}

// Following returns the number of followers in this process, and how many times a follower's
// queue overflowed into a CatchUp.
func (s *Store) Following() (followers int, overflows int64) {
	return s.listener.hub.Followers(), s.listener.hub.Overflows()
}

// listener receives the changes that all collectors commit and publishes them to the followers of
// this process.
type listener struct {
	config   *pgx.ConnConfig
	interval time.Duration
	hub      *follow.Hub
	running  map[int64]bool // numbers of collectors that run; used by the goroutine of run

	mu        sync.Mutex
	started   bool
	closed    bool
	attempted chan struct{} // closed after the first attempt to connect
	stop      context.CancelFunc
	wg        sync.WaitGroup
}

func newListener(config *pgx.ConnConfig, every time.Duration) *listener {
	return &listener{config: config, interval: every, hub: follow.NewHub(), attempted: make(chan struct{})}
}

// ready starts the listener if it is not running, and waits for its first attempt to connect.
func (l *listener) ready(ctx context.Context) error {
	l.mu.Lock()
	if !l.started && !l.closed {
		l.started = true
		listenCtx, stop := context.WithCancel(context.Background())
		l.stop = stop
		l.wg.Go(func() { l.run(listenCtx) })
	}
	attempted, closed := l.attempted, l.closed
	l.mu.Unlock()
	if closed {
		return group.ErrClosed
	}
	select {
	case <-attempted:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close ends all followers and the listener.
func (l *listener) close() {
	l.hub.Close(group.ErrClosed)
	l.mu.Lock()
	l.closed = true
	if l.started {
		l.stop()
	}
	l.mu.Unlock()
	l.wg.Wait()
}

// run listens until ctx ends, and reconnects after each failure.
func (l *listener) run(ctx context.Context) {
	firstAttempt := sync.OnceFunc(func() { close(l.attempted) })
	for failures := 0; ctx.Err() == nil; failures++ {
		if conn, err := l.connect(ctx); err == nil {
			failures = 0
			firstAttempt()
			l.listen(ctx, conn)
			closing, cancel := context.WithTimeout(context.Background(), checkTimeout)
			_ = conn.Close(closing)
			cancel()
		}
		firstAttempt()
		sleep(ctx, backOff(failures))
	}
}

// connect opens a connection and executes LISTEN. Earlier notifications are lost, so followers
// receive a CatchUp.
func (l *listener) connect(ctx context.Context) (*pgx.Conn, error) {
	conn, err := pgx.ConnectConfig(ctx, l.config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if _, err := conn.Exec(ctx, `LISTEN `+channel); err != nil {
		_ = conn.Close(ctx)
		return nil, err
	}
	l.hub.Gap()
	return conn, nil
}

// listen publishes notifications until the connection is lost or ctx ends.
func (l *listener) listen(ctx context.Context, conn *pgx.Conn) {
	l.running = map[int64]bool{}
	for due := time.Now(); ; {
		if time.Until(due) <= 0 {
			now, err := l.liveCollectors(ctx, conn)
			if err != nil {
				return
			}
			if anyEnded(l.running, now) {
				l.hub.Gap()
			}
			l.running, due = now, time.Now().Add(l.interval)
		}
		if err := l.receive(ctx, conn, due); err != nil {
			return
		}
	}
}

// receive handles one message. It returns nil without a message at due.
func (l *listener) receive(ctx context.Context, conn *pgx.Conn, due time.Time) error {
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
		l.running[number] = true
	} else if changes, ok := decodeChanges(n.Payload); ok {
		l.hub.Publish(changes)
	} else {
		l.hub.Gap()
	}
	return nil
}

// liveCollectors returns the numbers of the collectors that run: each holds a lock on its number (lockCollector).
func (l *listener) liveCollectors(ctx context.Context, conn *pgx.Conn) (map[int64]bool, error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	numbers, err := collect[int64](conn.Query(ctx, `SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1
		AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockCollector))
	there := make(map[int64]bool, len(numbers))
	for _, n := range numbers {
		there[n] = true
	}
	return there, err
}

// anyEnded reports whether a number of before is missing in now.
func anyEnded(before, now map[int64]bool) bool {
	for n := range before {
		if !now[n] {
			return true
		}
	}
	return false
}

// backOff returns the delay after a number of consecutive failures, at most 10 s. It is random, so that
// collectors do not retry at the same time.
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
