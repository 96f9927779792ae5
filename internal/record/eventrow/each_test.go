package eventrow_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/exporters/storeexporter"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// trace is a recorded call in which something is wrong.
func trace(t *testing.T) (batches []plog.Logs) {
	t.Helper()
	file, err := os.Open("../../../tests/cause/testdata/cpu-receive-a.jsonl.gz")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	z, err := gzip.NewReader(file)
	require.NoError(t, err)
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	require.True(t, lines.Scan(), "the header")
	var form plog.JSONUnmarshaler
	for lines.Scan() {
		logs, err := form.UnmarshalLogs(lines.Bytes())
		require.NoError(t, err)
		batches = append(batches, logs)
	}
	require.NotEmpty(t, batches)
	return batches
}

// stored passes batches through the store exporter into a store.
func stored(t *testing.T, batches []plog.Logs) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "store"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	factory := storeexporter.NewFactory()
	e, err := factory.CreateLogs(t.Context(), exportertest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig())
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context(), hosttest.Host{component.MustNewID("qosstorage"): hosttest.Storage{Store: store}}))
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.WithoutCancel(t.Context()))) })
	for _, logs := range batches {
		require.NoError(t, e.ConsumeLogs(t.Context(), logs))
	}
	return store
}

// TestStoredRecordsFoldAlike: the fold of the stored records is the summary of those
// that passed, to the last figure.
//
// spec: CONF-03, SRV-03
func TestStoredRecordsFoldAlike(t *testing.T) {
	batches := trace(t)
	var events []event.Event
	for _, logs := range batches {
		for _, item := range eventlog.Read(logs) {
			events = append(events, item.Event)
		}
	}
	require.NotEmpty(t, events)
	store := stored(t, batches)
	first := events[0]
	ref := storage.Ref{AppID: first.AppID, ConferenceID: first.ConferenceID, At: time.UnixMilli(first.AtMs)}
	found, err := store.Conference(t.Context(), ref)
	require.NoError(t, err)

	folded := conference.New(first.AppID, first.ConferenceID, nil, quality.DefaultBounds())
	n := 0
	require.NoError(t, eventrow.Each(t.Context(), store, ref, found.Participants, func(e *event.Event) bool {
		n++
		folded.Apply(e)
		return true
	}))
	require.Equal(t, len(events), n)
	require.JSONEq(t, text(t, conferencetest.Fold(events, quality.DefaultBounds())), text(t, folded.Summary(quality.DefaultBounds())))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, eventrow.Each(ctx, store, ref, found.Participants, func(*event.Event) bool { return true }), context.Canceled)
}

func text(t *testing.T, s conference.Summary) string {
	t.Helper()
	b, err := json.Marshal(s)
	require.NoError(t, err)
	return string(b)
}
