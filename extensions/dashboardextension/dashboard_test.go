package dashboardextension

import (
	"bufio"
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadatatest"
)

// Requests that the dashboard refuses are counted, by their reason; the counters begin at zero.
func TestRefusalsAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, tel.Shutdown(context.Background())) })
	base, _ := run(t, tel.NewTelemetrySettings(), nil)
	do(t, base, func(r *http.Request) { r.Host = "evil.example" })
	get(t, base+"/api/conferences?limit=x")
	point := func(n int64, reason string) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("reason", reason))}
	}
	metadatatest.AssertEqualQosdashboardRejectedRequests(t, tel, []metricdata.DataPoint[int64]{point(1, "parameter"), point(1, "host"), point(0, "streams"), point(0, "busy")}, metricdatatest.IgnoreTimestamp())
}

// Streams end when the dashboard stops: it does not wait for browsers.
//
// spec: DASH-05
func TestStopEndsStreams(t *testing.T) {
	base, ext := run(t, componenttest.NewNopTelemetrySettings(), nil)
	res := do(t, base+"/api/live", func(*http.Request) {})
	lines := bufio.NewScanner(res.Body)
	require.True(t, lines.Scan())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, ext.Shutdown(ctx))
	for lines.Scan() { // the events before
	}
	require.NoError(t, lines.Err(), "an end, not a cut")
}
