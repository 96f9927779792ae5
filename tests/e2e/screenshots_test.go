package e2e

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/storeexporter"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/fleet"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

var screenshots = flag.String("screenshots", "", "the directory to write pictures of the pages to")

// TestScreenshots draws the pages on two days of a simulated fleet: today, and the same day of last week.
func TestScreenshots(t *testing.T) {
	if *screenshots == "" {
		t.Skip("make screenshots runs this")
	}
	browser.Require(t)
	require.NoError(t, os.MkdirAll(*screenshots, 0o755))
	c := newCollector(t)
	now := time.Now()
	today := now.UTC().Truncate(24 * time.Hour)
	for i, day := range []time.Time{today.AddDate(0, 0, -7), today} {
		seed(t, c.store(), day, uint64(i+1), now)
	}
	c.start()
	p := openPage(t, browser.Start(t, browser.Chromium), "screenshots", c.dashboard+"/search")
	before := today.AddDate(0, 0, -7)
	failed := url.Values{"from": {strconv.FormatInt(before.UnixMilli(), 10)}, "to": {strconv.FormatInt(before.AddDate(0, 0, 1).UnixMilli(), 10)}, "outcome": {"failed"}}
	for _, one := range []struct{ name, path, drawn string }{
		{"overview", "/", "document.querySelector('#main canvas, #main .card')"},
		{"search", "/search", "document.querySelectorAll('[data-testid=conference]').length > 10"},
		{"changes", "/changes?" + failed.Encode(), "document.querySelector('[data-testid=finding]')"},
		{"conference", "/conference?" + c.telling(t).Encode(), "document.querySelector('#timeline .marker, [data-testid=entry]')"},
	} {
		p.Run(fmt.Sprintf("location.assign(%q)", c.dashboard+one.path))
		p.Until(patience, "document.readyState === 'complete' && "+one.drawn)
		p.Until(patience, "!document.querySelector('[aria-busy=true]')")
		p.view(1280, false)
		require.NoError(t, p.CaptureOf("viewport", filepath.Join(*screenshots, one.name+".png")))
	}
}

// telling returns the parameters of the longest of some conferences with a poor score.
func (c *collector) telling(t *testing.T) url.Values {
	t.Helper()
	var list struct {
		Conferences []struct {
			App        string `json:"app"`
			ID         string `json:"id"`
			StartAt    int64  `json:"startAt"`
			DurationMs int64  `json:"durationMs"`
		} `json:"conferences"`
	}
	c.ask("/api/conferences", url.Values{"quality": {"poor"}}, &list)
	require.NotEmpty(t, list.Conferences)
	best := list.Conferences[0]
	for _, one := range list.Conferences {
		if one.DurationMs > best.DurationMs {
			best = one
		}
	}
	return url.Values{"app": {best.App}, "id": {best.ID}, "at": {strconv.FormatInt(best.StartAt, 10)}}
}

// seed writes a day of a fleet, up to a time, to a store through the processors and the store exporter.
func seed(t *testing.T, dir string, day time.Time, number uint64, until time.Time) {
	t.Helper()
	cfg := fleet.DefaultConfig(day)
	cfg.Seed, cfg.Conferences = number, 1500
	cfg.Planted[0].Scope.From, cfg.Planted[0].Scope.To, cfg.Planted[0].FailureFactor = 0, 0, 15 // so that few conferences show it
	var all []plog.Logs
	fleet.Run(t, fleet.Draw(cfg), time.Hour, func(logs plog.Logs, at time.Time) {
		if at.Before(until) {
			one := plog.NewLogs()
			logs.CopyTo(one)
			all = append(all, one)
		}
	}, func(time.Time) {})

	require.NoError(t, os.MkdirAll(dir, 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	factory := storeexporter.NewFactory()
	exporter := factory.CreateDefaultConfig().(*storeexporter.Config)
	exporter.Queue = configoptional.None[exporterhelper.QueueBatchConfig]()
	logs, err := factory.CreateLogs(t.Context(), exportertest.NewNopSettings(factory.Type()), exporter)
	require.NoError(t, err)
	require.NoError(t, logs.Start(t.Context(), hosttest.Host{component.MustNewID("qosstorage"): hosttest.Storage{Store: store}}))
	for _, one := range all {
		require.NoError(t, logs.ConsumeLogs(t.Context(), one))
	}
	require.NoError(t, logs.Shutdown(context.Background()))
}
