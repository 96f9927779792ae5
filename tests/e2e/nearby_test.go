package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// TestConferencePageLists: the page of a conference lists the candidate pairs of a connection over time, and the unattached
// annotations that have its ID, with the reason why they are not attached.
//
// spec: DASH-02
func TestConferencePageLists(t *testing.T) {
	s := &scene{collector: startCollector(t)}
	at := time.Now().UnixMilli()
	ada := s.connect("<b>ada</b> 山田 سارة")
	pair := func(local, network, address, protocol string) string {
		return fmt.Sprintf(`{"setupMs":300,"localCandidateType":%q,"remoteCandidateType":"host","networkType":%q,"localAddress":%q,"relayProtocol":%s}`, local, network, address, protocol)
	}
	ada.say(`{"type":"columns","set":1,"statsType":"candidate-pair","names":["rttMs","bytesSent"]}`)
	ada.sends(1, at, `"type":"event","fabric":1,"event":"fabricAdded"`)
	ada.sends(2, at+300, `"type":"event","fabric":1,"event":"fabricSetup","data":`+pair("host", "wifi", "198.51.100.7", "null"))
	ada.sends(3, at+2000, `"type":"stats","fabric":1,"intervalMs":2000,"rows":[[1,40,25000]]`)
	ada.sends(4, at+2500, `"type":"event","fabric":1,"event":"selectedCandidatePairChange","data":`+pair("relay", "cellular", "203.0.113.9", `"tls"`))
	ada.sends(5, at+4500, `"type":"stats","fabric":1,"intervalMs":2000,"rows":[[1,180,5000]]`)
	bob := s.connect("bob")
	bob.sends(1, at, fmt.Sprintf(`"type":"feedback","conferenceID":"by hand","conferenceAt":%d,"userID":"bob","overall":1,"comment":"<b>no</b> sound"`, at-600_000))
	row := s.list("by hand")[0]
	query := url.Values{"app": {appID}, "id": {"by hand"}, "at": {strconv.FormatInt(row.StartAt, 10)}}
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			p := openPage(t, browser.Start(t, kind), "lists", s.dashboard+"/conference?"+query.Encode())
			p.Until(patience, "document.querySelectorAll('[data-testid=pair]').length === 2 && document.querySelector('[data-testid=nearby]')")
			var cells [][]string
			p.Get("[...document.querySelectorAll('[data-testid=pair]')].map((one) => [...one.cells].slice(1).map((cell) => cell.textContent))", &cells)
			require.Equal(t, [][]string{
				{"host → host", "wifi198.51.100.0/24", "40 ms", "100 kbit/s", "–"},
				{"relay → hostrelay over TLS", "cellular203.0.113.0/24", "180 ms", "20 kbit/s", "–"},
			}, cells)
			var nearby string
			p.Get("document.querySelector('[data-testid=nearby]').textContent", &nearby)
			require.Contains(t, nearby, "Rated 1 of 5")
			require.Contains(t, nearby, "<b>no</b> sound")
			require.Contains(t, nearby, "about a time 10 min 00 s before the start")
			p.accessible("conference-lists")
			p.prints(t)
			require.Empty(t, p.Browser.Errors(), "the page runs without an error")
		})
	}
}

// prints applies the style of printed pages to the page: no controls, light colours, nothing cut off.
func (p *page) prints(t *testing.T) {
	t.Helper()
	p.view(800, true)
	p.Run(`(() => {
		dispatchEvent(new Event("beforeprint"));
		for (const rule of schemes) rule.media.mediaText = rule.media.mediaText.includes("max-width") ? rule.media.mediaText : "not all";
		for (const sheet of document.styleSheets) for (const rule of sheet.cssRules) if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
		document.documentElement.style.colorScheme = "light";
	})()`)
	var shown []string
	p.Get(`[...document.querySelectorAll("button, select, nav")].filter((one) => one.checkVisibility()).map((one) => one.outerHTML)`, &shown)
	require.Empty(t, shown, "controls on paper")
	var issue bool
	p.Get(`document.querySelector("[data-testid=issue]").checkVisibility()`, &issue)
	require.True(t, issue, "issues are printed")
	var background string
	p.Get(`getComputedStyle(document.querySelector(".card")).backgroundColor`, &background)
	require.Equal(t, "rgb(255, 255, 255)", background)
	p.fits("a printed conference")
	if dir := os.Getenv("QOS_PICTURES"); dir != "" && p.Browser.Kind == browser.Chromium {
		require.NoError(t, p.Capture(filepath.Join(dir, "conference-print.png")))
	}
}
