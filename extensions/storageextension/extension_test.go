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

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/storageextension/internal/metadatatest"
	"github.com/qosrtc/qos/storage"
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

func TestStartFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	e := newStore(t, filepath.Join(file, "sub"), 0, newTelemetry(t))
	require.ErrorContains(t, e.Start(t.Context(), componenttest.NewNopHost()), "directory: ")
}

// The database that the configuration names is the one that is tried; its password is not
// told.
func TestPostgresFails(t *testing.T) {
	e := newStore(t, "", time.Hour, newTelemetry(t), "postgres://qos:very-secret@127.0.0.1:1/calls?sslmode=disable")
	err := e.Start(t.Context(), componenttest.NewNopHost())
	require.ErrorContains(t, err, "store 127.0.0.1:1/calls: open: ")
	require.NotContains(t, err.Error(), "very-secret")
	require.Nil(t, e.Writer())
	require.NotContains(t, fmt.Sprintf("%+v", e.cfg.Postgres), "very-secret")
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
	metadatatest.AssertEqualQosstorageDeleted(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
}

func TestRetentionRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var before []time.Time
		var failures int
		r := startRetention(24*time.Hour, func(_ context.Context, t time.Time) (int, error) {
			before = append(before, t)
			return 0, errors.New("once more")
		}, func(_ context.Context, _ int, err error) {
			if err != nil {
				failures++
			}
		})
		time.Sleep(2*time.Hour + time.Minute)
		r.stop()
		r.stop()
		require.Equal(t, []time.Time{start.Add(-24 * time.Hour), start.Add(-23 * time.Hour), start.Add(-22 * time.Hour)}, before)
		require.Equal(t, 3, failures)
	})
}

// A stop while it deletes is no failure.
func TestRetentionStops(t *testing.T) {
	begun := make(chan struct{})
	var reported error
	r := startRetention(time.Hour, func(ctx context.Context, _ time.Time) (int, error) {
		close(begun)
		<-ctx.Done()
		return 3, ctx.Err()
	}, func(_ context.Context, n int, err error) {
		require.Equal(t, 3, n)
		reported = err
	})
	<-begun
	r.stop()
	require.NoError(t, reported)
}

func TestRetained(t *testing.T) {
	telemetry := newTelemetry(t)
	e := newStore(t, t.TempDir(), 0, telemetry)
	e.retained(t.Context(), 2, errors.New("disk"))
	metadatatest.AssertEqualQosstorageDeleted(t, telemetry, []metricdata.DataPoint[int64]{{Value: 2}}, metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosstorageRetentionFailures(t, telemetry, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp())
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
	require.NoError(t, load(map[string]any{"directory": "x", "retention": "0", "synchronous": "full"}))
	require.NoError(t, load(map[string]any{"postgres": map[string]any{"dsn": "postgres://h/d", "max_connections": 4}}))
	for want, values := range map[string]map[string]any{
		"directory or postgres is required":              {},
		"directory and postgres exclude each other":      {"directory": "x", "postgres": map[string]any{"dsn": "postgres://h/d"}},
		"postgres: dsn is required":                      {"postgres": map[string]any{"max_connections": 3}},
		"max_connections must be at least 2":             {"postgres": map[string]any{"dsn": "x", "max_connections": 1}},
		"retention must not be negative (got -1h0m0s)":   {"directory": "x", "retention": "-1h"},
		`synchronous must be normal or full (got "off")`: {"directory": "x", "synchronous": "off"},
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
