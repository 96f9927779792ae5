package webhookexporter

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// Ratings of one session within one ms are as many as their records. The summary that lists them, and a
// duplicate of a record, add none.
//
// spec: OUT-02, OUT-05
func TestRatingsOfOneMillisecond(t *testing.T) {
	const session = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	r := newReceiver(t)
	e := startExporter(t, stored{Store: store}, apps{hooks: []notice.Hook{{ID: "h", URL: r.URL, Secrets: []string{secret}, CreatedAt: time.Now().Add(-time.Hour)}}}, nil)
	require.NoError(t, e.shutdown(t.Context()))
	now := time.Now().UTC().Truncate(time.Millisecond)
	start, at := now.Add(-2*time.Minute), now.Add(-time.Minute)
	rating := func(seq, index int64) plog.Logs {
		logs := feedbackOf(session, at, 5)
		attrs := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Attributes()
		attrs.PutInt(semconv.FrameSeq, seq)
		attrs.PutInt(semconv.FrameIndex, index)
		return logs
	}
	for _, logs := range []plog.Logs{rating(7, 0), rating(7, 1), rating(8, 0), rating(8, 0)} {
		require.NoError(t, e.consume(t.Context(), logs))
	}
	var records []storage.Record
	for i := range 4 { // no silence longer than 30 s
		when := start.Add(time.Duration(i) * 20 * time.Second)
		records = append(records, storage.Record{Seq: uint64(i + 1), ConferenceID: "c", ConferenceAt: when, At: when, ObservedAt: when, Fabric: 1, Name: semconv.EventStats, Activity: true})
	}
	_, err := store.Append(t.Context(), []storage.Batch{{Session: storage.Session{ID: session, AppID: "demo"}, Records: records}})
	require.NoError(t, err)
	one := func(seq, index int) string {
		return fmt.Sprintf(`{"seq":%d,"index":%d,"atMs":%d,"overall":5}`, seq, index, at.UnixMilli())
	}
	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "demo", ConferenceID: "c", Start: start, End: at, Revision: 1, Outcome: "success",
		Document: fmt.Appendf(nil, `{"outcome":"success","setupMs":[],"participants":[{"session":%q,"fabrics":[],"feedback":[%s,%s,%s]}]}`,
			session, one(7, 0), one(7, 1), one(8, 0)),
	}))
	e.engine.leading = false // as after a restart: it scans
	e.engine.tick(t.Context(), now)
	points, err := store.Points(t.Context(), 0, start, 100)
	require.NoError(t, err)
	ids := map[string]int{}
	for _, p := range points {
		ids[p.ID]++
	}
	require.Equal(t, map[string]int{"": 1, session + "/7/0": 1, session + "/7/1": 1, session + "/8/0": 1}, ids, "the conference by the scan, and three ratings")
}
