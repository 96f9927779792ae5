package stock

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/connector/connectortest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/qosrtc/qos/connectors/seriesconnector"
)

// points returns the data points that count something, by metric and attributes.
func points(metrics ...pmetric.Metrics) map[string]string {
	out := map[string]string{}
	put := func(m pmetric.Metric, attrs pcommon.Map, value string) {
		out[fmt.Sprint(m.Name(), attrs.AsRaw())] = value
	}
	for _, batch := range metrics {
		for _, resource := range batch.ResourceMetrics().All() {
			for _, scope := range resource.ScopeMetrics().All() {
				for _, m := range scope.Metrics().All() {
					if m.Type() == pmetric.MetricTypeSum {
						for _, dp := range m.Sum().DataPoints().All() {
							if dp.DoubleValue() != 0 {
								put(m, dp.Attributes(), fmt.Sprint(dp.DoubleValue()))
							}
						}
						continue
					}
					for _, dp := range m.Histogram().DataPoints().All() {
						if dp.Count() != 0 {
							put(m, dp.Attributes(), fmt.Sprint(dp.Count(), dp.Sum(), dp.ExplicitBounds().AsRaw(), dp.BucketCounts().AsRaw()))
						}
					}
				}
			}
		}
	}
	return out
}

// TestPointsOfAFrame: what BenchmarkEvents gives the stock exporter for a frame is exactly what the
// connector counts of the frame's records, in as many data points as docs/benchmarks.md names.
func TestPointsOfAFrame(t *testing.T) {
	sink := new(consumertest.MetricsSink)
	factory := seriesconnector.NewFactory()
	c, err := factory.CreateLogsToMetrics(t.Context(), connectortest.NewNopSettings(factory.Type()), factory.CreateDefaultConfig(), sink)
	require.NoError(t, err)
	require.NoError(t, c.Start(t.Context(), componenttest.NewNopHost()))
	const session = 3
	require.NoError(t, c.ConsumeLogs(t.Context(), frame(session)))
	require.NoError(t, c.Shutdown(context.WithoutCancel(t.Context()))) // emits
	counted, given := points(sink.AllMetrics()...), points(increases(session))
	require.Equal(t, counted, given)
	require.Len(t, given, increases(session).DataPointCount(), "each data point counts something")

	text, err := os.ReadFile("../../docs/benchmarks.md")
	require.NoError(t, err)
	found := regexp.MustCompile(`(\d+) data points with delta temporality\s+for each frame`).FindSubmatch(text)
	require.NotNil(t, found, "docs/benchmarks.md has the number")
	require.Equal(t, strconv.Itoa(len(given)), string(found[1]))
}
