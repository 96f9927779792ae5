package storeexporter

import (
	"bytes"
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadata"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// summaryRecord is a summary whose every attribute has a value of its own, changed as given.
func summaryRecord(t *testing.T, changes map[string]any) plog.LogRecord {
	t.Helper()
	attrs := map[string]any{
		semconv.SummaryStart: 1_000, semconv.SummaryEnd: 2_000, semconv.SummaryRevision: 3, semconv.SummaryParticipants: 4,
		semconv.SummaryMOS: 4.5, semconv.SummaryOutcome: "outcome", semconv.SummaryLabel: "label", semconv.SummaryCause: "cause",
	}
	for key, value := range changes {
		attrs[key] = value
		if value == nil {
			delete(attrs, key)
		}
	}
	r := plog.NewLogRecord()
	require.NoError(t, r.Attributes().FromRaw(attrs))
	r.Body().SetStr(`{"a":1}`)
	return r
}

// TestSummaryFields: each field of a summary is from its own attribute.
//
// spec: SRV-05
func TestSummaryFields(t *testing.T) {
	got, err := newSummary("app", "standup", summaryRecord(t, nil))
	require.NoError(t, err)
	require.Equal(t, []any{
		"app", "standup", time.UnixMilli(1000).UTC(), time.UnixMilli(2000).UTC(), 3, "outcome", 4, 4.5, "label", "cause", `{"a":1}`,
	}, []any{
		got.AppID, got.ConferenceID, got.Start, got.End, got.Revision, got.Outcome, got.Participants, *got.MOS, got.Label, got.Cause, string(got.Document),
	})
	got, err = newSummary("app", "standup", summaryRecord(t, map[string]any{semconv.SummaryMOS: nil}))
	require.NoError(t, err)
	require.Nil(t, got.MOS, "no score is not the score 0")
	require.Nil(t, got.Digest)
}

// A digest that cannot be kept is left out: the summary is worth more.
func TestSummaryDigest(t *testing.T) {
	longest := bytes.Repeat([]byte{7}, storage.MaxDigestBytes)
	for _, c := range []struct {
		value any
		want  []byte
	}{{[]byte{1, 2}, []byte{1, 2}}, {longest, longest}, {append(longest, 7), nil}, {[]byte{}, nil}, {"a text", nil}, {nil, nil}} {
		got, err := newSummary("app", "standup", summaryRecord(t, map[string]any{semconv.SummaryDigest: c.value}))
		require.NoError(t, err)
		require.Equal(t, c.want, got.Digest)
	}
}

// TestSummaryBounds: what a summary may say at the least and at the most, and what is refused
// past it, by the attribute's name.
//
// spec: SRV-05
func TestSummaryBounds(t *testing.T) {
	last := time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC).UnixMilli()
	f := func(attribute string, value any, good bool) {
		t.Helper()
		_, err := newSummary("app", "standup", summaryRecord(t, map[string]any{attribute: value}))
		if good {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, attribute)
		}
	}
	f(semconv.SummaryRevision, 1, true)
	f(semconv.SummaryRevision, 0, false)
	f(semconv.SummaryRevision, nil, false)
	f(semconv.SummaryStart, 0, true)
	f(semconv.SummaryStart, -1, false)
	f(semconv.SummaryStart, nil, false)
	f(semconv.SummaryEnd, 1000, true)
	f(semconv.SummaryEnd, 999, false)
	f(semconv.SummaryEnd, last, true)
	f(semconv.SummaryEnd, last+1, false)
	f(semconv.SummaryEnd, nil, false)
}

// slowWriter takes 4 ms for each summary, like a transaction that waits for others.
type slowWriter struct {
	failingWriter
	written *atomic.Int64
}

func (w slowWriter) PutSummary(context.Context, storage.Summary) error {
	time.Sleep(4 * time.Millisecond)
	w.written.Add(1)
	return nil
}

// Summaries of one call are written together: one after the other a minute would suffice for those of 15,000 conferences at
// most, of all applications.
//
// spec: SRV-05
func TestSummariesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var written atomic.Int64
		e := &storeExporter{writer: slowWriter{written: &written}}
		telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
		require.NoError(t, err)
		e.telemetry = telemetry
		began := time.Now()
		require.NoError(t, e.write(t.Context(), translation{summaries: make([]storage.Summary, 100)}))
		require.EqualValues(t, 100, written.Load())
		require.Equal(t, 4*4*time.Millisecond, time.Since(began)) // 32, 32, 32 and 4
	})
}
