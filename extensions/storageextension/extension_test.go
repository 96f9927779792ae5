package storageextension

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/storageextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/postgres"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

func newStore(t *testing.T, directory string, keep time.Duration, telemetry *componenttest.Telemetry, dsn ...string) *store {
	t.Helper()
	cfg := createDefaultConfig().(*Config)
	cfg.Directory, cfg.Retention = directory, keep
	for _, dsn := range dsn {
		cfg.Postgres = &postgresConfig{DSN: configopaque.String(dsn)}
	}
	require.NoError(t, xconfmap.Validate(cfg))
	e, err := create(t.Context(), metadatatest.NewSettings(telemetry), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e.(*store)
}

func newTelemetry(t *testing.T) *componenttest.Telemetry {
	t.Helper()
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	return telemetry
}

func record(at time.Time) []storage.Batch {
	return []storage.Batch{{
		Session: storage.Session{ID: "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", AppID: "app"},
		Records: []storage.Record{{Seq: uint64(at.UnixMilli()), ConferenceID: "call", ConferenceAt: at, At: at, ObservedAt: at, Activity: true}},
	}}
}

func TestLifecycle(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "new", "dir")
	e := newStore(t, directory, time.Hour, newTelemetry(t))
	require.Nil(t, e.Writer(), "a nil interface, not a nil inside one")
	require.Nil(t, e.Reader())
	require.Nil(t, e.Follower())
	require.Nil(t, e.Settings())
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	info, err := os.Stat(directory)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	now := time.Now().Truncate(time.Millisecond).UTC()
	done, err := e.Writer().Append(t.Context(), record(now))
	require.NoError(t, err)
	require.Equal(t, storage.Appended{New: 1}, done)
	page, err := e.Reader().Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	require.Equal(t, now, page.Conferences[0].Start)

	revision, err := e.Settings().PutSetting(t.Context(), storage.Setting{Kind: "k", ID: "a", Body: []byte("1")})
	require.NoError(t, err)
	require.EqualValues(t, 1, revision)

	second := newStore(t, directory, 0, newTelemetry(t))
	require.ErrorContains(t, second.Start(t.Context(), componenttest.NewNopHost()), "open already")

	require.NoError(t, e.Shutdown(t.Context()))
	require.NoError(t, e.Shutdown(t.Context()), "twice")
	third := newStore(t, directory, 0, newTelemetry(t))
	require.NoError(t, third.Start(t.Context(), componenttest.NewNopHost()))
	done, err = third.Writer().Append(t.Context(), record(now))
	require.NoError(t, err)
	require.Equal(t, storage.Appended{Duplicates: 1}, done)
}

// A live page that opens is counted, and one that goes is not any more.
func TestFollowersAreCounted(t *testing.T) {
	telemetry := newTelemetry(t)
	e := newStore(t, t.TempDir(), 0, telemetry)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	count := func(n int64) {
		t.Helper()
		metadatatest.AssertEqualQosstorageFollowers(t, telemetry, []metricdata.DataPoint[int64]{{Value: n}}, metricdatatest.IgnoreTimestamp())
	}
	count(0)
	require.NoError(t, e.Follower().Follow(t.Context(), storage.Filter{}, func(storage.Change) bool {
		count(1)
		return false
	}))
	count(0)
	metadatatest.AssertEqualQosstorageFollowOverflows(t, telemetry, []metricdata.DataPoint[int64]{{Value: 0}}, metricdatatest.IgnoreTimestamp())
}

func TestStartFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	e := newStore(t, filepath.Join(file, "sub"), 0, newTelemetry(t))
	require.ErrorContains(t, e.Start(t.Context(), componenttest.NewNopHost()), "directory: ")
}

// The database that the configuration names is the one that is tried; the error does not
// contain its password.
func TestPostgresFails(t *testing.T) {
	e := newStore(t, "", time.Hour, newTelemetry(t), "postgres://qos:very-secret@127.0.0.1:1/calls?sslmode=disable")
	err := e.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, "store 127.0.0.1:1/calls: open: ")
	require.NotContains(t, err.Error(), "very-secret")
	require.Nil(t, e.Writer())
	require.NotContains(t, fmt.Sprintf("%+v", e.cfg.Postgres), "very-secret")
}

// A store that is made by the extension has as many hash partitions as its configuration says, and
// keeps them under another configuration.
//
// spec: SRV-03, CONF-01
func TestHashPartitions(t *testing.T) {
	t.Parallel()
	server := postgrestest.Own(t)
	partitions := func(dsn string, configured int) (conferences, frames int) {
		t.Helper()
		e := newStore(t, "", time.Hour, newTelemetry(t), dsn)
		e.cfg.Postgres.HashPartitions = configured
		require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
		_, err := e.Writer().Append(t.Context(), record(time.Now()))
		require.NoError(t, err)
		require.NoError(t, e.Shutdown(t.Context()))
		conn, err := pgx.Connect(t.Context(), dsn)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(context.Background())) }()
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FILTER (WHERE c.relname = 'qos_conference'), count(*) FILTER (WHERE c.relname ~ '^qos_frame_[0-9]+$')
			FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent WHERE c.relkind = 'p'`).Scan(&conferences, &frames))
		return conferences, frames
	}
	for configured, want := range map[int]int{0: 0, 5: 5} {
		dsn := server.Database(t)
		for _, later := range []int{configured, 3} {
			conferences, frames := partitions(dsn, later)
			require.Equal(t, want, conferences, "%d, opened with %d", configured, later)
			require.Equal(t, want, frames, "%d, opened with %d", configured, later)
		}
	}
}

func TestRetentionDeletes(t *testing.T) {
	directory, telemetry := t.TempDir(), newTelemetry(t)
	now := time.Now()
	e := newStore(t, directory, 0, newTelemetry(t))
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	for _, at := range []time.Time{now.Add(-49 * time.Hour), now.Add(-47 * time.Hour)} {
		_, err := e.Writer().Append(t.Context(), record(at))
		require.NoError(t, err)
	}
	require.NoError(t, e.Shutdown(t.Context()))

	e = newStore(t, directory, 48*time.Hour, telemetry)
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	require.Eventually(t, func() bool {
		page, err := e.Reader().Conferences(t.Context(), storage.Query{})
		return err == nil && len(page.Conferences) == 1
	}, time.Minute, time.Millisecond)
	require.NoError(t, e.Shutdown(t.Context()))
	metadatatest.AssertEqualQosstorageDeletedConferences(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
}

// TestWritesThatNobodyWaitsFor: what a write does after its caller has gone, nobody reads (the race detector says so).
func TestWritesThatNobodyWaitsFor(t *testing.T) {
	e := newStore(t, t.TempDir(), 0, newTelemetry(t))
	require.NoError(t, e.Start(t.Context(), componenttest.NewNopHost()))
	now := time.Now()
	point := storage.Point{AppID: "app", ConferenceID: "call", ID: "a", Start: now, End: now, RecordedAt: now, Body: []byte("{}")}
	writes := map[string]func(context.Context) (bool, error){
		"append": func(ctx context.Context) (bool, error) {
			added, err := e.Writer().Append(ctx, record(now))
			return added == storage.Appended{}, err
		},
		"setting": func(ctx context.Context) (bool, error) {
			revision, err := e.Settings().PutSetting(ctx, storage.Setting{Kind: "app", ID: "a", ChangedAt: now, Body: []byte("{}")})
			return revision == 0, err
		},
		"points": func(ctx context.Context) (bool, error) {
			added, err := e.Notices().AddPoints(ctx, []storage.Point{point})
			return added == 0, err
		},
	}
	for name, write := range writes {
		gone := 0
		for i := range 400 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*5*time.Microsecond)
			nothing, err := write(ctx)
			if errors.Is(err, context.DeadlineExceeded) {
				require.True(t, nothing, name)
				gone++
			}
			cancel()
		}
		require.Positive(t, gone, name)
	}
}

// fakeKeeper takes down when it was called, and fails.
type fakeKeeper struct {
	deleted, packed, hours []time.Time
}

func (k *fakeKeeper) DeleteAppBefore(context.Context, string, time.Time) (int, error) { return 0, nil }

func (k *fakeKeeper) DeleteBefore(_ context.Context, t time.Time) (int, error) {
	k.deleted = append(k.deleted, t)
	return 2, errors.New("once more")
}

func (k *fakeKeeper) Pack(_ context.Context, t time.Time) (storage.Packed, error) {
	k.packed = append(k.packed, t)
	return storage.Packed{Conferences: 1, Records: 10, Bytes: 300}, errors.New("once more")
}

func (k *fakeKeeper) MakeHours(_ context.Context, t time.Time) (int, error) {
	k.hours = append(k.hours, t)
	return 3, errors.New("once more")
}

// All go on after a failure, which is counted beside what was done.
func TestHousekeeping(t *testing.T) {
	telemetry := newTelemetry(t)
	s := newStore(t, t.TempDir(), 24*time.Hour, telemetry)
	synctest.Test(t, func(t *testing.T) {
		start, k := time.Now(), &fakeKeeper{}
		s.keep(k)
		time.Sleep(2*time.Hour + time.Second)
		for _, task := range s.tasks {
			task.Stop()
			task.Stop()
		}
		require.Equal(t, []time.Time{start.Add(-24 * time.Hour), start.Add(-23 * time.Hour), start.Add(-22 * time.Hour)}, k.deleted)
		require.Len(t, k.packed, 121)
		require.Equal(t, start.Add(-10*time.Minute), k.packed[0])
		require.Equal(t, start.Add(-9*time.Minute), k.packed[1])
		require.Len(t, k.hours, 25)
		require.Equal(t, []time.Time{start.Add(-time.Hour), start.Add(-55 * time.Minute)}, k.hours[:2])
	})
	value := func(v int64) []metricdata.DataPoint[int64] { return []metricdata.DataPoint[int64]{{Value: v}} }
	metadatatest.AssertEqualQosstorageDeletedConferences(t, telemetry, value(6), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstorageRetentionFailures(t, telemetry, value(3), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstoragePackedConferences(t, telemetry, value(121), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstoragePackedRecords(t, telemetry, value(1210), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstoragePackedBytes(t, telemetry, value(36300), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstoragePackFailures(t, telemetry, value(121), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstorageHourWrites(t, telemetry, value(75), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstorageHourFailures(t, telemetry, value(25), metricdatatest.IgnoreTimestamp())
}

// A stop while it works is no failure; what was done is counted.
func TestHousekeepingStops(t *testing.T) {
	telemetry := newTelemetry(t)
	s := newStore(t, t.TempDir(), time.Hour, telemetry)
	begun := make(chan struct{})
	p := periodic.Start(time.Hour, func(ctx context.Context, _ time.Time) {
		close(begun)
		<-ctx.Done()
		s.deleted(ctx, 3, unlessStopped(ctx, ctx.Err()))
	})
	<-begun
	p.Stop()
	metadatatest.AssertEqualQosstorageDeletedConferences(t, telemetry, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstorageRetentionFailures(t, telemetry, []metricdata.DataPoint[int64]{{Value: 0}}, metricdatatest.IgnoreTimestamp())
}

// Zero keeps all, loose. Columns are made all the same.
func TestHousekeepingOff(t *testing.T) {
	s := newStore(t, t.TempDir(), 0, newTelemetry(t))
	s.cfg.PackAfter = 0
	synctest.Test(t, func(t *testing.T) {
		k := &fakeKeeper{}
		s.keep(k)
		synctest.Wait()
		for _, task := range s.tasks {
			task.Stop()
		}
		require.Equal(t, []int{0, 0, 1}, []int{len(k.deleted), len(k.packed), len(k.hours)})
	})
}

func TestConfig(t *testing.T) {
	load := func(values map[string]any) error {
		cfg := createDefaultConfig()
		if err := confmap.NewFromStringMap(values).Unmarshal(cfg); err != nil {
			return err
		}
		return xconfmap.Validate(cfg)
	}
	require.NoError(t, load(map[string]any{"directory": "x"}))
	require.NoError(t, load(map[string]any{"directory": "x", "retention": "0", "pack_after": "0", "synchronous": "full"}))
	require.NoError(t, load(map[string]any{"postgres": map[string]any{"dsn": "postgres://h/d", "max_connections": 4}}))
	for _, number := range []int{0, 1, 7, postgres.MaxHashPartitions} {
		require.NoError(t, load(map[string]any{"postgres": map[string]any{"dsn": "x", "hash_partitions": number}}))
	}
	for want, values := range map[string]map[string]any{
		"directory or postgres is required":                             {},
		"directory and postgres exclude each other":                     {"directory": "x", "postgres": map[string]any{"dsn": "postgres://h/d"}},
		"postgres: dsn is required":                                     {"postgres": map[string]any{"max_connections": 3}},
		"max_connections must be at least 2":                            {"postgres": map[string]any{"dsn": "x", "max_connections": 1}},
		"postgres: hash_partitions must be 0, for none, to 64 (got -1)": {"postgres": map[string]any{"dsn": "x", "hash_partitions": -1}},
		"postgres: hash_partitions must be 0, for none, to 64 (got 65)": {"postgres": map[string]any{"dsn": "x", "hash_partitions": 65}},
		"hash_partitions' expected type 'int'":                          {"postgres": map[string]any{"dsn": "x", "hash_partitions": "many"}},
		"retention must not be negative (got -1h0m0s)":                  {"directory": "x", "retention": "-1h"},
		"max_size_mib must be from 0 to 1073741824 (got -1)":            {"directory": "x", "max_size_mib": -1},
		"max_size_mib needs directory":                                  {"postgres": map[string]any{"dsn": "x"}, "max_size_mib": 5},
		"pack_after must not be negative (got -1s)":                     {"directory": "x", "pack_after": "-1s"},
		`synchronous must be normal or full (got "off")`:                {"directory": "x", "synchronous": "off"},
		"dir": {"dir": "x"},
	} {
		require.ErrorContains(t, load(values), want)
	}
}

func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		retrieved, err := confmap.NewRetrievedFromYAML(block[1])
		require.NoError(t, err)
		conf, err := retrieved.AsConf()
		require.NoError(t, err)
		sub, err := conf.Sub("extensions::qosstorage")
		require.NoError(t, err)
		cfg := createDefaultConfig()
		require.NoError(t, sub.Unmarshal(cfg))
		require.NoError(t, xconfmap.Validate(cfg))
	}
}
