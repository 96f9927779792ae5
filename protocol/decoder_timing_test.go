package protocol

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// eightStreams are the columns and the frame of eight streams with 18 measures each.
func eightStreams(tb testing.TB) (d *Decoder, rows, keyed []byte) {
	tb.Helper()
	d = NewDecoder()
	_, err := d.Decode([]byte(fuzzContext[0]))
	require.Nil(tb, err)
	columns := &Columns{Set: 1, StatsType: "inbound-rtp", MediaType: "video", Names: []string{
		"ssrc", "codec", "bytes", "packets", "packetsLost", "packetsDiscarded", "jitterMs", "jitterBufferDelayMs",
		"frames", "framesDecoded", "framesDropped", "keyFrames", "width", "height", "fps", "freezes", "decodeMs", "nacks",
	}}
	frame, err := d.Decode(appendFrame(columns))
	require.Nil(tb, err)
	stats := &Stats{Header: Header{Seq: 1234, At: 1763702170123}, Fabric: d.fabrics[1], IntervalMs: 10003}
	var list []map[string]any
	for i := range 8 {
		texts := map[int]Value{1: {Kind: String, Str: "VP8"}, 17: {}}
		numbers := []float64{3735928559 + float64(i), 0, 402110, 501, 2, 0, 3.125, 41.5, 250, 249, 1, 2, 1280, 720, 24.96, 0, 812.4, 0}
		row := map[string]any{"statsType": "inbound-rtp", "mediaType": "video"}
		values := make([]Value, len(numbers))
		for j, n := range numbers {
			values[j] = Value{Kind: Number, Num: n}
			if text, ok := texts[j]; ok {
				values[j] = text
			}
			row[columns.Names[j]] = json.RawMessage(values[j].append(nil))
		}
		stats.Records = append(stats.Records, Record{frame.(*Columns), values})
		list = append(list, row)
	}
	list2, e := json.Marshal(list)
	require.NoError(tb, e)
	keyed = append([]byte(`{"type":"stats","seq":1234,"at":1763702170123,"fabric":1,"intervalMs":10003,"keyed":`), list2...)
	return d, appendFrame(stats), append(keyed, '}')
}

func benchmarkDecode(b *testing.B, d *Decoder, msg []byte) {
	b.Helper()
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(msg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeStatsRows8(b *testing.B) {
	d, rows, _ := eightStreams(b)
	benchmarkDecode(b, d, rows)
}

// With the memory given back after each frame, as the receiver does.
func BenchmarkDecodeStatsRows8Release(b *testing.B) {
	d, rows, _ := eightStreams(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(rows); err != nil {
			b.Fatal(err)
		}
		d.Release()
	}
}

func BenchmarkDecodeStatsKeyed8(b *testing.B) {
	d, _, keyed := eightStreams(b)
	benchmarkDecode(b, d, keyed)
}

func BenchmarkDecodeEvent(b *testing.B) {
	d, _, _ := eightStreams(b)
	benchmarkDecode(b, d, []byte(`{"type":"event","seq":3,"at":1763702161000,"fabric":1,"event":"audioMute","data":{}}`))
}

// What encoding/json alone takes for the same bytes, without any validation.
func BenchmarkEncodingJSONRows8(b *testing.B) {
	_, rows, _ := eightStreams(b)
	benchmarkJSON(b, rows)
}

func BenchmarkEncodingJSONKeyed8(b *testing.B) {
	_, _, keyed := eightStreams(b)
	benchmarkJSON(b, keyed)
}

func benchmarkJSON(b *testing.B, msg []byte) {
	b.Helper()
	b.SetBytes(int64(len(msg)))
	b.ReportAllocs()
	for b.Loop() {
		var v struct {
			Type       string
			Seq        uint64
			At         int64
			Fabric     int
			IntervalMs float64
			Rows       [][]any
			Keyed      []map[string]any
		}
		if err := json.Unmarshal(msg, &v); err != nil {
			b.Fatal(err)
		}
	}
}

// The budget of the hot path. If a change needs more, raise it here and say why there.
func TestStatsFramesAllocateNothing(t *testing.T) {
	d, rows, keyed := eightStreams(t)
	for name, msg := range map[string][]byte{"rows": rows, "keyed": keyed} {
		require.Zero(t, testing.AllocsPerRun(100, func() {
			if _, err := d.Decode(msg); err != nil {
				t.Fatal(err)
			}
		}), name)
	}
}
