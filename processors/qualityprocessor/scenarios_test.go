package qualityprocessor

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/call/rules/rulestest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadata"
)

// scenario is one scope and what is expected of each of its records.
type scenario struct {
	name   string
	logs   plog.Logs
	expect []map[string]string
}

// readScenarios reads testdata/scenarios.txt, which says how.
func readScenarios(t *testing.T) []scenario {
	t.Helper()
	text, err := os.ReadFile("testdata/scenarios.txt")
	require.NoError(t, err)
	var all []scenario
	var scope plog.ScopeLogs
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			logs := plog.NewLogs()
			scope = logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty()
			all = append(all, scenario{name: strings.TrimSuffix(name, " --"), logs: logs})
			continue
		}
		if len(all) == 0 || line == "" {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "usage":
			scope.Scope().Attributes().PutStr(semconv.FabricUsage, rest)
		case "record":
			newRecord(scope, pairs(t, rest))
		case "expect":
			last := &all[len(all)-1]
			last.expect = append(last.expect, pairs(t, rest))
		default:
			t.Fatalf("line %q", line)
		}
	}
	return all
}

func pairs(t *testing.T, text string) map[string]string {
	t.Helper()
	m := map[string]string{}
	for f := range strings.FieldsSeq(text) {
		k, v, ok := strings.Cut(f, "=")
		require.True(t, ok, f)
		m[k] = v
	}
	return m
}

func newRecord(scope plog.ScopeLogs, values map[string]string) {
	record := scope.LogRecords().AppendEmpty()
	record.SetEventName(semconv.EventStats)
	names := map[string]string{
		"statsType": semconv.StatsType,
		"mediaType": semconv.MediaType,
		"interval":  semconv.IntervalMs,
		"seq":       semconv.FrameSeq,
	}
	for k, v := range values {
		name, ok := names[k]
		if !ok {
			name = eventtest.Stats(k)
		}
		if n, err := strconv.ParseInt(v, 10, 64); err == nil {
			record.Attributes().PutInt(name, n)
		} else if f, err := strconv.ParseFloat(v, 64); err == nil {
			record.Attributes().PutDouble(name, f)
		} else if b, err := strconv.ParseBool(v); err == nil {
			record.Attributes().PutBool(name, b)
		} else {
			record.Attributes().PutStr(name, v)
		}
	}
}

// spec: QUAL-01
func TestScenarios(t *testing.T) {
	scenarios := readScenarios(t)
	require.NotEmpty(t, scenarios)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			before := plog.NewLogs()
			s.logs.CopyTo(before)
			after := process(t, s.logs)
			records := recordsOf(after)
			require.Equal(t, len(s.expect), records.Len(), "an expectation for each record")
			for i := range records.Len() {
				requireAdded(t, recordsOf(before).At(i), records.At(i), s.expect[i])
			}
		})
	}
}

func recordsOf(logs plog.Logs) plog.LogRecordSlice {
	return logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
}

// process sends logs through the processor as the collector builds it.
func process(t *testing.T, logs plog.Logs) plog.Logs {
	t.Helper()
	return processBy(t, quality.DefaultBounds(), logs)
}

// processBy scores in a collector whose rules have these bounds.
func processBy(t *testing.T, labels quality.Bounds, logs plog.Logs) plog.Logs {
	t.Helper()
	sink := new(consumertest.LogsSink)
	p, err := NewFactory().CreateLogs(context.Background(), processortest.NewNopSettings(metadata.Type), createDefaultConfig(), sink)
	require.NoError(t, err)
	require.True(t, p.Capabilities().MutatesData)
	require.NoError(t, p.Start(context.Background(), rulestest.HostWith(rules.Rules{Labels: labels})))
	require.NoError(t, p.ConsumeLogs(context.Background(), logs))
	require.NoError(t, p.Shutdown(context.Background()))
	require.Len(t, sink.AllLogs(), 1)
	return sink.AllLogs()[0]
}

// requireAdded checks that the record is what it was, with what is expected and no more.
func requireAdded(t *testing.T, before, after plog.LogRecord, expect map[string]string) {
	t.Helper()
	for k, want := range expect {
		v, ok := after.Attributes().Get(semconv.QualityMOS[:len(semconv.QualityMOS)-len("mos")] + k)
		require.True(t, ok, "%s is missing", k)
		if v.Type() == pcommon.ValueTypeDouble {
			f, err := strconv.ParseFloat(want, 64)
			require.NoError(t, err)
			require.InDelta(t, f, v.Double(), 1e-4, k)
		} else {
			require.Equal(t, strings.ReplaceAll(want, "_(", " ("), v.Str(), k)
		}
	}
	require.Equal(t, before.Attributes().Len()+len(expect), after.Attributes().Len(), "%v", after.Attributes().AsRaw())
	for k, v := range before.Attributes().All() {
		have, ok := after.Attributes().Get(k)
		require.True(t, ok && v.Equal(have), k)
	}
}
