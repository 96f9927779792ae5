//go:build !fuzz

package readapi

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// The page shows of each stream what its lowest score was made of, from the
// store that has it.
//
// spec: DASH-02, QUAL-01
func TestLowestScoreWithItsInputs(t *testing.T) {
	m := &memory{}
	c := m.newCall("complaint", t0)
	c.join(alice, "alice", "alice", nil)
	score := func(at, mos float64, more map[string]any) {
		attrs := map[string]any{
			"ssrc": int64(7), "codec": "opus", "packets": int64(250),
			semconv.QualityMOS: mos, semconv.QualityLabel: "fair", semconv.QualityModel: "qos-audio/8 (G.107.2)",
			semconv.QualityConfidence: "high", semconv.QualityInputPrefix + "loss_fraction": 0.0,
		}
		maps.Copy(attrs, more)
		c.stats(alice, seconds(at), "inbound-rtp", "audio", attrs)
	}
	score(5, 4.3, nil)
	score(10, 2.608, map[string]any{
		semconv.QualityConfidence: "medium", semconv.QualityAssumed: "rtt", semconv.QualityLabel: "poor",
		semconv.QualityInputPrefix + "loss_fraction": 0.089, semconv.QualityInputPrefix + "bitrate_bps": 18_800.0,
	})
	score(15, 2.608, nil)
	c.stats(alice, seconds(20), "inbound-rtp", "audio", map[string]any{"ssrc": int64(7), semconv.QualityReason: "no_packets"})
	c.stats(alice, seconds(20), "inbound-rtp", "audio", map[string]any{"ssrc": int64(8), semconv.QualityReason: "no_packets"})
	mos := 4.1
	c.summarise("success", &mos, "good", namedSummary)
	store := newSQLite(t)
	write(t, store, c)

	g := ask(t, startOn(t, reading{m, store}, nil), c)
	require.Equal(t, map[string]any{
		"at": float64(seconds(10).UnixMilli()), "mos": 2.608, "label": "poor", "model": "qos-audio/8 (G.107.2)",
		"confidence": "medium", "assumed": "rtt",
		"inputs": map[string]any{"loss_fraction": 0.089, "bitrate_bps": 18_800.0},
	}, stream1(t, g, 7)["lowest"])
	require.NotContains(t, stream1(t, g, 8), "lowest")
}
