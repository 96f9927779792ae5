package chunk

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/frames"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rows returns batches as an engine reads them, in order.
func rows(tb require.TestingT, batches []storage.Batch) (out []frames.ReadRow) {
	ready, err := frames.Prepare(batches)
	require.NoError(tb, err)
	for i := range ready {
		for _, row := range ready[i].Frames {
			out = append(out, frames.ReadRow{Session: ready[i].Session.ID[:], SessionKey: int64(ready[i].Session.ID[15]), Row: row})
		}
	}
	return out
}

func build(tb require.TestingT, rows []frames.ReadRow) Chunk {
	var b Builder
	for i := range rows {
		got, err := b.Add(&rows[i])
		require.NoError(tb, err)
		require.Equal(tb, Added, got)
	}
	c, err := b.Build()
	require.NoError(tb, err)
	require.Empty(tb, b.records, "it may be used again")
	return c
}

func sessionID(n int) string { return fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012x", n) }

// anyRecord draws a record of activity. Values of some columns are decimals, or nearly.
func anyRecord(t *rapid.T, seq uint64, index int) storage.Record {
	ms := rapid.OneOf(rapid.Int64Range(1e12, 1e12+5), rapid.Int64Range(0, frames.MaxTime))
	value := rapid.OneOf(
		rapid.String().AsAny(), rapid.Int64().AsAny(), rapid.Bool().AsAny(), rapid.Float64().AsAny(),
		rapid.Int64Range(-3, 300).AsAny(), rapid.SampledFrom([]any{"", "opus", math.NaN(), math.Inf(-1), math.Copysign(0, -1), 0.0}),
		rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-1e9, 1e9).Draw(t, "n")) / 1e4 }).AsAny(),
	)
	key := rapid.SampledFrom([]string{"a", "b", "c", "qos.stats.rtt_ms", "qos.stats.ssrc", ""})
	a := rapid.MapOfN(key, value, 0, 6).Draw(t, "attributes")
	if x, ok := a["a"].(float64); ok {
		rounded := math.Round(x*1e4) / 1e4
		a["near"] = math.Nextafter(rounded, rapid.SampledFrom([]float64{math.Inf(1), rounded}).Draw(t, "towards"))
	}
	return storage.Record{
		Seq: seq, Index: index, ConferenceID: "c", Activity: true, Name: rapid.SampledFrom([]string{"qos.stats", "e", ""}).Draw(t, "name"),
		At: frames.FromMs(ms.Draw(t, "at")), ConferenceAt: frames.FromMs(ms.Draw(t, "conferenceAt")), ObservedAt: frames.FromMs(ms.Draw(t, "observedAt")),
		Fabric: rapid.SampledFrom([]int{0, 1, 2, math.MaxInt32, -1}).Draw(t, "fabric"), Attributes: a,
	}
}

func anyBatches(t *rapid.T) (out []storage.Batch) {
	for n := range rapid.IntRange(1, 3).Draw(t, "sessions") {
		b := storage.Batch{Session: storage.Session{ID: sessionID(n), AppID: "app"}}
		seq := rapid.SampledFrom([]uint64{1, 7, 1<<53 - 50, math.MaxInt64 - 50}).Draw(t, "first")
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			for i := range rapid.IntRange(1, 4).Draw(t, "rows") {
				b.Records = append(b.Records, anyRecord(t, seq, i))
			}
			seq += rapid.Uint64Range(1, 2).Draw(t, "step")
		}
		out = append(out, b)
	}
	return out
}

// Every record comes back, every bit of it, in order, whether names have numbers or not.
//
// spec: SRV-03
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		batches := anyBatches(t)
		in := rows(t, batches)
		c := build(t, in)
		var want []frames.Record
		for _, b := range batches {
			id, err := storage.ParseSessionID(b.Session.ID)
			require.NoError(t, err)
			for _, r := range b.Records {
				want = append(want, frames.Record{Session: id, Seq: int64(r.Seq), Idx: r.Index, Name: r.Name, Attributes: r.Attributes, Columns: frames.Columns{
					Activity: true, At: r.At.UnixMilli(), ConferenceAt: r.ConferenceAt.UnixMilli(), ObservedAt: r.ObservedAt.UnixMilli(), Fabric: r.Fabric,
				}})
			}
		}
		slices.SortFunc(want, func(a, b frames.Record) int { p, q := a.Position(), b.Position(); return p.Compare(&q) })
		got, err := Decode(c.Body)
		require.NoError(t, err)
		require.Equal(t, len(want), got.Len())
		require.Equal(t, len(want), c.Records)
		require.Equal(t, [2]int64{want[0].At, want[len(want)-1].At}, [2]int64{c.From, c.To})
		for i := range want {
			require.Equal(t, want[i].Position(), got.Position(i))
			require.Equal(t, plain(want[i]), plain(got.Record(i)))
		}
		checkRanges(t, c, in)
	})
}

// plain replaces doubles by their bits, for NaN is not equal to itself and -0 is to 0.
func plain(r frames.Record) frames.Record {
	out := map[string]any{}
	for k, v := range r.Attributes {
		if f, ok := v.(float64); ok {
			v = math.Float64bits(f)
		}
		out[k] = v
	}
	r.Attributes = out
	return r
}

// checkRanges: each record is in one range.
func checkRanges(t *rapid.T, c Chunk, in []frames.ReadRow) {
	have := map[identity]int{}
	for _, r := range c.Ranges {
		require.LessOrEqual(t, r.Last-r.First, int64(MaxRecords))
		for seq := r.First; seq <= r.Last; seq++ {
			for i := range r.N {
				have[identity{r.Session, seq, r.Idx + i, 1}]++
			}
		}
	}
	n := 0
	for _, row := range in {
		for i := range row.N {
			require.Equal(t, 1, have[identity{row.SessionKey, row.Seq, row.Idx + i, 1}])
			n++
		}
	}
	require.Len(t, have, n)
}

func TestRanges(t *testing.T) {
	got := ranges([]identity{{2, 1, 0, 5}, {1, 9, 0, 5}, {1, 7, 0, 2}, {1, 8, 0, 5}, {1, 7, 2, 3}, {1, 11, 0, 5}, {1, 10, 0, 1}, {1, 10, 2, 1}})
	require.Equal(t, []Range{{1, 10, 10, 0, 1}, {1, 7, 9, 0, 5}, {1, 11, 11, 0, 5}, {1, 10, 10, 2, 1}, {2, 1, 1, 0, 5}}, got)
}

// A chunk is bounded; what fits into none stays out.
func TestBounds(t *testing.T) {
	record := func(seq uint64, index int, text string) storage.Record {
		return storage.Record{Seq: seq, Index: index, ConferenceID: "c", Activity: true, At: time.UnixMilli(1), Attributes: map[string]any{"x": text}}
	}
	batch := storage.Batch{Session: storage.Session{ID: sessionID(1), AppID: "app"}}
	for i := range MaxRecords {
		batch.Records = append(batch.Records, record(1, i, ""))
	}
	batch.Records = append(batch.Records, record(2, 0, "more than fifteen bytes"))
	for i := range MaxRecords + 1 {
		batch.Records = append(batch.Records, record(3, i, ""))
	}
	batch.Records = append(batch.Records, record(4, 0, string(make([]byte, maxRowBytes))))
	batch.Records = append(batch.Records, record(5, 0, string(make([]byte, maxRowBytes-15))))
	in := rows(t, []storage.Batch{batch})
	var b Builder
	add := func(i int, want Result) {
		t.Helper()
		got, err := b.Add(&in[i])
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	add(0, Added)
	add(1, Full)
	add(2, TooLong)
	add(3, TooLong)
	_, err := b.Build()
	require.NoError(t, err)
	add(1, Added)
	add(4, Full)
	_, err = b.Build()
	require.NoError(t, err)
	add(4, Added)
	_, err = b.Build()
	require.NoError(t, err)

	many := storage.Record{Seq: 1, ConferenceID: "c", Activity: true, At: time.UnixMilli(1), Attributes: map[string]any{}}
	for i := range 200 {
		many.Attributes[strconv.Itoa(i)] = int64(i)
	}
	batch.Records = nil
	for i := range maxValues/200 + 1 {
		many.Index = i
		batch.Records = append(batch.Records, many)
	}
	in = rows(t, []storage.Batch{batch})
	add(0, TooLong)
}

func TestDamagedRow(t *testing.T) {
	in := rows(t, []storage.Batch{sample()})
	in[1].Body = in[1].Body[:len(in[1].Body)-1]
	var b Builder
	_, err := b.Add(&in[1])
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "session "+sessionID(1)+", frame 2")
	require.Empty(t, b.records)
}

// sample is a batch that uses all forms of columns.
func sample() storage.Batch {
	b := storage.Batch{Session: storage.Session{ID: sessionID(1), AppID: "app"}}
	for seq := range uint64(40) {
		n := int64(seq)*7919%500 + 1
		b.Records = append(b.Records, storage.Record{
			Seq: seq + 1, ConferenceID: "c", Activity: true, Name: "qos.stats", Fabric: 1,
			At: time.UnixMilli(1e12 + 10_000*int64(seq)), ObservedAt: time.UnixMilli(1e12 + 10_000*int64(seq) + n%7), ConferenceAt: time.UnixMilli(1e12),
			Attributes: map[string]any{
				"bytes": n * 999, "ms": 10_000.0, "rate": float64(n*999) * 8000 / 10_000, "third": float64(n) / 3,
				"codec": "opus", "text": strconv.FormatInt(n, 10), "flag": n%2 == 0, "jitter": float64(n) / 10, "qos.stats.ssrc": int64(seq / 20),
			},
		})
	}
	return b
}

// Whatever bit is turned over, the chunk is damaged.
func TestFlippedBits(t *testing.T) {
	body := build(t, rows(t, []storage.Batch{sample()})).Body
	for i := range len(body) * 8 {
		body[i/8] ^= 1 << (i % 8)
		_, err := Decode(body)
		require.ErrorIs(t, err, storage.ErrDamaged)
		body[i/8] ^= 1 << (i % 8)
	}
	for n := range body {
		_, err := Decode(body[:n])
		require.ErrorIs(t, err, storage.ErrDamaged)
	}
}

// What has a right checksum and is nonsense is an error, never a panic or a loop without
// end; what is read can be asked for all its records.
func FuzzDecode(f *testing.F) {
	payload, err := unseal(build(f, rows(f, []storage.Batch{sample()})).Body)
	require.NoError(f, err)
	f.Add(payload)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, payload []byte) {
		body, err := seal(payload)
		require.NoError(t, err)
		got, err := Decode(body)
		if err != nil {
			require.ErrorIs(t, err, storage.ErrDamaged)
			return
		}
		require.LessOrEqual(t, got.Len(), MaxRecords)
		for i := range got.Len() {
			got.Record(i)
		}
	})
}
