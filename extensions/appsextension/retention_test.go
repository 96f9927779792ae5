package appsextension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/appsextension/internal/app"
	"github.com/qosrtc/qos/extensions/appsextension/internal/metadatatest"
	"github.com/qosrtc/qos/storage"
)

// removerHost is a host whose storage extension deletes.
type removerHost struct {
	storeHost
	remover storage.Remover
}

func (h removerHost) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{storeID: removerExtension{storeExtension{settings: h.settings}, h.remover}}
}

type removerExtension struct {
	storeExtension
	remover storage.Remover
}

func (e removerExtension) Remover() storage.Remover { return e.remover }

// deletions takes down what is deleted; those of one app fail.
type deletions struct {
	storage.Remover
	fails string
	mu    sync.Mutex
	made  []string
}

func (d *deletions) calls() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.made)
}

func (d *deletions) DeleteAppBefore(_ context.Context, appID string, before time.Time) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.made = append(d.made, fmt.Sprintf("%s %s ago", appID, time.Since(before)))
	if appID == d.fails {
		return 1, errors.New("away")
	}
	return 2, nil
}

// Each hour, and at once; an app that fails keeps those of no other, and apps without a retention of
// their own are left to the store.
//
// spec: PRIV-02
func TestRetention(t *testing.T) {
	telemetry := componenttest.NewTelemetry()
	t.Cleanup(func() { require.NoError(t, telemetry.Shutdown(context.Background())) })
	m := newMemory()
	d := &deletions{fails: "declared"}
	synctest.Test(t, func(t *testing.T) {
		r := unstarted(t, telemetry.NewTelemetrySettings(), withoutAPI, func(c *Config) {
			c.Apps = []AppConfig{
				{ID: "declared", Secrets: []configopaque.String{"s"}, Retention: 24 * time.Hour},
				{ID: "without", Secrets: []configopaque.String{"s"}},
			}
		})
		require.NoError(t, r.Start(t.Context(), removerHost{storeHost{componenttest.NewNopHost(), m}, d}))
		synctest.Wait()
		require.Equal(t, []string{"declared 24h0m0s ago"}, d.calls())
		m.put(t, "shop", stored(t, r, func(a *app.App) { a.RetentionHours = 2 }))
		time.Sleep(59 * time.Minute)
		synctest.Wait()
		require.Len(t, d.calls(), 1)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"declared 24h0m0s ago", "declared 24h0m0s ago", "shop 2h0m0s ago"}, d.calls())
		require.NoError(t, r.Shutdown(t.Context()))
		require.Equal(t, 2, r.logged("the old conferences of an app could not all be deleted"))
	})
	value := func(v int64) []metricdata.DataPoint[int64] { return []metricdata.DataPoint[int64]{{Value: v}} }
	metadatatest.AssertEqualQosappsRetentionDeleted(t, telemetry, value(4), metricdatatest.IgnoreTimestamp())
	metadatatest.AssertEqualQosappsRetentionFailures(t, telemetry, value(2), metricdatatest.IgnoreTimestamp())
}
