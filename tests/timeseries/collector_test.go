package timeseries

import (
	"context"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/xconfmap"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/qosrtc/qos/exporters/timeseriesexporter"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// collector is the exporter, with a persistent queue in a directory.
type collector struct {
	t         *testing.T
	config    map[string]any
	storage   string
	telemetry *componenttest.Telemetry
	exporter  exporter.Logs
	extension component.Component
}

func newCollector(t *testing.T, config map[string]any) *collector {
	t.Helper()
	c := &collector{t: t, config: config, storage: t.TempDir()}
	c.start()
	t.Cleanup(c.end)
	return c
}

type host struct {
	component.Host
	extensions map[component.ID]component.Component
}

func (h host) GetExtensions() map[component.ID]component.Component { return h.extensions }

func (c *collector) start() {
	c.t.Helper()
	c.telemetry = componenttest.NewTelemetry()
	files := filestorage.NewFactory()
	id := component.NewID(files.Type())
	cfg := files.CreateDefaultConfig()
	require.NoError(c.t, confmap.NewFromStringMap(map[string]any{"directory": c.storage}).Unmarshal(cfg))
	var err error
	c.extension, err = files.Create(c.t.Context(), extensiontest.NewNopSettings(files.Type()), cfg)
	require.NoError(c.t, err)
	require.NoError(c.t, c.extension.Start(c.t.Context(), componenttest.NewNopHost()))

	factory := timeseriesexporter.NewFactory()
	own := factory.CreateDefaultConfig()
	require.NoError(c.t, confmap.NewFromStringMap(c.config).Unmarshal(own))
	require.NoError(c.t, xconfmap.Validate(own))
	set := exportertest.NewNopSettings(factory.Type())
	set.ID = component.NewID(factory.Type()) // which names its queue
	set.TelemetrySettings = c.telemetry.NewTelemetrySettings()
	set.Resource.Attributes().PutStr("service.name", "qos")
	set.Resource.Attributes().PutStr("service.instance.id", "collector-1")
	c.exporter, err = factory.CreateLogs(c.t.Context(), set, own)
	require.NoError(c.t, err)
	require.NoError(c.t, c.exporter.Start(c.t.Context(), host{componenttest.NewNopHost(), map[component.ID]component.Component{id: c.extension}}))
}

// end ends the collector; what the store has not accepted remains in its queue.
func (c *collector) end() {
	if c.exporter == nil {
		return
	}
	ctx := context.WithoutCancel(c.t.Context())
	require.NoError(c.t, c.exporter.Shutdown(ctx))
	require.NoError(c.t, c.extension.Shutdown(ctx))
	require.NoError(c.t, c.telemetry.Shutdown(ctx))
	require.NoError(c.t, freeport.Released(c.config["endpoint"].(string)))
	c.exporter = nil
}

func (c *collector) send(logs plog.Logs) {
	c.t.Helper()
	require.NoError(c.t, c.exporter.ConsumeLogs(c.t.Context(), logs))
}

// metric returns the sum of the data points of one of the collector's own metrics, 0 if it has none.
func (c *collector) metric(name string) (sum int64) {
	c.t.Helper()
	m, err := c.telemetry.GetMetric(name)
	if err != nil {
		return 0
	}
	switch data := m.Data.(type) {
	case metricdata.Gauge[int64]:
		for _, dp := range data.DataPoints {
			sum += dp.Value
		}
	case metricdata.Sum[int64]:
		for _, dp := range data.DataPoints {
			sum += dp.Value
		}
	}
	return sum
}
