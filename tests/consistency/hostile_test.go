package consistency

import (
	"bufio"
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confignet"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/exporters/storeexporter"
	"github.com/qosrtc/qos/exporters/timeseriesexporter"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/conferenceprocessor"
	"github.com/qosrtc/qos/processors/qualityprocessor"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/hosttest"
	"github.com/qosrtc/qos/tests/kit/oddvalue"
)

// fanOut hands a batch to each, as the collector does before exporters.
type fanOut []consumer.Logs

func (fanOut) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (f fanOut) ConsumeLogs(ctx context.Context, logs plog.Logs) error {
	for _, next := range f {
		if err := next.ConsumeLogs(ctx, logs); err != nil {
			return err
		}
	}
	return nil
}

// road starts the whole of the pipeline behind the receiver.
func road(t *testing.T, store *sqlite.Store, scrape string) consumer.Logs {
	t.Helper()
	id := component.MustNewID("qosstorage")
	h := hosttest.Host{id: hosttest.Storage{Store: store}}
	run := func(c component.Component, err error) {
		t.Helper()
		require.NoError(t, err)
		require.NoError(t, c.Start(t.Context(), h))
		t.Cleanup(func() { require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context()))) })
	}
	sf := storeexporter.NewFactory()
	stores, err := sf.CreateLogs(t.Context(), exportertest.NewNopSettings(sf.Type()), sf.CreateDefaultConfig())
	run(stores, err)
	tf := timeseriesexporter.NewFactory()
	cfg := tf.CreateDefaultConfig().(*timeseriesexporter.Config)
	cfg.NetAddr = confignet.AddrConfig{Transport: confignet.TransportTypeTCP, Endpoint: scrape}
	series, err := tf.CreateLogs(t.Context(), exportertest.NewNopSettings(tf.Type()), cfg)
	run(series, err)
	cf := conferenceprocessor.NewFactory()
	conferences := cf.CreateDefaultConfig().(*conferenceprocessor.Config)
	conferences.Storage, conferences.Tick = id, 100*time.Millisecond
	conference, err := cf.CreateLogs(t.Context(), processortest.NewNopSettings(cf.Type()), conferences, fanOut{stores, series})
	run(conference, err)
	qf := qualityprocessor.NewFactory()
	quality, err := qf.CreateLogs(t.Context(), processortest.NewNopSettings(qf.Type()), qf.CreateDefaultConfig(), conference)
	run(quality, err)
	return quality
}

// names are all attributes that some stage may look at.
func names() (all []string) {
	for _, a := range semconv.Attributes {
		all = append(all, strings.ReplaceAll(a.Name, "<key>", "x"))
	}
	for _, m := range protocol.Measures {
		all = append(all, eventtest.Stats(m.Name))
	}
	return all
}

func fill(t *rapid.T, into pcommon.Map, usual map[string]any, all []string) {
	for name, v := range usual {
		if rapid.IntRange(0, 9).Draw(t, "usual "+name) > 0 {
			require.NoError(t, into.PutEmpty(name).FromRaw(v))
		}
	}
	for range rapid.IntRange(0, 6).Draw(t, "more") {
		name := rapid.SampledFrom(all).Draw(t, "name")
		oddvalue.Draw(t, into.PutEmpty(name))
	}
}

func hostile(t *rapid.T, all []string, seq int64) plog.Logs {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	fill(t, resource.Resource().Attributes(), map[string]any{semconv.AppID: "app", semconv.SessionID: sessionID(1)}, all)
	scope := resource.ScopeLogs().AppendEmpty()
	fill(t, scope.Scope().Attributes(), map[string]any{
		semconv.ConferenceID: "c", semconv.ConferenceAt: time.Now().UnixMilli(), semconv.FabricID: int64(1),
	}, all)
	for i := range rapid.IntRange(1, 4).Draw(t, "records") {
		r := scope.LogRecords().AppendEmpty()
		r.SetEventName(rapid.SampledFrom([]string{
			semconv.EventStats, semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventLog, semconv.EventSkip, semconv.EventSummary, "", "x",
		}).Draw(t, "event name"))
		at := rapid.SampledFrom([]pcommon.Timestamp{pcommon.NewTimestampFromTime(time.Now()), 0, 1, math.MaxUint64, math.MaxInt64}).Draw(t, "time")
		r.SetTimestamp(at)
		fill(t, r.Attributes(), map[string]any{
			semconv.FrameSeq: seq, semconv.FrameIndex: int64(i), semconv.StatsType: "inbound-rtp", semconv.MediaType: "video", semconv.EventName: "fabricSetup",
		}, all)
		if rapid.Bool().Draw(t, "body") {
			oddvalue.Draw(t, r.Body())
		}
	}
	return logs
}

// TestNothingThatComesDoesHarm: whatever stands in the attributes, nothing panics, nothing
// is refused but for good, as what no engine can keep, and every conference can be read.
//
// spec: SRV-04
func TestNothingThatComesDoesHarm(t *testing.T) {
	store := open(t)
	scrape := harness.FreeAddress(t)
	next := road(t, store, scrape)
	all := names()
	seq, records := int64(0), 0
	// Most frames lack what a record needs: so many rounds as leave something to read.
	for round := 0; round < 4 || records <= 20; round++ {
		require.Less(t, round, 100, "nothing is stored any more")
		rapid.Check(t, func(rt *rapid.T) {
			seq++
			err := next.ConsumeLogs(t.Context(), hostile(rt, all, seq))
			require.True(rt, err == nil || consumererror.IsPermanent(err) && errors.Is(err, storage.ErrInvalid), "%v", err)
		})
		records = countRecords(t, store)
	}
	t.Logf("%d frames, %d records stored", seq, records)
	checkScrape(t, scrape)
}

// countRecords reads every conference of store and returns the number of their records.
func countRecords(t *testing.T, store *sqlite.Store) (records int) {
	t.Helper()
	page, err := store.Conferences(t.Context(), storage.Query{})
	require.NoError(t, err)
	for _, c := range page.Conferences {
		ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
		require.NoError(t, store.Records(t.Context(), ref, func(string, storage.Record) bool { records++; return true }))
	}
	return records
}

// checkScrape demands numbers that counters and sums can have.
func checkScrape(t *testing.T, address string) {
	t.Helper()
	resp, err := http.Get("http://" + address + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		v, err := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
		require.NoError(t, err, lines.Text())
		require.True(t, v >= 0 && v < 1e18, lines.Text())
	}
	require.NoError(t, lines.Err())
}
