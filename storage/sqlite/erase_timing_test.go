package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// BenchmarkErase erases one user of a store of packed conferences, one of which is theirs, and reports what the writers
// wait for meanwhile: at most for one step, and once for the file to be rewritten.
func BenchmarkErase(b *testing.B) {
	const conferences, records = 300, 200
	for b.Loop() {
		b.StopTimer()
		s := open(b, filepath.Join(b.TempDir(), "store.sqlite3"))
		for n := range conferences {
			_, err := s.Append(b.Context(), []storage.Batch{longCall(n, records, noon)})
			require.NoError(b, err)
		}
		_, err := s.Pack(b.Context(), noon.Add(time.Hour))
		require.NoError(b, err)
		_, err = s.EraseUser(b.Context(), storage.User{AppID: "app", IDs: []string{"user 7"}})
		require.NoError(b, err)
		stop, waited := make(chan struct{}), make(chan time.Duration)
		go appendUntil(b, s, stop, waited)
		b.StartTimer()
		_, err = s.RunErasures(b.Context())
		require.NoError(b, err)
		b.StopTimer()
		close(stop)
		b.ReportMetric(float64((<-waited).Milliseconds()), "ms-longest-append")
		info, err := os.Stat(s.path)
		require.NoError(b, err)
		b.ReportMetric(float64(info.Size())/1e6, "MB")
		b.ReportMetric(float64(b.Elapsed().Milliseconds())/conferences, "ms/conference")
		b.StartTimer()
	}
}

// longCall is a conference of one session that names another user.
func longCall(n, records int, begin time.Time) storage.Batch {
	batch := storage.Batch{Session: storage.Session{ID: fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", n), AppID: "app", UserID: fmt.Sprint("user ", n)}}
	for i := range records {
		at := begin.Add(time.Duration(i) * 5 * time.Second)
		batch.Records = append(batch.Records, storage.Record{
			Seq: uint64(i + 1), ConferenceID: fmt.Sprint("call ", n), ConferenceAt: begin, Fabric: 1, Name: semconv.EventStats, At: at, ObservedAt: at, Activity: true,
			Attributes: map[string]any{
				semconv.StatsType: "inbound-rtp", semconv.MediaType: "audio", "qos.stats.packets": int64(i * 250), "qos.stats.jitter_ms": float64(i%17) / 3,
				semconv.RemoteUserID: fmt.Sprint("peer ", n), semconv.RemoteUserAlias: fmt.Sprint("peer ", n),
			},
		})
	}
	return batch
}

// appendUntil appends until stop is closed, and sends how long the slowest append took.
func appendUntil(b *testing.B, s *Store, stop chan struct{}, waited chan time.Duration) {
	b.Helper()
	longest := time.Duration(0)
	for n := 1_000_000; ; n++ {
		select {
		case <-stop:
			waited <- longest
			return
		default:
		}
		began := time.Now()
		_, err := s.Append(b.Context(), []storage.Batch{longCall(n, 1, began)})
		if longest = max(longest, time.Since(began)); err != nil {
			b.Error(err)
		}
	}
}
