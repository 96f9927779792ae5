package sqlite

import (
	"flag"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

var benchConferences = flag.Int("conferences", 200_000, "conferences of BenchmarkDigests")

// fillDigests makes conferences with digests of 480 bytes and documents of 2.9 kB, evenly over 90 days, of ten apps.
var fillDigests = []string{
	`CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < {n}) SELECT i FROM n`,
	`INSERT INTO place SELECT i, 'app ' || (i % 10), 'room ' || i FROM n`,
	`INSERT INTO conference (key, place, app_id, start_ms, end_ms, revision, summary_start, summary_end, outcome, participants, mos, label, cause, digest, packed)
		SELECT i, i, 'app ' || (i % 10), {from} + i * {step}, {from} + i * {step} + 600000, 1, {from} + i * {step}, {from} + i * {step} + 600000,
		'success', 2, 3 + i % 14 / 10.0, 'good', '', randomblob(480), 1 FROM n`,
	`INSERT INTO document SELECT i, randomblob(2900) FROM n`,
}

// BenchmarkDigests streams the digests of 33,000 conferences, as many as a large installation has a day, of all apps and of
// one in ten.
func BenchmarkDigests(b *testing.B) {
	path := filepath.Join(b.TempDir(), "store.sqlite3")
	s, err := Open(b.Context(), path, Options{})
	require.NoError(b, err)
	defer func() { require.NoError(b, s.Close()) }()
	step := 90 * 24 * time.Hour / time.Duration(*benchConferences)
	values := strings.NewReplacer("{n}", strconv.Itoa(*benchConferences), "{from}", strconv.FormatInt(noon.UnixMilli(), 10), "{step}", strconv.FormatInt(step.Milliseconds(), 10))
	for _, statement := range fillDigests {
		require.NoError(b, s.writer.do(b.Context(), job{run: func(t *tx) error {
			return t.exec(values.Replace(statement))
		}}))
	}
	require.NoError(b, s.writer.do(b.Context(), job{alone: rewrite})) // the log is empty then, as after a while
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
