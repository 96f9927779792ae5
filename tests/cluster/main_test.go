package cluster

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// withPostgres runs the tests beside a server.
type withPostgres struct{ *testing.M }

func (m withPostgres) Run() int { return postgrestest.Run(m.M) }

func TestMain(m *testing.M) { harness.VerifyMain(withPostgres{m}) }

// cluster is two collectors with one key on one database, and clients that use both.
type cluster struct {
	t          *testing.T
	server     *postgrestest.Server
	database   string
	dsn        string
	collectors []*harness.Collector
	clients    []*harness.Client
	patience   time.Duration // for clients to have all acknowledged
}

// newCluster starts two collectors with a key of their own.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	return newClusterOf(t, filepath.Join(t.TempDir(), "key"))
}

// newClusterOf starts two collectors with the key in a file, which they make where there is
// none.
func newClusterOf(t *testing.T, key string) *cluster {
	t.Helper()
	c := &cluster{t: t, server: postgrestest.Durable(t), patience: 2 * harness.Patience}
	c.dsn = c.server.Database(t)
	c.database = c.dsn[strings.LastIndexByte(c.dsn, '/')+1 : strings.IndexByte(c.dsn, '?')]
	// A user that can be refused something: qos is the server's superuser.
	c.server.Exec(t, c.database, `DO $$ BEGIN CREATE ROLE collector LOGIN; EXCEPTION WHEN duplicate_object THEN END $$`)
	c.server.Exec(t, c.database, "ALTER DATABASE "+c.database+" OWNER TO collector")
	c.dsn = strings.Replace(c.dsn, "//qos:", "//collector:", 1)
	for range 2 {
		collector := harness.NewCollector(t, harness.Options{
			Storage: harness.Postgres(c.dsn), KeyFile: key,
		})
		collector.Start() // the first makes the key and the schema
		c.collectors = append(c.collectors, collector)
	}
	return c
}

func (c *cluster) urls() []string {
	return []string{c.collectors[0].URL(), c.collectors[1].URL()}
}

// run loads the cluster with six clients, each of which goes to the other collector for its
// next connection or POST, lets act do what it does meanwhile, and balances the account.
func (c *cluster) run(act func()) {
	c.t.Helper()
	seed := harness.Setting(c.t, "QOS_CLUSTER_SEED", time.Now().UnixNano())
	length := time.Duration(harness.Setting(c.t, "QOS_CLUSTER_SECONDS", 1)) * time.Second
	c.t.Logf("QOS_CLUSTER_SEED=%d", seed)
	load, endLoad := context.WithCancel(c.t.Context())
	drain, endDrain := context.WithCancel(c.t.Context())
	defer endDrain()
	errs := make([]error, 6)
	var running sync.WaitGroup
	for i := range errs {
		client := harness.NewClient(c.urls(), seed, i, harness.Habits{PushEvery: 20 * time.Millisecond})
		c.clients = append(c.clients, client)
		running.Go(func() { errs[i] = client.Run(load, drain) })
	}
	harness.Pause(load, length)
	act()
	harness.Pause(load, length)
	endLoad()
	defer time.AfterFunc(c.patience, endDrain).Stop()
	running.Wait()
	for _, err := range errs {
		require.NoError(c.t, err)
	}
	c.balance()
}

// balance compares the store with what the clients were promised.
func (c *cluster) balance() {
	c.t.Helper()
	sum := harness.Check(c.t, c.clients, harness.ReadStore(c.t, c.open()))
	require.NotZero(c.t, sum.Taken)
	require.Zero(c.t, sum.Open)
}

// open reads the database beside the collectors.
func (c *cluster) open() *postgres.Store {
	c.t.Helper()
	store, err := postgres.Open(c.t.Context(), c.dsn, postgres.Options{})
	require.NoError(c.t, err)
	c.t.Cleanup(func() { require.NoError(c.t, store.Close()) })
	return store
}

// slowed is how often clients were asked to slow down.
func (c *cluster) slowed() (n int) {
	for _, client := range c.clients {
		n += client.Slowed
	}
	return n
}
