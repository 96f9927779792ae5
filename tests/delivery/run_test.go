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
}

// newRun starts a collector with an empty store.
func newRun(t *testing.T, length time.Duration) *run {
	t.Helper()
	r := &run{t: t, length: length, store: t.TempDir(), seed: harness.Setting(t, "QOS_DELIVERY_SEED", time.Now().UnixNano())}
	r.length *= time.Duration(harness.Setting(t, "QOS_DELIVERY_TIMES", 1))
	t.Logf("QOS_DELIVERY_SEED=%d", r.seed)
	r.collector = harness.NewCollector(t, harness.Options{Storage: harness.SQLite(r.store)})
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
	load, cancel := context.WithTimeout(r.t.Context(), r.length)
	defer cancel()
	drain, cancelDrain := context.WithTimeout(r.t.Context(), r.length+2*harness.Patience)
	defer cancelDrain()
	errs := make([]error, len(r.clients))
	var running sync.WaitGroup
	for i, c := range r.clients {
		running.Go(func() { errs[i] = c.Run(load, drain) })
	}
	if fault != nil {
		fault(load)
	}
	running.Wait()
	for _, err := range errs {
		require.NoError(r.t, err)
	}
}

// balance stops the collector and balances the account.
func (r *run) balance() harness.Ledger {
	r.t.Helper()
	r.collector.Stop()
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
