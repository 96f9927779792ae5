package zeros

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Each counter, and each value of an attribute, has a data point of 0, which a later count adds to.
func TestZeros(t *testing.T) {
	reader := sdk.NewManualReader()
	meter := sdk.NewMeterProvider(sdk.WithReader(reader)).Meter("test")
	plain, err := meter.Int64Counter("plain")
	require.NoError(t, err)
	split, err := meter.Int64Counter("split")
	require.NoError(t, err)
	Record(t.Context(), plain)
	RecordEach(t.Context(), split, "reason", "late", "ahead")
	plain.Add(t.Context(), 3)

	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	got := map[string]int64{}
	for _, m := range all.ScopeMetrics[0].Metrics {
		for _, dp := range m.Data.(metricdata.Sum[int64]).DataPoints {
			got[m.Name+" "+dp.Attributes.Encoded(attribute.DefaultEncoder())] = dp.Value
		}
	}
	require.Equal(t, map[string]int64{"plain ": 3, "split reason=late": 0, "split reason=ahead": 0}, got)
}
