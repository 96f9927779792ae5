package readapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// TestLatest: each stream has its newest measurement, whatever earlier ones had, with the
// interval that counts are of, and the answer describes each of these measures once, in the
// protocol's order.
//
// spec: DASH-02
func TestLatest(t *testing.T) {
	m := &memory{}
	c := m.newCall("standup", t0)
	c.join(alice, "alice", "alice", nil)
	c.stats(alice, seconds(5), "outbound-rtp", "video", map[string]any{"ssrc": int64(7), "codec": "VP8", "plis": int64(2), "fps": 30.0})
	c.stats(alice, seconds(10), "outbound-rtp", "video", map[string]any{
		"ssrc": int64(7), "codec": "H264", "rid": "h", "limitation": "cpu", "width": int64(1280), "bytes": int64(0), "targetBitrateBps": 1_250_000.5,
	})
	c.stats(alice, seconds(5), "candidate-pair", "", map[string]any{"rttMs": 38.25})
	g := ask(t, start(t, m, nil), c)

	require.Equal(t, map[string]any{
		"at": float64(seconds(5).UnixMilli()), "intervalMs": 5000.0, "values": map[string]any{"rttMs": 38.25},
	}, stream1(t, g, 0)["latest"])
	require.Len(t, g.Streams, 3, "the stream without a RID, and its layer")
	require.Equal(t, map[string]any{
		"at": float64(seconds(10).UnixMilli()), "intervalMs": 5000.0,
		"values": map[string]any{"width": 1280.0, "bytes": 0.0, "targetBitrateBps": 1_250_000.5},
		"texts":  map[string]any{"codec": "H264", "rid": "h", "limitation": "cpu"},
	}, g.Streams[2]["latest"], "what is no more measured is absent, 0 is a value")

	names := make([]string, 0, len(g.Measures))
	for _, one := range g.Measures {
		names = append(names, one.Name)
	}
	require.Equal(t, []string{"codec", "rid", "bytes", "rttMs", "width", "fps", "plis", "targetBitrateBps", "limitation"}, names)
	require.Equal(t, measure{Name: "codec", Note: protocol.Codec.Info().Note}, g.Measures[0])
	require.Equal(t, measure{Name: "rttMs", Unit: "ms", Max: 3_600_000, Note: "round-trip time"}, g.Measures[3])

	empty := m.newCall("nothing", t0)
	require.Equal(t, []measure{}, ask(t, start(t, m, nil), empty).Measures, "a list, though empty")
}
