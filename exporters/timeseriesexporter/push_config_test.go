package timeseriesexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
)

// TestPushConfig: each setting of the push that cannot work is named with its limit, and the others
// are valid.
//
// spec: OUT-01
func TestPushConfig(t *testing.T) {
	f := func(setting string, value any, fault string) {
		t.Helper()
		push := map[string]any{"endpoint": "https://store.example.org/api/v1/write"}
		if setting != "" {
			push[setting] = value
		}
		cfg := createDefaultConfig()
		require.NoError(t, confmap.NewFromStringMap(map[string]any{"push": push}).Unmarshal(cfg), setting)
		err := xconfmap.Validate(cfg)
		if fault == "" {
			require.NoError(t, err, "%s: %v", setting, value)
			return
		}
		require.ErrorContains(t, err, fault, "%s: %v", setting, value)
		require.ErrorContains(t, err, "push")
	}
	f("", nil, "")
	const url = "endpoint must be an http or https URL"
	for endpoint, fault := range map[string]string{
		"http://[::1]:9090/api/v1/write": "", "https://user:word@store/write": "",
		"": url, "store:9090": url, "localhost:9090/api/v1/write": url, "ftp://store/": url, "http://": url, "/api/v1/write": url, "http://store:port/": url, "http://st ore/": url,
	} {
		f("endpoint", endpoint, fault)
	}
	const protocol = `protocol must be "remote_write" or "victoriametrics"`
	for value, fault := range map[string]string{"remote_write": "", "victoriametrics": "", "": protocol, "remotewrite": protocol, "Remote_Write": protocol} {
		f("protocol", value, fault)
	}
	const interval = "interval must be at least 100ms (got "
	for value, fault := range map[string]string{"100ms": "", "24h": "", "99999us": interval + "99.999ms)", "0s": interval + "0s)", "-15s": interval + "-15s)"} {
		f("interval", value, fault)
	}
	f("compression", "gzip", "compression must be empty: remote write is compressed with snappy")
	f("compression", "snappy", "compression must be empty: remote write is compressed with snappy")
	const label = "labels: a name must be letters, digits and underscores, and not begin with a digit or __"
	for name, fault := range map[string]string{
		"zone": "", "Zone_2": "", "_zone": "", "_": "", "z": "",
		"": label, "2zone": label, "__name__": label, "__": label, "zone-2": label, "zone.2": label, "zöne": label, "a\"b": label, "a{": label, "a`": label, "a[": label, "a@": label,
	} {
		f("labels", map[string]any{name: "west"}, fault)
	}
	f("labels", map[string]any{"zone" + " ": "west"}, label)
	const queue = "sending_queue: num_consumers must be 1, without batch: stores refuse samples out of order"
	f("sending_queue", map[string]any{"num_consumers": 1, "queue_size": 5}, "")
	f("sending_queue", map[string]any{"num_consumers": 2}, queue)
	f("sending_queue", map[string]any{"batch": map[string]any{"flush_timeout": "1s"}}, queue)
	f("sending_queue", map[string]any{"enabled": false, "num_consumers": 2}, "")
	f("retry_on_failure", map[string]any{"max_elapsed_time": "5m"}, "")
	f("retry_on_failure", map[string]any{"initial_interval": "-1s"}, "initial_interval")
}

// TestPushFaultsAreJoined: all faults are named at once.
func TestPushFaultsAreJoined(t *testing.T) {
	cfg := defaultPush()
	cfg.Protocol, cfg.Interval, cfg.Labels = "x", 0, map[string]string{"": ""}
	err := cfg.Validate()
	for _, fault := range []string{"endpoint must", "protocol must", "interval must", "labels: "} {
		require.ErrorContains(t, err, fault)
	}
}

// TestCompressionOfText: the text for VictoriaMetrics may be compressed, but only with settings that
// exist.
func TestCompressionOfText(t *testing.T) {
	cfg := defaultPush()
	cfg.Endpoint, cfg.Protocol, cfg.Compression = "http://localhost:8428/api/v1/import/prometheus", victoriaMetrics, "gzip"
	require.NoError(t, cfg.Validate())
}
