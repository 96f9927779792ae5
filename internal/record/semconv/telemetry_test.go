package semconv_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

var update = flag.Bool("update", false, "write docs/telemetry.md, then fail")

// TestTelemetryDocument holds docs/telemetry.md to the code.
// spec: SRV-05
func TestTelemetryDocument(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "telemetry.md")
	want := document()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		t.Fatal("docs/telemetry.md was written; run again without -update")
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "docs/telemetry.md is not what the code says: make generate")
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, a := range semconv.Attributes {
		require.False(t, seen[a.Name], a.Name)
		require.NotEmpty(t, a.On, a.Name)
		require.NotEmpty(t, a.Brief, a.Name)
		seen[a.Name] = true
	}
	for _, m := range protocol.Measures {
		name := eventtest.Stats(m.Name)
		require.False(t, seen[name], name)
		require.Regexp(t, `^qos\.stats\.[a-z0-9_]+$`, name)
		seen[name] = true
	}
}

func TestIDs(t *testing.T) {
	// printf 'a\0b' | sha256sum
	require.Equal(t, "59b271ae1bbcb1d31d41929817f4b16f", fmt.Sprintf("%x", semconv.TraceID("a", "b")))
	require.NotEqual(t, semconv.TraceID("a", "b"), semconv.TraceID("ab", ""))
	require.NotEqual(t, semconv.SpanID("s", 1), semconv.SpanID("s", 11))
}

func document() string {
	var b strings.Builder
	b.WriteString(`# Telemetry

Generated from internal/record/semconv and protocol/measures.go; do not edit.

After reading this page you can query the collector's records by attribute, and its metrics by name.

One log record is one event on a conference's time-line. EventName is the kind of the event.
Timestamp is the client's corrected clock, ObservedTimestamp the time of arrival. The trace ID is
the first 16 bytes of SHA-256(appID, NUL, conferenceID): a routing key, which is the same when a
conferenceID is used again. The span ID is the first 8 bytes of SHA-256(session, NUL,
fabric number in decimal), or zero. A record of a pre-call test (` + "`" + semconv.EventPreCall + "`" + `) belongs to no
conference: both IDs are zero. The resource describes the session, the scope
(` + "`" + semconv.ScopeName + "`" + `) the conference and the fabric.

To print all records with their attributes, add the debug exporter to the pipeline of
deploy/run.yaml, and set the log level to info:

~~~yaml
exporters:
  debug:
    verbosity: detailed
~~~

## Attributes

| name | type | unit | on | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, a := range semconv.Attributes {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", a.Name, a.Type, a.Unit, on(a.On), a.Brief)
	}
	b.WriteString(`
## Measures

These are attributes of ` + "`" + semconv.EventStats + "`" + ` records. The column is the name on the wire
(docs/protocol.md, section 7). Counters are increases over the interval.

| column | attribute | type | unit | in reports of | meaning |
| --- | --- | --- | --- | --- | --- |
`)
	for _, m := range protocol.Measures {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s | %s | %s |\n", m.Name, eventtest.Stats(m.Name), m.Type, m.Unit, strings.Join(m.Reports.Names(), ", "), m.Note)
	}
	b.WriteString(`
## Metrics

The time-series exporter serves and pushes these metrics, the series connector emits them as OpenTelemetry
metrics. A label without a value is absent. A conference has the value that all its participants share, otherwise
` + "`mixed`" + `. A series with ` + "`otel_metric_overflow=\"true\"`" + ` counts the records of one app that are beyond the metric's
budget of series.

| name | type | unit | labels | meaning |
| --- | --- | --- | --- | --- |
`)
	for _, m := range semconv.Metrics {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Type, m.Unit, strings.Join(m.Labels, ", "), m.Brief)
	}
	return b.String()
}

func on(where string) string {
	if strings.HasPrefix(where, "qos.") {
		return "`" + where + "`"
	}
	return where
}
