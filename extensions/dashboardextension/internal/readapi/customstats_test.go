package readapi

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// spec: LIB-09
func TestCustomStats(t *testing.T) {
	m := &memory{}
	c := m.newCall("numbers", t0)
	c.join(alice, "alice", "alice", nil)
	send := func(fabric int, at float64, data string) { c.event(alice, fabric, seconds(at), "customStats", data) }
	send(1, 5, `{"name":"cpu","value":0.000012}`)
	send(1, 6, `{"name":"cpu","value":-2}`)
	send(0, 7, `{"name":"cpu","value":3}`)
	// Handed over later, with times of their own; those that cannot be true are not believed.
	stamp := func(at float64) int64 { return seconds(at).UnixMilli() }
	send(1, 8, fmt.Sprintf(`{"name":"queue","value":2,"timestamp":%d}`, stamp(4)))
	send(1, 8, fmt.Sprintf(`{"name":"queue","value":1,"timestamp":%d}`, stamp(3)))
	send(1, 8, fmt.Sprintf(`{"name":"queue","value":3,"timestamp":%d}`, stamp(8)/1000))
	send(1, 9, `{"name":"queue","value":4,"timestamp":"soon"}`)
	c.record(alice, 1, seconds(10), semconv.EventEvent, map[string]any{
		semconv.EventName: "customStats", semconv.EventData: fmt.Sprintf(`{"name":"queue","value":5,"timestamp":%d}`, stamp(2)), semconv.TimeCorrected: true,
	})
	send(1, 11, `{"name":"queue","value":"many"}`)

	g := ask(t, start(t, m, nil), c)
	ms := func(at float64) any { return float64(stamp(at)) }
	points := func(times, values []any) map[string]any { return map[string]any{"t": times, "value": values} }
	require.Equal(t, []map[string]any{
		{"session": alice, "fabric": 0.0, "name": "cpu", "points": points([]any{ms(7)}, []any{3.0})},
		{"session": alice, "fabric": 1.0, "name": "cpu", "points": points([]any{ms(5), ms(6)}, []any{0.000012, -2.0})},
		{"session": alice, "fabric": 1.0, "name": "queue", "points": points([]any{ms(3), ms(4), ms(8), ms(9), ms(10)}, []any{1.0, 2.0, 3.0, 4.0, 5.0})},
	}, g.CustomStats)
	require.Len(t, g.Timeline, 1, "what is no number stands on the time-line as it came")
}

// spec: LIB-09
func TestManyCustomStats(t *testing.T) {
	m := &memory{}
	c := m.newCall("numbers", t0)
	c.join(alice, "alice", "alice", nil)
	const count = 5 * maxPoints
	for i := range count {
		c.event(alice, 1, seconds(float64(i)), "customStats", fmt.Sprintf(`{"name":"first","value":%d}`, i))
	}
	for i := range maxCustomStats + 10 {
		c.event(alice, 1, seconds(count), "customStats", fmt.Sprintf(`{"name":"name %d","value":1}`, i))
	}
	g := ask(t, start(t, m, nil), c)
	require.Len(t, g.CustomStats, maxCustomStats)
	require.Equal(t, 11, g.LeftOut.Custom)
	points, _ := g.CustomStats[0]["points"].(map[string]any)
	times, _ := points["t"].([]any)
	values, _ := points["value"].([]any)
	require.LessOrEqual(t, len(times), maxPoints)
	require.Greater(t, len(times), maxPoints/2)
	require.Len(t, values, len(times))
	require.Equal(t, float64(seconds(count-1).UnixMilli()), times[len(times)-1])
	last := -1.0
	for _, value := range values {
		require.Greater(t, value, last, "means of what is beside each other in time")
		last, _ = value.(float64)
	}
	require.Empty(t, g.Timeline)
}
