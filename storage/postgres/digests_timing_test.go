package postgres

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

var benchConferences = flag.Int("conferences", 200_000, "conferences of BenchmarkDigests")

// fillDigests makes conferences with digests of 480 bytes and documents of 2.9 kB, evenly over 90 days, of ten apps.
var fillDigests = []string{
	`INSERT INTO qos_place SELECT i, convert_to('app ' || i % 10, 'UTF8'), convert_to('room ' || i, 'UTF8') FROM generate_series(1, $1::bigint + 0 * ($2::bigint + $3::bigint)) i`,
	`INSERT INTO qos_conference (place, app_id, start_ms, end_ms, revision, summary_start, summary_end, outcome, participants, mos, label, cause, digest, packed)
		SELECT i, convert_to('app ' || i % 10, 'UTF8'), $2 + i * $3, $2 + i * $3 + 600000, 1, $2 + i * $3, $2 + i * $3 + 600000,
		'success', 2, 3 + i % 14 / 10.0, 'good', '', convert_to(repeat(md5(i::text), 15), 'UTF8'), true FROM generate_series(1, $1::bigint) i`,
	`INSERT INTO qos_document SELECT place, key, convert_to(repeat(md5(key::text), 90), 'UTF8') FROM qos_conference LIMIT $1::bigint + 0 * ($2::bigint + $3::bigint)`,
}

// BenchmarkDigests streams the digests of 33,000 conferences, as many as a large installation has a day, of all apps and of
// one in ten.
func BenchmarkDigests(b *testing.B) {
	s := temp(b)
	step := 90 * 24 * time.Hour / time.Duration(*benchConferences)
	for _, statement := range fillDigests {
		execute(b, s, statement, *benchConferences, noon.UnixMilli(), step.Milliseconds())
	}
	require.NoError(b, s.vacuum(b.Context()))
	for _, app := range []string{"", "app 7"} {
		b.Run("app="+app, func(b *testing.B) { benchDigests(b, s, app, step) })
	}
}

func benchDigests(b *testing.B, s *Store, app string, step time.Duration) {
	b.Helper()
	rows := 0
	for n := 0; b.Loop(); n++ {
		from := noon.Add(step * time.Duration(n*7919%(*benchConferences-33_000)))
		require.NoError(b, s.Digests(b.Context(), storage.DigestQuery{AppID: app, From: from, To: from.Add(33_000 * step)}, func(storage.Digest) bool { rows++; return true }))
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(rows), "µs/row")
}
