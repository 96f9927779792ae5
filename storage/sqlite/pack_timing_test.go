package sqlite

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/store/storagetest"
)

// twoHours are a call of two hours and eight people: 97,920 records.
func twoHours(tb testing.TB, s *Store) storage.Ref {
	tb.Helper()
	call := storagetest.Call(8, 720, noon)
	for from := 0; from < len(call); from += 64 {
		_, err := s.Append(tb.Context(), call[from:min(from+64, len(call))])
		require.NoError(tb, err)
	}
	return storage.Ref{AppID: call[0].Session.AppID, ConferenceID: call[0].Records[0].ConferenceID, At: noon.Add(time.Hour)}
}

// bytesInFile is the size of the store's file without free pages and without a log.
func bytesInFile(tb testing.TB, s *Store) float64 {
	tb.Helper()
	var pages, free, bytes float64
	require.NoError(tb, s.read.QueryRowContext(tb.Context(), "PRAGMA page_count").Scan(&pages))
	require.NoError(tb, s.read.QueryRowContext(tb.Context(), "PRAGMA freelist_count").Scan(&free))
	require.NoError(tb, s.read.QueryRowContext(tb.Context(), "PRAGMA page_size").Scan(&bytes))
	return (pages - free) * bytes
}

// BenchmarkPack packs a call of two hours and reports what a record takes in the file, with
// all indexes, before and after.
func BenchmarkPack(b *testing.B) {
	records := 0
	var hot, packed float64
	var took time.Duration
	for b.Loop() {
		s := temp(b)
		twoHours(b, s)
		hot = bytesInFile(b, s)
		start := time.Now()
		done, err := s.Pack(b.Context(), noon.Add(24*time.Hour))
		took += time.Since(start)
		require.NoError(b, err)
		records += done.Records
		packed = bytesInFile(b, s)
	}
	b.ReportMetric(float64(records)/took.Seconds(), "records/s")
	b.ReportMetric(hot/float64(records/b.N), "B/record-hot")
	b.ReportMetric(packed/float64(records/b.N), "B/record-packed")
}

// BenchmarkReadCall reads a call of two hours and eight people, loose and packed.
func BenchmarkReadCall(b *testing.B) {
	s := temp(b)
	ref := twoHours(b, s)
	read := func(b *testing.B) {
		b.Helper()
		n := 0
		for b.Loop() {
			n = 0
			require.NoError(b, s.Records(b.Context(), ref, func(string, storage.Record) bool { n++; return true }))
		}
		b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
	}
	b.Run("loose", read)
	_, err := s.Pack(b.Context(), noon.Add(24*time.Hour))
	require.NoError(b, err)
	b.Run("packed", read)
}
