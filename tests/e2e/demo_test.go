package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/extension/extensiontest"

	"github.com/qosrtc/qos/extensions/demoextension"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// startDemo runs the demo application alone: its library's back-end is not there.
func startDemo(t *testing.T) string {
	t.Helper()
	factory := demoextension.NewFactory()
	cfg := factory.CreateDefaultConfig()
	address := freeAddress(t)
	require.NoError(t, confmap.NewFromStringMap(map[string]any{
		"endpoint": address, "backend_url": "http://" + freeAddress(t),
	}).Unmarshal(cfg))
	demo, err := factory.Create(t.Context(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, demo.Start(t.Context(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, demo.Shutdown(context.Background())) })
	return "http://" + address
}

// freeAddress returns a loopback address that was free a moment ago. Nothing else runs in
// this namespace.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	return address
}

// TestDemoCallsWithoutTheLibrary: monitoring that cannot be reached takes no part in
// whether a call works.
func TestDemoCallsWithoutTheLibrary(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			base := startDemo(t)
			b := browser.Start(t, kind)
			ada := openPage(t, b, "ada", demoURL(base, "plain", "ada"))
			ada.Until(patience, "demo.state.connectionState === 'waiting'")
			grace := openPage(t, b, "grace", demoURL(base, "plain", "grace"))
			ada.mediaFlows()
			grace.mediaFlows()
			var init [][2]string
			ada.Get("demo.state.init", &init)
			require.Equal(t, "notLoaded", init[0][0])
			beatsWait(ada)
			ada.Run("demo.hangUp()")
			grace.Until(patience, "demo.state.connectionState === 'waiting'")
		})
	}
}

// beatsWait: a page that has not drawn gets no further beats, which would pile up on a slow machine.
func beatsWait(p *page) {
	p.T.Helper()
	var beats []int
	p.Get(`(async () => {
		const wait = (ms) => new Promise((done) => setTimeout(done, ms));
		const ticker = new Worker('ticker.js');
		let beats = 0;
		ticker.onmessage = () => beats++;
		ticker.postMessage(1000);
		while (beats === 0) await wait(10);
		await wait(200);
		const first = beats;
		ticker.postMessage('drawn');
		while (beats === first) await wait(10);
		ticker.terminate();
		return [first, beats];
	})()`, &beats)
	require.Equal(p.T, []int{1, 2}, beats)
}
