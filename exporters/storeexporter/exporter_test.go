package storeexporter

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadatatest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const session = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"

// extension is what the host has.
type extension struct {
	component.StartFunc
	component.ShutdownFunc
	writer storage.Writer
}

func (e extension) Writer() storage.Writer { return e.writer }

// fixture is a started exporter and what it says of itself.
type fixture struct {
	exporter.Logs
	telemetry *componenttest.Telemetry
	log       *observer.ObservedLogs
}

func start(t *testing.T, w storage.Writer) fixture {
	t.Helper()
	f := fixture{telemetry: componenttest.NewTelemetry()}
	set := metadatatest.NewSettings(f.telemetry)
	core, log := observer.New(zap.DebugLevel)
	set.Logger, f.log = zap.New(core), log
	e, err := NewFactory().CreateLogs(t.Context(), set, createDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), hosttest.Host{component.MustNewID("qosstorage"): extension{writer: w}}))
	t.Cleanup(func() {
		require.NoError(t, e.Shutdown(context.Background()))
		require.NoError(t, f.telemetry.Shutdown(context.Background()))
	})
	f.Logs = e
	return f
}

func newStore(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func newResource(logs plog.Logs, id string) plog.ResourceLogs {
	r := logs.ResourceLogs().AppendEmpty()
	a := r.Resource().Attributes()
	a.PutStr(semconv.AppID, "app")
	a.PutStr(semconv.SessionID, id)
	a.PutStr(semconv.UserID, "alice")
	a.PutStr(semconv.UserAlias, "a1")
	a.PutStr(semconv.SiteID, "hq")
	a.PutInt("number", 3)
	return r
}

func newScopeLogs(r plog.ResourceLogs, fabric int64) plog.LogRecordSlice {
	s := r.ScopeLogs().AppendEmpty()
	a := s.Scope().Attributes()
	a.PutStr(semconv.ConferenceID, "standup")
	a.PutInt(semconv.ConferenceAt, noon.UnixMilli())
	if fabric > 0 {
		a.PutInt(semconv.FabricID, fabric)
		a.PutStr(semconv.FabricUsage, "multiplex")
	}
	return s.LogRecords()
}

func add(records plog.LogRecordSlice, name string, seq int64) plog.LogRecord {
	r := records.AppendEmpty()
	r.SetEventName(name)
	r.SetTimestamp(pcommon.NewTimestampFromTime(noon.Add(time.Duration(seq)*time.Second + 123_456*time.Nanosecond)))
	r.SetObservedTimestamp(pcommon.NewTimestampFromTime(noon.Add(time.Hour)))
	r.Attributes().PutInt(semconv.FrameSeq, seq)
	r.Attributes().PutInt(semconv.FrameIndex, 0)
	return r
}

func addSummary(records plog.LogRecordSlice) plog.LogRecord {
	r := records.AppendEmpty()
	r.SetEventName(semconv.EventSummary)
	r.Body().SetStr(`{"cause":"none"}`)
	a := r.Attributes()
	a.PutInt(semconv.SummaryStart, noon.UnixMilli())
	a.PutInt(semconv.SummaryEnd, noon.Add(time.Minute).UnixMilli())
	a.PutInt(semconv.SummaryRevision, 2)
	a.PutStr(semconv.SummaryOutcome, "success")
	a.PutInt(semconv.SummaryParticipants, 2)
	a.PutDouble(semconv.SummaryMOS, 4.1)
	a.PutStr(semconv.SummaryLabel, "good")
	a.PutStr(semconv.SummaryCause, "none")
	return r
}

func sum(value int64) []metricdata.DataPoint[int64] {
	return []metricdata.DataPoint[int64]{{Value: value}}
}

// rejected are the data points of rejected records: n for one reason, 0 for the others.
func rejected(n int64, why reason) (all []metricdata.DataPoint[int64]) {
	for _, one := range reasons {
		point := metricdata.DataPoint[int64]{Attributes: attribute.NewSet(attribute.String("reason", string(one)))}
		if one == why {
			point.Value = n
		}
		all = append(all, point)
	}
	return all
}

// spec: SRV-05, CONF-04
func TestStored(t *testing.T) {
	logs := plog.NewLogs()
	r := newResource(logs, session)
	fabric := newScopeLogs(r, 7)
	stats := add(fabric, semconv.EventStats, 1)
	stats.Attributes().PutDouble("qos.stats.jitter_ms", 1.5)
	stats.Attributes().PutBool(semconv.Duplicate, true)
	stats.Attributes().PutBool(semconv.TimeCorrected, true)
	stats.Attributes().PutEmptySlice("list").AppendEmpty().SetInt(1)
	stats.Attributes().PutEmpty("empty")
	add(fabric, semconv.EventError, 2).Attributes().PutStr(semconv.ErrorName, "OperationError")
	add(newScopeLogs(r, 0), semconv.EventEvent, 3)
	other := newResource(logs, strings.Replace(session, "019a", "019b", 1))
	add(newScopeLogs(other, 1), semconv.EventSkip, 1)
	addSummary(newScopeLogs(other, 0))
	issue := logs.ResourceLogs().AppendEmpty() // of no session, like a summary
	issue.Resource().Attributes().PutStr(semconv.AppID, "app")
	newScopeLogs(issue, 7).AppendEmpty().SetEventName(semconv.EventIssue)

	store := newStore(t)
	f := start(t, store)
	require.NoError(t, f.ConsumeLogs(t.Context(), logs))
	require.NoError(t, f.ConsumeLogs(t.Context(), logs))

	ref := storage.Ref{AppID: "app", ConferenceID: "standup", At: noon}
	c, err := store.Conference(t.Context(), ref)
	require.NoError(t, err)
	mos := 4.1
	require.Equal(t, &storage.Summary{
		AppID: "app", ConferenceID: "standup", Start: noon, End: noon.Add(time.Minute), Revision: 2, Outcome: "success",
		Participants: 2, MOS: &mos, Label: "good", Cause: "none", Document: json.RawMessage(`{"cause":"none"}`),
	}, c.Summary)
	require.Len(t, c.Participants, 2)
	require.Equal(t, storage.Session{
		ID: session, AppID: "app", UserID: "alice", UserAlias: "a1", Details: map[string]string{semconv.SiteID: "hq", "number": "3"},
	}, c.Participants[0].Session)

	var got []storage.Record
	require.NoError(t, store.Records(t.Context(), ref, func(_ string, r storage.Record) bool {
		got = append(got, r)
		return true
	}))
	want := storage.Record{
		Seq: 1, ConferenceID: "standup", ConferenceAt: noon, Fabric: 7, Name: semconv.EventStats,
		At: noon.Add(time.Second), ObservedAt: noon.Add(time.Hour), Activity: true,
		Attributes: map[string]any{semconv.FabricUsage: "multiplex", "qos.stats.jitter_ms": 1.5, "list": "[1]", semconv.TimeCorrected: true},
	}
	require.Equal(t, want, got[0])
	var activity []bool
	for _, r := range got {
		activity = append(activity, r.Activity)
	}
	require.Equal(t, []bool{true, true, false, false}, activity, "stats and skip of a fabric are, an error and a conference's event are not")

	metadatatest.AssertEqualQosstoreWrittenRecords(t, f.telemetry, sum(4), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualQosstoreDuplicateRecords(t, f.telemetry, sum(4), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualQosstoreWrittenSummaries(t, f.telemetry, sum(2), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	require.Zero(t, f.log.Len())
}

// One bad record is skipped, counted and named; the others are stored.
//
// spec: SRV-02
func TestSkipped(t *testing.T) {
	f := func(why reason, field string, spoil func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord)) {
		t.Helper()
		logs := plog.NewLogs()
		good := add(newScopeLogs(newResource(logs, session), 1), semconv.EventStats, 1)
		good.Attributes().PutStr("secret", "payload")
		r := newResource(logs, session)
		bad := add(newScopeLogs(r, 1), semconv.EventStats, 2)
		spoil(r, r.ScopeLogs().At(0), bad)
		x := start(t, newStore(t))
		for range 2 {
			require.NoError(t, x.ConsumeLogs(t.Context(), logs))
		}
		metadatatest.AssertEqualQosstoreWrittenRecords(t, x.telemetry, sum(1), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		metadatatest.AssertEqualQosstoreRejectedRecords(t, x.telemetry, rejected(2, why), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
		if field == "" {
			require.Zero(t, x.log.Len())
			return
		}
		require.Equal(t, 1, x.log.Len(), "logged once")
		require.Equal(t, field, x.log.All()[0].ContextMap()["field"])
		require.NotContains(t, x.log.All()[0].ContextMap()["found"], "not shown")
	}
	onResource := func(name string, v any) func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {
		return func(r plog.ResourceLogs, _ plog.ScopeLogs, _ plog.LogRecord) {
			set(t, r.Resource().Attributes(), name, v)
		}
	}
	onScope := func(name string, v any) func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {
		return func(_ plog.ResourceLogs, s plog.ScopeLogs, _ plog.LogRecord) { set(t, s.Scope().Attributes(), name, v) }
	}
	onRecord := func(name string, v any) func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {
		return func(_ plog.ResourceLogs, _ plog.ScopeLogs, r plog.LogRecord) { set(t, r.Attributes(), name, v) }
	}
	onSummary := func(name string, v any) func(plog.ResourceLogs, plog.ScopeLogs, plog.LogRecord) {
		return func(_ plog.ResourceLogs, s plog.ScopeLogs, _ plog.LogRecord) {
			s.LogRecords().RemoveIf(func(plog.LogRecord) bool { return true })
			set(t, addSummary(s.LogRecords()).Attributes(), name, v)
		}
	}
	f(reasonAppID, semconv.AppID, onResource(semconv.AppID, nil))
	f(reasonSessionID, semconv.SessionID, onResource(semconv.SessionID, "not shown"))
	f(reasonConferenceID, semconv.ConferenceID, onScope(semconv.ConferenceID, 3))
	f(reasonFrameSeq, semconv.FrameSeq, onRecord(semconv.FrameSeq, "not shown"))
	f(reasonFrameSeq, semconv.FrameSeq, onRecord(semconv.FrameSeq, 0))
	f(reasonFrameSeq, semconv.FrameSeq, onRecord(semconv.FrameSeq, 1.5))
	f(reasonFrameIndex, semconv.FrameIndex, onRecord(semconv.FrameIndex, nil))
	f(reasonFrameIndex, semconv.FrameIndex, onRecord(semconv.FrameIndex, -1))
	f(reasonTime, semconv.ConferenceAt, onScope(semconv.ConferenceAt, int64(1)<<60))
	f(reasonTime, "timestamp", func(_ plog.ResourceLogs, _ plog.ScopeLogs, r plog.LogRecord) { r.SetTimestamp(1 << 63) })
	f(reasonTime, "timestamp", func(_ plog.ResourceLogs, _ plog.ScopeLogs, r plog.LogRecord) {
		r.SetTimestamp(0)
		r.SetObservedTimestamp(0)
	})
	f(reasonEventName, "event name", func(_ plog.ResourceLogs, _ plog.ScopeLogs, r plog.LogRecord) { r.SetEventName("") })
	f(reasonSummary, semconv.SummaryStart, onSummary(semconv.SummaryStart, nil))
	f(reasonSummary, semconv.SummaryEnd, onSummary(semconv.SummaryEnd, 1))
	f(reasonSummary, semconv.SummaryRevision, onSummary(semconv.SummaryRevision, 0))
	f(reasonSummary, "body", func(_ plog.ResourceLogs, s plog.ScopeLogs, r plog.LogRecord) {
		r.SetEventName("")
		s.LogRecords().RemoveIf(func(plog.LogRecord) bool { return true })
		addSummary(s.LogRecords()).Body().SetStr("{not shown")
	})
	f(reasonNoConference, "", func(_ plog.ResourceLogs, s plog.ScopeLogs, r plog.LogRecord) {
		r.SetEventName(semconv.EventSkip)
		s.Scope().Attributes().Clear()
	})
}

// A batch that fails comes again whole: what it skips is counted with the one that the
// store took, so that records handed on = new + duplicates + skipped.
//
// spec: SRV-03
func TestSkippedIsCountedWithWhatIsTaken(t *testing.T) {
	logs := plog.NewLogs()
	records := newScopeLogs(newResource(logs, session), 1)
	add(records, semconv.EventStats, 1)
	add(records, semconv.EventStats, 0)
	x := start(t, failingWriter{appendErr: errors.New("disk full")})
	require.Error(t, x.ConsumeLogs(t.Context(), logs))
	metadatatest.AssertEqualQosstoreRejectedRecords(t, x.telemetry, rejected(0, reasonTime), metricdatatest.IgnoreTimestamp())
}

// set puts an attribute; nil removes it.
func set(t *testing.T, attributes pcommon.Map, name string, v any) {
	t.Helper()
	if v == nil {
		require.True(t, attributes.Remove(name))
		return
	}
	if n, ok := v.(int); ok {
		v = int64(n)
	}
	value, _ := attributes.GetOrPutEmpty(name)
	require.NoError(t, value.FromRaw(v))
}

// What a record may lack.
func TestFallbacks(t *testing.T) {
	logs := plog.NewLogs()
	records := newScopeLogs(newResource(logs, session), 1)
	logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().Remove(semconv.ConferenceAt)
	r := add(records, semconv.EventLog, 1)
	r.SetTimestamp(0)
	set(t, r.Attributes(), semconv.FrameSeq, 1.0) // JSON
	got := translate(logs).batches[0].Records[0]
	require.Equal(t, noon.Add(time.Hour), got.At)
	require.Equal(t, noon.Add(time.Hour), got.ConferenceAt)
	require.Equal(t, uint64(1), got.Seq)
}

type failingWriter struct{ appendErr, summaryErr, preCallErr error }

func (w failingWriter) Append(context.Context, []storage.Batch) (storage.Appended, error) {
	return storage.Appended{}, w.appendErr
}

func (w failingWriter) AppendPreCalls(context.Context, []storage.PreCall) (storage.Appended, error) {
	return storage.Appended{}, w.preCallErr
}

func (w failingWriter) PutSummary(context.Context, storage.Summary) error { return w.summaryErr }

// Without a queue the store's error goes to the receiver, which then acknowledges
// nothing.
//
// spec: SRV-03, SRV-04
func TestErrorsGoUp(t *testing.T) {
	logs := plog.NewLogs()
	records := newScopeLogs(newResource(logs, session), 1)
	add(records, semconv.EventStats, 1)
	addSummary(records)
	add(records, semconv.EventPreCall, 2)
	broken := errors.New("disk full")
	for _, w := range []failingWriter{{appendErr: broken}, {summaryErr: broken}, {preCallErr: broken}} {
		err := start(t, w).ConsumeLogs(t.Context(), logs)
		require.ErrorIs(t, err, broken)
		require.False(t, consumererror.IsPermanent(err), "it may be sent again")
	}
	err := start(t, failingWriter{appendErr: storage.ErrInvalid}).ConsumeLogs(t.Context(), logs)
	require.True(t, consumererror.IsPermanent(err))
}

// A summary of a conference that is not stored is counted, and keeps nothing back.
//
// spec: CONF-01
func TestSummaryOfNothing(t *testing.T) {
	f := start(t, failingWriter{summaryErr: storage.ErrNotFound})
	logs := plog.NewLogs()
	addSummary(newScopeLogs(newResource(logs, session), 1))
	require.NoError(t, f.ConsumeLogs(t.Context(), logs))
	metadatatest.AssertEqualQosstoreRejectedRecords(t, f.telemetry, rejected(1, reasonNoSuchConference), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	require.Equal(t, 1, f.log.FilterField(zap.String("found", "a span without a conference")).Len())
}

func TestStartNamesTheExtension(t *testing.T) {
	id := component.MustNewID("qosstorage")
	for want, h := range map[string]hosttest.Host{
		`storage "qosstorage": no such extension`:      {},
		`storage "qosstorage" is no storage extension`: {id: struct{ component.Component }{}},
		`storage "qosstorage" has not started`:         {id: extension{}},
	} {
		e, err := NewFactory().CreateLogs(t.Context(), metadatatest.NewSettings(componenttest.NewTelemetry()), createDefaultConfig())
		require.NoError(t, err)
		require.ErrorContains(t, e.Start(t.Context(), h), want)
		require.NoError(t, e.Shutdown(t.Context()))
	}
}

func TestConfig(t *testing.T) {
	load := func(values map[string]any) (*Config, error) {
		cfg := createDefaultConfig().(*Config)
		if err := confmap.NewFromStringMap(values).Unmarshal(cfg); err != nil {
			return nil, err
		}
		return cfg, xconfmap.Validate(cfg)
	}
	cfg, err := load(nil)
	require.NoError(t, err)
	require.False(t, cfg.Queue.HasValue())
	require.False(t, cfg.Retry.Enabled)

	cfg, err = load(map[string]any{
		"storage": "qosstorage/main", "timeout": "2s",
		"sending_queue": map[string]any{"storage": "file_storage"}, "retry_on_failure": map[string]any{"enabled": true},
	})
	require.NoError(t, err)
	require.Equal(t, component.MustNewIDWithName("qosstorage", "main"), cfg.Storage)
	require.Equal(t, 2*time.Second, cfg.Timeout.Timeout)
	require.Equal(t, "file_storage", cfg.Queue.Get().StorageID.String())
	require.True(t, cfg.Retry.Enabled)

	for want, values := range map[string]map[string]any{
		"id must not be empty": {"storage": ""},
		"must be non-negative": {"timeout": "-1s"},
		"`queue_size` must be": {"sending_queue": map[string]any{"queue_size": 0}},
		"stoarge":              {"stoarge": "qosstorage"},
	} {
		_, err := load(values)
		require.ErrorContains(t, err, want)
	}
	require.ErrorContains(t, (&Config{}).Validate(), "storage must name")
}

// metadata.yaml lists every reason.
func TestReasonsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("metadata.yaml")
	require.NoError(t, err)
	for _, why := range []reason{
		reasonEventName, reasonAppID, reasonSessionID, reasonConferenceID, reasonFrameSeq,
		reasonFrameIndex, reasonTime, reasonSummary, reasonNoConference, reasonNoSuchConference,
	} {
		require.Regexp(t, `enum: \[.*\b`+string(why)+`\b`, string(text))
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
		sub, err := conf.Sub("exporters::qosstore")
		require.NoError(t, err)
		cfg := createDefaultConfig()
		require.NoError(t, sub.Unmarshal(cfg))
		require.NoError(t, xconfmap.Validate(cfg))
	}
}
