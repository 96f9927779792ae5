package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// fullPreCall is a test with all members.
func fullPreCall(reason string) *protocol.PreCall {
	return &protocol.PreCall{
		Header: header(2), Trigger: "makePrecallTest", Status: "success", Reason: reason, Interrupted: true, MediaConnectivity: true,
		RTTMs: new(23.1), LossFraction: new(0.0), ThroughputBps: new(2.1e6), NetworkType: "wifi", BytesSent: 812_345, DurationMs: 6012,
		Providers: []protocol.PreCallProvider{
			{
				Provider: "203.0.113.7", Acceptable: true, RTTMs: new(23.1), JitterMs: new(1.2), LossFraction: new(0.0), ThroughputBps: new(2.1e6),
				Transports: []protocol.PreCallTransport{
					{RelayProtocol: "udp", Connected: true, ConnectMs: new(120.0)}, {RelayProtocol: "tls", Error: "no answer from 203.0.113.7"},
				},
			},
			{Provider: "eu-2", Reason: "unreachable"},
		},
	}
}

// TestTranslatePreCall: a test is one record without a conference. Addresses are cut in texts, and names of
// providers remain as they are.
//
// spec: INIT-08, PRIV-01
func TestTranslatePreCall(t *testing.T) {
	tr := testTranslator()
	tr.add(fullPreCall("a call began at 198.51.100.9"), arrival)
	logs := tr.take()
	require.Equal(t, 0, logs.ResourceLogs().At(0).ScopeLogs().At(0).Scope().Attributes().Len())
	site, _ := logs.ResourceLogs().At(0).Resource().Attributes().Get(semconv.SiteID)
	require.Equal(t, "hq", site.Str())
	got := records(logs)
	require.Len(t, got, 1)
	require.Equal(t, semconv.EventPreCall, got[0].EventName())
	require.Equal(t, pcommon.TraceID{}, got[0].TraceID())
	require.Equal(t, header(2).At, got[0].Timestamp().AsTime().UnixMilli())
	require.Equal(t, map[string]any{
		"qos.frame.seq": int64(2), "qos.frame.index": int64(0),
		"qos.precall.trigger": "makePrecallTest", "qos.precall.status": "success", "qos.precall.reason": "a call began at 198.51.100.0",
		"qos.precall.interrupted": true, "qos.precall.media_connectivity": true, "qos.precall.rtt_ms": 23.1, "qos.precall.loss_fraction": 0.0,
		"qos.precall.throughput_bps": 2.1e6, "qos.precall.network_type": "wifi", "qos.precall.bytes_sent": int64(812_345), "qos.precall.duration_ms": 6012.0,
		"qos.precall.providers": []any{
			map[string]any{
				"provider": "203.0.113.7", "acceptable": true, "rtt_ms": 23.1, "jitter_ms": 1.2, "loss_fraction": 0.0, "throughput_bps": 2.1e6,
				"transports": []any{
					map[string]any{"relay_protocol": "udp", "connected": true, "connect_ms": 120.0},
					map[string]any{"relay_protocol": "tls", "connected": false, "error": "no answer from 203.0.113.0"},
				},
			},
			map[string]any{"provider": "eu-2", "acceptable": false, "reason": "unreachable"},
		},
	}, raw(got[0].Attributes()))
}
