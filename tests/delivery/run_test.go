package delivery

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// run is one load on one collector.
type run struct {
	t         *testing.T
	seed      int64
	length    time.Duration
	store     string // directory
	collector *harness.Collector
	clients   []*harness.Client
	stopped   func() // what there is to do before the store is read; may be nil
}

// newRun starts a collector with an empty store.
func newRun(t *testing.T, length time.Duration) *run {
	t.Helper()
	store := t.TempDir()
	return newRunOn(t, length, store, harness.Options{Storage: harness.SQLite(store)})
}

// newRunOn is newRun with a store that is found at a path after the run.
func newRunOn(t *testing.T, length time.Duration, store string, o harness.Options) *run {
	t.Helper()
	r := &run{t: t, length: length, store: store, seed: harness.Setting(t, "QOS_DELIVERY_SEED", time.Now().UnixNano())}
	r.length *= time.Duration(harness.Setting(t, "QOS_DELIVERY_TIMES", 1))
	t.Logf("QOS_DELIVERY_SEED=%d", r.seed)
	r.collector = harness.NewCollector(t, o)
	r.collector.Start()
	return r
}

// add makes n clients with the same habits, which use urls or, without, the collector's.
func (r *run) add(n int, habits harness.Habits, urls ...string) {
	if len(urls) == 0 {
		urls = []string{r.collector.URL()}
	}
	for range n {
		r.clients = append(r.clients, harness.NewClient(urls, r.seed, len(r.clients), habits))
	}
}

// load runs the clients for the length of the run, with fault beside them, and waits
// until each has drained.
func (r *run) load(fault func(ctx context.Context)) {
	r.t.Helper()
	r.loadUntil(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, r.length)
		defer cancel()
		if fault != nil {
			fault(ctx)
		}
		<-ctx.Done()
	})
}

// loadUntil runs the clients until fault returns and each has made a frame, and waits until each has drained.
func (r *run) loadUntil(fault func(ctx context.Context)) {
	r.t.Helper()
	load, cancel := context.WithCancel(r.t.Context())
	defer cancel()
	drain, cancelDrain := context.WithCancel(r.t.Context())
	defer cancelDrain()
	errs := make([]error, len(r.clients))
	var running sync.WaitGroup
	for i, c := range r.clients {
		running.Go(func() { errs[i] = c.Run(load, drain) })
	}
	fault(load)
	for _, c := range r.clients {
		require.Eventually(r.t, func() bool { return c.Made() > 0 }, harness.Patience, time.Millisecond, "a client on a busy machine")
	}
	cancel()
	end := time.AfterFunc(2*harness.Patience, cancelDrain)
	defer end.Stop()
	running.Wait()
	for _, err := range errs {
		require.NoError(r.t, err)
	}
}

// balance stops the collector and balances the account.
func (r *run) balance() harness.Ledger {
	r.t.Helper()
	r.collector.Stop()
	if r.stopped != nil {
		r.stopped()
	}
	sum := harness.Check(r.t, r.clients, harness.ReadSQLite(r.t, r.store))
	cuts, posts, slowed := 0, 0, 0
	for _, c := range r.clients {
		require.NotEmpty(r.t, c.Frames())
		cuts, posts, slowed = cuts+c.Cuts, posts+c.Posts, slowed+c.Slowed
	}
	require.Zero(r.t, sum.Open, "the clients drained")
	r.t.Logf("%d connections, %d posts, %d slow-downs", cuts, posts, slowed)
	return sum
}
