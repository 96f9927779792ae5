package chunk

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/store/storagetest"
)

// BenchmarkBuild packs calls of two hours and reports what a record takes, in a frame's row
// and in a chunk.
func BenchmarkBuild(b *testing.B) {
	for _, people := range []int{2, 8} {
		b.Run(fmt.Sprint("people=", people), func(b *testing.B) {
			in := rows(b, storagetest.Call(people, 720, time.UnixMilli(1_772_366_400_000)))
			loose, packed, records, chunks := 0, 0, 0, 0
			done := func(c Chunk) { packed, records, chunks = packed+len(c.Body), records+c.Records, chunks+1 }
			b.ReportAllocs()
			for b.Loop() {
				var builder Builder
				for i := range in {
					loose += len(in[i].Body)
					for {
						result, err := builder.Add(&in[i])
						require.NoError(b, err)
						if result == Added {
							break
						}
						c, err := builder.Build()
						require.NoError(b, err)
						done(c)
					}
				}
				c, err := builder.Build()
				require.NoError(b, err)
				done(c)
			}
			b.ReportMetric(float64(loose)/float64(records), "B/record-loose")
			b.ReportMetric(float64(packed)/float64(records), "B/record")
			b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

// BenchmarkDecode reads chunks of a call of eight, records and all.
func BenchmarkDecode(b *testing.B) {
	in := rows(b, storagetest.Call(8, 14, time.UnixMilli(1_772_366_400_000)))
	c := build(b, in)
	b.ReportAllocs()
	for b.Loop() {
		got, err := Decode(c.Body)
		require.NoError(b, err)
		for i := range got.Len() {
			got.Record(i)
		}
	}
	b.ReportMetric(float64(c.Records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}
