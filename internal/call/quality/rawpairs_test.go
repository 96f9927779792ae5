package quality

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// readRow returns the measurement of a row by column names.
func readRow(t *testing.T, row map[string]any) event.Measurement {
	t.Helper()
	var m event.Measurement
	for name, value := range row {
		switch v := value.(type) {
		case float64:
			if name == "intervalMs" {
				m.IntervalMs = v
				continue
			}
			measure := protocol.MeasureNamed(name)
			require.NotEqual(t, protocol.UnknownMeasure, measure, name)
			m.Set(measure, v)
		case string:
			switch name {
			case "statsType":
				m.StatsType = v
			case "mediaType":
				m.MediaType = v
			case "codec":
				m.Codec = v
			}
		}
	}
	return m
}

// TestRawPairs: client/test/raw-pairs.test.ts has the library read pairs of raw reports, the second with more
// damage or with retransmissions. Damage never raises a score, retransmissions do not change it.
//
// spec: QUAL-01
func TestRawPairs(t *testing.T) {
	text, err := os.ReadFile("testdata/raw_pairs.json")
	require.NoError(t, err)
	var pairs []struct {
		Kind          string
		Same          bool
		Better, Worse map[string]any
	}
	require.NoError(t, json.Unmarshal(text, &pairs))
	fell := map[string]int{}
	for i, pair := range pairs {
		better, worse := scoreRow(readRow(t, pair.Better)), scoreRow(readRow(t, pair.Worse))
		require.True(t, better.OK() && worse.OK(), "pair %d, %s: %s, %s", i, pair.Kind, better.Reason, worse.Reason)
		if pair.Same {
			require.InDelta(t, better.MOS, worse.MOS, 1e-9, "pair %d, %s", i, pair.Kind)
			continue
		}
		require.LessOrEqual(t, worse.MOS, better.MOS+1e-9, "pair %d, %s", i, pair.Kind)
		if worse.MOS < better.MOS {
			fell[pair.Kind]++
		}
	}
	for _, kind := range []string{"a freeze", "lost packets", "late packets"} {
		require.Positive(t, fell[kind], kind)
	}
}

func scoreRow(m event.Measurement) Result {
	if m.Audio() {
		return ScoreAudio(&m)
	}
	return scoreVideo(m)
}

// A client that reports only the number of retransmitted packets: their bytes are estimated.
func TestRetransmittedPacketsWithoutTheirBytes(t *testing.T) {
	media := camera("VP8", 640, 360, 300, 30)
	again := media
	again.Set(protocol.Packets, 46)
	again.Set(protocol.RetransmittedPackets, 322)
	again.Set(protocol.Bytes, media.Get(protocol.Bytes)*(46+322)/46)
	media.Set(protocol.Packets, 46)
	require.InDelta(t, videoMOS(t, media), videoMOS(t, again), 1e-9)
}
