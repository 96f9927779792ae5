package postgres

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// statsFrame is a measurement of two streams in, two out and the candidate pair, with
// about what a browser fills and the quality processor adds.
func statsFrame(session int, seq uint64, start time.Time) storage.Batch {
	at := start.Add(time.Duration(seq) * 10 * time.Second)
	records := make([]storage.Record, 5)
	for i := range records {
		records[i] = storage.Record{
			Seq: seq, Index: i, ConferenceID: fmt.Sprint("conference ", session/4), ConferenceAt: start, Fabric: 1,
			Name: "qos.stats", At: at, ObservedAt: at.Add(35 * time.Millisecond), Activity: true,
			Attributes: statsAttributes(int64(seq)*7919+int64(session), i),
		}
	}
	return storage.Batch{
		Session: storage.Session{
			ID: fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", session), AppID: "app", UserID: fmt.Sprint("user ", session), UserAlias: "alias",
			Details: map[string]string{"user_agent.original": strings.Repeat("x", 110), "qos.library.version": "1.0.0"},
		},
		Records: records,
	}
}

func statsAttributes(noise int64, row int) map[string]any {
	a := map[string]any{
		"qos.interval_ms": 10_003.0, "qos.fabric.usage": "multiplex", "qos.fabric.direction": "sendrecv",
		"qos.remote.endpoint_type": "peer", "qos.remote.user.id": "bob", "qos.remote.user.alias": "bob",
	}
	if row == 4 {
		a["qos.stats.type"], a["qos.stats.rtt_ms"] = "candidate-pair", 40+float64(noise%97)/10
		a["qos.stats.bytes_sent"], a["qos.stats.bytes_received"] = 1_400_000+noise, 1_380_000+noise
		a["qos.stats.available_outgoing_bps"] = 2_500_000.0
		return a
	}
	a["qos.stats.type"], a["qos.media.type"] = []string{"inbound-rtp", "outbound-rtp"}[row/2], []string{"audio", "video"}[row%2]
	a["qos.stats.ssrc"], a["qos.stats.codec"] = int64(3735928559)-int64(row), []string{"opus", "VP8"}[row%2]
	a["qos.quality.label"], a["qos.quality.model"] = "good", "g107-1"
	for i, name := range []string{
		"bytes", "packets", "packets_lost", "fec_packets", "samples", "concealed_samples", "frames", "frames_decoded",
		"key_frames", "width", "height", "plis", "nacks",
	} {
		a["qos.stats."+name] = (noise*int64(i+row+1))%50_000 + int64(i)
	}
	for i, name := range []string{"jitter_ms", "jitter_buffer_delay_ms", "rtt_ms", "audio_level", "fps", "decode_ms"} {
		a["qos.stats."+name] = float64((noise*int64(i+row+1))%500_000) / 10_000
	}
	a["qos.quality.mos"], a["qos.quality.r"] = 4.1+float64(noise%1000)/10_000, 87.1234
	a["qos.quality.input.loss_fraction"], a["qos.quality.input.delay_ms"] = float64(noise%400)/7e4, 61.25
	return a
}

// BenchmarkAppendStatsFrames appends one frame of five rows a time, as a receiver does
// for each client, with synchronous_commit on.
func BenchmarkAppendStatsFrames(b *testing.B) {
	for _, writers := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := temp(b)
			start := time.Now().Truncate(time.Hour)
			batches := make([]storage.Batch, b.N) // made beforehand: only the store is measured
			for i := range batches {
				batches[i] = statsFrame(i%writers, uint64(i/writers+1), start)
			}
			var next atomic.Int64
			b.ReportAllocs()
			b.ResetTimer()
			var wg sync.WaitGroup
			for range writers {
				wg.Go(func() {
					for i := int(next.Add(1)) - 1; i < b.N; i = int(next.Add(1)) - 1 {
						if _, err := s.Append(b.Context(), batches[i:i+1]); err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			size := query[int64](b, s, `SELECT pg_database_size(current_database()) - pg_database_size('template1')`)
			b.ReportMetric(float64(size)/float64(5*b.N), "B/row")
		})
	}
}

// BenchmarkRecordsOneConference reads a conference of four sessions and 90 minutes.
func BenchmarkRecordsOneConference(b *testing.B) {
	s := temp(b)
	start := time.Now().Truncate(time.Hour)
	for seq := uint64(1); seq <= 540; seq++ {
		var batches []storage.Batch
		for session := range 4 {
			batches = append(batches, statsFrame(session, seq, start))
		}
		_, err := s.Append(b.Context(), batches)
		require.NoError(b, err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		err := s.Records(b.Context(), storage.Ref{AppID: "app", ConferenceID: "conference 0", At: start.Add(time.Minute)},
			func(string, storage.Record) bool { n++; return true })
		require.NoError(b, err)
	}
	require.Equal(b, 4*540*5, n)
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkPack packs conferences of four sessions and 90 minutes, and measures what a row
// takes before and after: tables, indexes and what stands beside them.
func BenchmarkPack(b *testing.B) {
	const seqs = 540
	total := 0
	for b.Loop() {
		b.StopTimer()
		s := temp(b)
		start := time.Now().Add(-24 * time.Hour).Truncate(time.Hour)
		rows := 0
		for session := range 16 {
			for from := uint64(1); from <= seqs; from += 60 {
				var batches []storage.Batch
				for seq := from; seq < from+60; seq++ {
					batches = append(batches, statsFrame(session, seq, start))
				}
				done, err := s.Append(b.Context(), batches)
				require.NoError(b, err)
				rows += done.New
			}
		}
		size := func(tables string) float64 {
			return float64(query[int64](b, s, `SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relkind = 'r' AND relname ~ $1`, tables))
		}
		hot := size(`^qos_frame_[0-9]+$`)
		b.StartTimer()
		packed, err := s.Pack(b.Context(), time.Now())
		b.StopTimer()
		require.NoError(b, err)
		require.Equal(b, rows, packed.Records)
		b.ReportMetric(hot/float64(rows), "hot-B/row")
		b.ReportMetric(size(`^qos_(chunk|packed)_[0-9]+$`)/float64(rows), "packed-B/row")
		b.ReportMetric(float64(packed.Bytes)/float64(rows), "chunk-B/row")
		total += rows
		b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "rows/s")
		b.StartTimer()
	}
}
