package way

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/qosrtc/qos/exporters/storeexporter"
	"github.com/qosrtc/qos/extensions/dashboardextension"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor"
	"github.com/qosrtc/qos/processors/qualityprocessor"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/freeport"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// measured is a record with every measure that is a number, as the receiver makes it.
func measured(now time.Time) (plog.Logs, map[string]float64) {
	logs, values := plog.NewLogs(), map[string]float64{}
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.AppID, "demo")
	resource.Resource().Attributes().PutStr(semconv.SessionID, "01a20107-05c7-76d8-8a45-1660a31b706b")
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().Attributes().PutStr(semconv.ConferenceID, "standup")
	scope.Scope().Attributes().PutInt(semconv.ConferenceAt, now.UnixMilli())
	scope.Scope().Attributes().PutInt(semconv.FabricID, 1)
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(semconv.EventStats)
	record.SetTimestamp(pcommon.NewTimestampFromTime(now))
	record.SetObservedTimestamp(pcommon.NewTimestampFromTime(now))
	attrs := record.Attributes()
	attrs.PutInt(semconv.FrameSeq, 1)
	attrs.PutInt(semconv.FrameIndex, 0)
	attrs.PutDouble(semconv.IntervalMs, 2000)
	attrs.PutStr(semconv.StatsType, protocol.InboundRTP)
	attrs.PutStr(semconv.MediaType, protocol.Audio)
	for k := range protocol.NumMeasures {
		if k.Info().Type != protocol.Text && k != protocol.SSRC {
			v := float64(k+1) / 100 // all can be
			attrs.PutDouble(semconv.Measure(k), v)
			values[k.String()] = v
		}
	}
	return logs, values
}

// TestMeasureReachesThePage: each measure of the protocol's table comes through the processors
// and the store to the page's answer and to the page, and the one that QOS_MEASURE names is one
// of them.
//
// spec: DASH-01, DASH-02
func TestMeasureReachesThePage(t *testing.T) {
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	h := hosttest.Host{component.MustNewID("qosstorage"): hosttest.Storage{Store: store}}
	start := func(c component.Component) {
		require.NoError(t, c.Start(t.Context(), h))
		t.Cleanup(func() { require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context()))) })
	}
	exporters, conferences, scores := storeexporter.NewFactory(), conferenceprocessor.NewFactory(), qualityprocessor.NewFactory()
	exporter, err := exporters.CreateLogs(t.Context(), exportertest.NewNopSettings(exporters.Type()), exporters.CreateDefaultConfig())
	require.NoError(t, err)
	conference, err := conferences.CreateLogs(t.Context(), processortest.NewNopSettings(conferences.Type()), conferences.CreateDefaultConfig(), exporter)
	require.NoError(t, err)
	quality, err := scores.CreateLogs(t.Context(), processortest.NewNopSettings(scores.Type()), scores.CreateDefaultConfig(), conference)
	require.NoError(t, err)
	start(exporter)
	require.NoError(t, conference.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, conference.Shutdown(context.WithoutCancel(t.Context()))) })
	start(quality)

	now := time.Now()
	logs, want := measured(now)
	require.NoError(t, quality.ConsumeLogs(t.Context(), logs))
	pages := dashboardextension.NewFactory()
	cfg := pages.CreateDefaultConfig().(*dashboardextension.Config)
	cfg.NetAddr.Endpoint, err = freeport.Address()
	require.NoError(t, err)
	page, err := pages.Create(t.Context(), extensiontest.NewNopSettings(pages.Type()), cfg)
	require.NoError(t, err)
	start(page)

	base, query := "http://"+cfg.NetAddr.Endpoint, "/conference?"+url.Values{
		"app": {"demo"}, "id": {"standup"}, "at": {strconv.FormatInt(now.UnixMilli(), 10)},
	}.Encode()
	have := latest(t, base+"/api"+query)
	if name := os.Getenv("QOS_MEASURE"); name != "" {
		require.Contains(t, have, name, "%s is not in the page's answer", name)
	}
	require.Equal(t, want, have)
	t.Run("Page", func(t *testing.T) { checkPage(t, base+query, want) })
}

// checkPage: the page lists the measures in the protocol's order, each with a label and a value
// of its unit. It draws all alike, so that two stand for all.
func checkPage(t *testing.T, address string, values map[string]float64) {
	t.Helper()
	want, have := []string{}, []string{}
	for k := range protocol.NumMeasures {
		if _, sent := values[k.String()]; sent {
			want = append(want, k.String())
		}
	}
	byName := map[string]line{}
	for _, one := range readLatest(t, address) {
		have = append(have, one.Name)
		byName[one.Name] = one
	}
	require.Equal(t, want, have)
	require.Equal(t, line{"rttMs", "Round trip", fmt.Sprintf("%.1f ms", values["rttMs"])}, byName["rttMs"])
	if name := os.Getenv("QOS_MEASURE"); name != "" {
		label := strings.TrimSuffix(name, "Ms")
		require.Equal(t, line{name, strings.ToUpper(label[:1]) + label[1:], fmt.Sprintf("%.1f ms", values[name])}, byName[name])
	}
}

// latest returns the newest measurement of the page's only stream.
func latest(t *testing.T, address string) map[string]float64 {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	var answer struct {
		Streams []struct {
			Latest struct{ Values map[string]float64 }
		}
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.Len(t, answer.Streams, 1)
	return answer.Streams[0].Latest.Values
}
