package storeexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadatatest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// addPreCall adds a test as the receiver makes it.
func addPreCall(t *testing.T, logs plog.Logs, seq int64, attributes map[string]any) {
	t.Helper()
	r := add(newResource(logs, session).ScopeLogs().AppendEmpty().LogRecords(), semconv.EventPreCall, seq)
	for name, v := range attributes {
		value, _ := r.Attributes().GetOrPutEmpty(name)
		require.NoError(t, value.FromRaw(v))
	}
}

// TestPreCalls: a test is stored with what its session says, whatever the sender left out or sent as another type.
//
// spec: PRE-02, INIT-08
func TestPreCalls(t *testing.T) {
	store := newStore(t)
	x := start(t, store)
	logs := plog.NewLogs()
	addPreCall(t, logs, 1, map[string]any{
		semconv.PreCallTrigger: "initialize", semconv.PreCallStatus: "success", semconv.PreCallReason: "a call began", semconv.PreCallInterrupted: true,
		semconv.PreCallMediaConnectivity: true, semconv.PreCallRTTMs: 20, semconv.PreCallLossFraction: 0.25, semconv.PreCallNetworkType: "wifi",
		semconv.PreCallBytesSent: 812_345, semconv.PreCallDurationMs: 6012.0,
		semconv.PreCallProviders: []any{
			map[string]any{semconv.ProviderName: "eu-1", semconv.ProviderAcceptable: true, semconv.ProviderJitterMs: 1.5, semconv.ProviderTransports: []any{
				map[string]any{semconv.TransportProtocol: "udp", semconv.TransportConnected: true, semconv.TransportConnectMs: 120.0},
				map[string]any{semconv.TransportProtocol: "tls", semconv.TransportError: "no answer"},
				"no map",
			}},
			7,
			map[string]any{semconv.ProviderName: "eu-2", semconv.ProviderReason: "credentials"},
			map[string]any{semconv.ProviderName: "eu-3", semconv.ProviderReason: "sunspots of 203.0.113.7"},
		},
	})
	addPreCall(t, logs, 2, map[string]any{semconv.PreCallStatus: "failure", semconv.PreCallBytesSent: -1, semconv.PreCallRTTMs: "20", semconv.PreCallProviders: "eu-1"})
	addPreCall(t, logs, 0, map[string]any{})
	require.NoError(t, x.ConsumeLogs(t.Context(), logs))
	require.NoError(t, x.ConsumeLogs(t.Context(), logs))
	page, err := store.PreCalls(t.Context(), storage.PreCallQuery{SiteID: "hq"})
	require.NoError(t, err)
	require.Len(t, page.PreCalls, 2)
	got := page.PreCalls[1]
	require.Equal(t, "alice", got.Session.UserID)
	require.Equal(t, noon.Add(time.Second), got.At)
	require.Equal(t, storage.PreCallResult{
		Trigger: "initialize", Status: "success", Reason: "a call began", Interrupted: true, MediaConnectivity: true, RTTMs: new(20.0),
		LossFraction: new(0.25), NetworkType: "wifi", BytesSent: 812_345, DurationMs: 6012,
		Providers: []storage.PreCallProvider{{Provider: "eu-1", Acceptable: true, JitterMs: new(1.5), Transports: []storage.PreCallTransport{
			{RelayProtocol: "udp", Connected: true, ConnectMs: new(120.0)}, {RelayProtocol: "tls", Error: "no answer"},
		}}, {Provider: "eu-2", Reason: "credentials"}, {Provider: "eu-3", Reason: "other"}},
	}, got.Result)
	require.Equal(t, storage.PreCallResult{Status: "failure"}, page.PreCalls[0].Result)
	metadatatest.AssertEqualQosstoreWrittenRecords(t, x.telemetry, sum(2), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualQosstoreDuplicateRecords(t, x.telemetry, sum(2), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	metadatatest.AssertEqualQosstoreRejectedRecords(t, x.telemetry, rejected(2, reasonFrameSeq), metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}
