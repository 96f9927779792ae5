package detect

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// BenchmarkMeasurement is what a measurement costs: read and remembered, in a call in which
// something changes now and then.
func BenchmarkMeasurement(b *testing.B) {
	rules := NewRules(DefaultConfig())
	s := good(false, true)
	var line Timeline
	at := int64(base)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Set(protocol.FreezeMs, float64(btoi(i%40 == 0))*1000)
		r := rules.Read(&s)
		line.Add(at, at+10_000, r.Word)
		at += 10_000
	}
}

func BenchmarkEpisodes(b *testing.B) {
	rules := NewRules(DefaultConfig())
	s := good(false, true)
	var line Timeline
	for i := range int64(360) {
		s.Set(protocol.FreezeMs, float64(btoi(i%10 == 0))*1000)
		line.Add(base+i*10_000, base+(i+1)*10_000, rules.Read(&s).Word)
	}
	for b.Loop() {
		for l := range NumLevels {
			line.Episodes(rules.Level(l).Timing(), nil, func(w Word) Class { return w.Class(l) })
		}
	}
	b.ReportMetric(float64(len(line.runs))*float64(unsafe.Sizeof(run{})), "B/timeline")
}

// BenchmarkChangingMeasurement is the worst case: each interval changes the state, for days.
func BenchmarkChangingMeasurement(b *testing.B) {
	var line Timeline
	at := int64(base)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		line.Add(at, at+10_000, Word(0).with(levelLoss, Class(1+i%3)))
		at += 10_000
	}
	b.ReportMetric(float64(cap(line.runs))*float64(unsafe.Sizeof(run{})), "B/timeline")
}

// TestQuietMeasurementAllocatesNothing is a budget: most measurements change nothing.
func TestQuietMeasurementAllocatesNothing(t *testing.T) {
	rules := NewRules(DefaultConfig())
	s := good(false, true)
	line, at := Timeline{}, int64(base)
	line.Add(at, at+10_000, rules.Read(&s).Word)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		at += 10_000
		line.Add(at, at+10_000, rules.Read(&s).Word)
	}))
	require.Equal(t, uintptr(16), unsafe.Sizeof(run{}))
	require.Equal(t, uintptr(32), unsafe.Sizeof(line))
}
