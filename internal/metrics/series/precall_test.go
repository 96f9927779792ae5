package series

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

func preCall(status string, providers ...any) map[string]any {
	return map[string]any{semconv.PreCallStatus: status, semconv.PreCallRTTMs: 20.0, semconv.PreCallProviders: providers}
}

func provider(name string, acceptable bool, figures map[string]any) map[string]any {
	m := map[string]any{semconv.ProviderName: name, semconv.ProviderAcceptable: acceptable}
	maps.Copy(m, figures)
	return m
}

// preCallLines are the lines of the metrics of pre-call tests that are not buckets, and the reasons that count nothing.
func preCallLines(t *testing.T, a *aggregates) (out, zeros []string) {
	t.Helper()
	for line := range strings.Lines(exposition(t, a)) {
		if strings.HasPrefix(line, "qos_precall_") && !strings.Contains(line, "_bucket{") {
			if reason := regexp.MustCompile(`reason="(\w+)"} 0`).FindStringSubmatch(line); reason != nil {
				zeros = append(zeros, reason[1])
			} else {
				out = append(out, strings.TrimSpace(line))
			}
		}
	}
	return out, zeros
}

// TestPreCalls: a test is counted once, by status, and once for each of its providers, by reason. Each value begins at
// zero. A reason that is no word of the set is "other".
// Results that cannot be true are left out.
//
// spec: PRE-02
func TestPreCalls(t *testing.T) {
	a, logs := newAggregates(2), plog.NewLogs()
	record(logs, "shop", semconv.EventPreCall, preCall("success",
		provider("eu-1", true, map[string]any{semconv.ProviderRTTMs: 20.0, semconv.ProviderLossFraction: 0.0, semconv.ProviderThroughputBps: 2e6}),
		provider("eu-2", false, map[string]any{semconv.ProviderRTTMs: -1.0, semconv.ProviderLossFraction: 1.5, semconv.ProviderThroughputBps: 1e300, semconv.ProviderReason: "sunspots"}),
		provider("", true, nil), provider("x\n", true, nil), "no map"))
	record(logs, "shop", semconv.EventPreCall, preCall("failure", provider("eu-1", false, map[string]any{semconv.ProviderRTTMs: 40.0, semconv.ProviderReason: "jitter"})))
	again := preCall("failure")
	again[semconv.Duplicate] = true
	record(logs, "shop", semconv.EventPreCall, again)
	record(logs, "shop", semconv.EventPreCall, preCall("perhaps"))
	left := a.observe(logs)
	require.Equal(t, [NumReasons]int64{ReasonAttribute: 1}, left.Dropped)
	lines, zeros := preCallLines(t, a)
	require.Equal(t, []string{
		`qos_precall_tests_total{app="shop",status="failure"} 1`, `qos_precall_tests_total{app="shop",status="success"} 1`,
		`qos_precall_provider_tests_total{app="shop",provider="eu-1",acceptable="false",reason="jitter"} 1`,
		`qos_precall_provider_tests_total{app="shop",provider="eu-1",acceptable="true"} 1`,
		`qos_precall_provider_tests_total{app="shop",provider="eu-2",acceptable="false",reason="other"} 1`,
		`qos_precall_provider_tests_total{app="shop",provider="eu-2",acceptable="true"} 0`,
		`qos_precall_provider_tests_total{app="shop",provider="x�",acceptable="true"} 1`,
		`qos_precall_rtt_seconds_sum{app="shop",provider="eu-1"} 0.06`, `qos_precall_rtt_seconds_count{app="shop",provider="eu-1"} 2`,
		`qos_precall_loss_ratio_sum{app="shop",provider="eu-1"} 0`, `qos_precall_loss_ratio_count{app="shop",provider="eu-1"} 1`,
		`qos_precall_throughput_bytes_per_second_sum{app="shop",provider="eu-1"} 250000`,
		`qos_precall_throughput_bytes_per_second_count{app="shop",provider="eu-1"} 1`,
	}, lines)
	require.Len(t, zeros, 3*len(protocol.PreCallReasons)-2)
	require.Subset(t, protocol.PreCallReasons, zeros)
}
