package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
)

// TestCollectorsDieAndRestart: sessions go on at the other collector in mid-call, also by
// POST, while both are killed in turn under load and then restarted as an operator would.
//
// spec: SRV-03
func TestCollectorsDieAndRestart(t *testing.T) {
	c := newCluster(t)
	c.run(func() {
		for round := range 4 {
			c.collectors[round%2].Kill()
			harness.Pause(t.Context(), 300*time.Millisecond)
			c.collectors[round%2].Start()
		}
		for _, collector := range c.collectors {
			collector.Stop()
			collector.Start()
		}
	})
	posts := 0
	for _, client := range c.clients {
		posts += client.Posts
		require.Greater(t, client.Cuts, 1, "it used both")
	}
	require.NotZero(t, posts)
}

// TestTheDatabaseGoesAway and comes back: stopped, killed, and frozen with its connections
// open. Clients are asked to slow down, and the collectors recover by themselves.
//
// spec: SRV-03
func TestTheDatabaseGoesAway(t *testing.T) {
	c := newCluster(t)
	const short = 2 * time.Second
	away := time.Duration(harness.Setting(t, "QOS_CLUSTER_AWAY", 2)) * time.Second
	c.patience += 2 * away // what clients kept takes its time
	c.run(func() {
		c.server.Stop()
		harness.Pause(t.Context(), away)
		require.NoError(t, c.server.Start())
		harness.Pause(t.Context(), time.Second)
		c.server.Kill()
		harness.Pause(t.Context(), short)
		require.NoError(t, c.server.Start())
		harness.Pause(t.Context(), time.Second)
		c.server.Pause()
		harness.Pause(t.Context(), short)
		c.server.Resume()
	})
	require.NotZero(t, c.slowed(), "back-pressure")
	for _, collector := range c.collectors {
		require.Equal(t, 1, collector.Starts())
	}
}

// everyTable runs a statement for each table of the collectors.
const everyTable = `DO $$ DECLARE t text; BEGIN FOR t IN
	SELECT relname FROM pg_class WHERE relname LIKE 'qos\_%%' AND relkind IN ('r', 'p') AND NOT relispartition
	LOOP EXECUTE format(%s, t); END LOOP; END $$`

// TestTheDatabaseRefuses to write, each in the way of its kind, until somebody mends it.
// Nothing is refused for good, for nothing is wrong with the frames.
//
// spec: SRV-03
func TestTheDatabaseRefuses(t *testing.T) {
	c := newCluster(t)
	reconnect := fmt.Sprintf("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '%s' AND pid <> pg_backend_pid()", c.database)
	c.server.Exec(t, c.database, `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
		RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$`)
	kinds := []struct{ name, refuse, mend string }{
		{"permission", fmt.Sprintf(everyTable, `'REVOKE INSERT, UPDATE ON %I FROM collector'`), fmt.Sprintf(everyTable, `'GRANT INSERT, UPDATE ON %I TO collector'`)},
		{"full disk", fmt.Sprintf(everyTable, `'CREATE TRIGGER full_disk BEFORE INSERT ON %I EXECUTE FUNCTION full_disk()'`), fmt.Sprintf(everyTable, `'DROP TRIGGER full_disk ON %I'`)},
		{"read-only", "ALTER DATABASE " + c.database + " SET default_transaction_read_only = on", "ALTER DATABASE " + c.database + " RESET default_transaction_read_only"},
	}
	admin := "postgres"
	c.run(func() {
		for _, kind := range kinds {
			for _, statement := range []string{kind.refuse, kind.mend} {
				database := c.database
				if kind.name == "read-only" {
					database = admin
				}
				c.server.Exec(t, database, statement)
				c.server.Exec(t, admin, reconnect)
				harness.Pause(t.Context(), time.Second)
			}
		}
	})
	require.NotZero(t, c.slowed(), "back-pressure")
	for _, collector := range c.collectors {
		require.Equal(t, 1, collector.Starts())
	}
}

// beside is what stands beside the store: an exporter that nobody answers, with the queue
// that it must have (docs/adr/0006), and one that counts.
const beside = `
exporters:
  otlphttp: {endpoint: "http://%s", sending_queue: {enabled: true, queue_size: 1000000}, retry_on_failure: {enabled: false}}
  qostimeseries: {endpoint: %q}
service:
  pipelines:
    logs: {exporters: [qosstore, otlphttp, qostimeseries]}
`

// TestAnotherExporterFails: what the store took is acknowledged.
//
// spec: SRV-03
func TestAnotherExporterFails(t *testing.T) {
	extra := filepath.Join(t.TempDir(), "beside.yaml")
	scrape := harness.FreeAddress(t)
	require.NoError(t, os.WriteFile(extra, fmt.Appendf(nil, beside, harness.FreeAddress(t), scrape), 0o600))
	directory := filepath.Join(t.TempDir(), "store")
	collector := harness.NewCollector(t, harness.Options{
		Storage:  harness.SQLite(directory),
		Launcher: []string{"/bin/sh", "-c", `exec "$@" --config ` + extra, "collector"},
	})
	collector.Start()
	load, endLoad := context.WithTimeout(t.Context(), 3*time.Second)
	defer endLoad()
	drain, endDrain := context.WithTimeout(t.Context(), 2*harness.Patience)
	defer endDrain()
	client := harness.NewClient([]string{collector.URL()}, time.Now().UnixNano(), 0, harness.Habits{Calm: true})
	require.NoError(t, client.Run(load, drain))
	require.NotZero(t, collector.Metrics().Sum("otelcol_exporter_send_failed_log_records", `exporter="otlphttp"`), "it fails")
	collector.Stop()
	sum := harness.Check(t, []*harness.Client{client}, harness.ReadSQLite(t, directory))
	require.NotZero(t, sum.Taken)
	require.Zero(t, sum.Open)
}
