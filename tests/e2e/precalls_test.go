package e2e

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// preCallFrame is a test with two providers, of which the second failed.
const preCallFrame = `"type":"precall","trigger":"initialize","status":%q,"interrupted":false,"mediaConnectivity":true,"rttMs":23.1,"lossFraction":0.01,
	"throughputBps":2100000,"networkType":"wifi","bytesSent":812345,"durationMs":6012,"reason":%q,
	"providers":[{"provider":"eu-1","acceptable":true,"rttMs":23.1,"jitterMs":1.2,"lossFraction":0.01,"throughputBps":2100000,
		"transports":[{"relayProtocol":"udp","connected":true,"connectMs":120},{"relayProtocol":"tls","connected":false,"error":%q}]},
		{"provider":%q,"acceptable":false,"reason":"credentials"}]`

// TestPreCalls: through the real binary, results of pre-call tests make no conference, are counted once, and are shown: in their list, on the page of the user, and by provider on the page of the app.
//
// spec: PRE-02, INIT-08
func TestPreCalls(t *testing.T) {
	browser.Require(t, browserKinds()...)
	c := startCollector(t)
	now := time.Now().UnixMilli()
	ada := c.connect("ada")
	frame := func(status string) string {
		return fmt.Sprintf(preCallFrame, status, htmlName, hebrewName, japaneseName)
	}
	ada.sends(1, now-60_000, frame("success"))
	ada.sends(2, now-30_000, frame("failure"))
	ada.sends(2, now-30_000, frame("failure"))
	c.connect("grace").sends(1, now-20_000, `"type":"precall","trigger":"makePrecallTest","status":"failure","interrupted":true,"mediaConnectivity":false,"durationMs":10`)
	m := samples(t, c.read(c.metrics+"/metrics"))
	require.InDelta(t, 1, m.Sum("qos_precall_tests_total", `app="demo"`, `status="success"`), 0)
	require.InDelta(t, 2, m.Sum("qos_precall_tests_total", `app="demo"`, `status="failure"`), 0)
	require.InDelta(t, 2, m.Sum("qos_precall_provider_tests_total", `provider="eu-1"`, `acceptable="true"`), 0)
	require.InDelta(t, 2, m.Sum("qos_precall_provider_tests_total", `acceptable="false"`, `reason="credentials"`), 0)
	require.Empty(t, c.found(url.Values{"app": {appID}}), "a test makes no conference")

	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			p := openPage(t, b, "precalls", c.dashboard+"/precalls?app="+appID)
			p.Until(patience, "document.querySelectorAll('[data-testid=precall]').length === 3")
			for _, text := range []string{htmlName, hebrewName, japaneseName, "ada", "grace", "wifi", "23 ms", "2.10 Mbit/s", "Interrupted", "None tested", "Reason: credentials refused"} {
				p.shows(text)
			}
			p.accessible("precalls")
			c.picture(t, p, "precalls-"+kind)
			p.view(1280, false)
			p.Run(`(() => { document.querySelector("[name=result]").value = "failed"; document.querySelector("[data-testid=filters] [type=submit]").click(); })()`)
			p.Until(patience, "location.search.includes('failed=true') && document.querySelectorAll('[data-testid=precall]').length === 1")

			p.goes(c.dashboard + "/app?app=" + appID)
			p.Until(patience, "document.querySelectorAll('[data-testid=providers] [data-testid=provider]').length === 2 && document.querySelector('[data-testid=providers] canvas')")
			p.shows("100 % failed")
			p.accessible("app-providers")
			p.Run("document.querySelector('[data-provider=eu-1] [data-testid=failed]').click()")
			p.Until(patience, "location.pathname === '/precalls' && document.querySelector('[data-testid=empty]')")
			p.accessible("precalls-empty")

			p.goes(c.dashboard + "/user?app=" + appID + "&user=ada")
			p.Until(patience, "document.querySelectorAll('#tests [data-testid=precall]').length === 2")
			p.accessible("user-tests")
			p.goes(c.dashboard + "/precalls?status=perhaps")
			p.Until(patience, "document.querySelector('[role=alert]')?.innerText.includes('status must be one of')")
			require.Empty(t, b.Errors(), "the page runs without an error")
			p.CloseTab()
		})
	}
}
