package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// TestApplication opens the page of an app: the apps, then each trend with its chart, its numbers and
// links that lead to the conferences of a value; another app; and a time that is wrong.
//
// spec: DASH-01
func TestApplication(t *testing.T) {
	c, now := newPlanted(t)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			p := openPage(t, b, "app", c.dashboard+"/search")
			p.Until(patience, "document.querySelector('[data-testid=app-trends]')")
			p.Run("document.querySelector('[data-testid=app-trends]').click()")
			p.Until(patience, "location.pathname === '/app' && document.querySelector('[data-testid=app]')?.textContent === 'demo'")
			p.accessible("apps")
			p.Run("document.querySelector('[data-testid=app]').click()")
			p.Until(patience, "location.search === '?app=demo' && document.querySelectorAll('[data-testid=trend] canvas').length === 7")
			var sites []string
			p.Get(`[...document.querySelectorAll("[data-by=sites] [data-testid=value] bdi")].map((one) => one.textContent)`, &sites)
			require.ElementsMatch(t, []string{htmlName, hebrewName, japaneseName}, sites)
			p.looks("app")
			p.view(800, false)
			c.picture(t, p, "app-"+kind)
			p.view(1280, false)
			c.followsValue(p)
			p.goes(c.dashboard + "/app?app=none")
			p.Until(patience, "document.querySelectorAll('[data-testid=trend] p').length === 7 && document.body.innerText.includes('None in this time.')")
			p.goes(fmt.Sprintf("%s/app?app=demo&from=%d&to=%d", c.dashboard, now.UnixMilli(), now.UnixMilli()-1))
			p.Until(patience, "document.querySelector('[role=alert]')?.innerText.includes('to must be after from')")
			require.Empty(t, b.Errors(), "the page runs without an error")
			p.CloseTab()
		})
	}
}

// followsValue opens the conferences of a function's errors: as many as the page counts.
func (c *collector) followsValue(p *page) {
	p.T.Helper()
	var link, count string
	p.Get(`document.querySelector("[data-by=errors] [data-testid=value] a").href`, &link)
	p.Get(`document.querySelector("[data-by=errors] [data-testid=value] .muted").textContent.trim()`, &count)
	u, err := url.Parse(link)
	require.NoError(p.T, err)
	require.Equal(p.T, "createOffer", u.Query().Get("function"))
	require.Equal(p.T, count, strconv.Itoa(len(c.found(u.Query()))))
	p.goes(link)
	p.Until(patience, "document.querySelectorAll('[data-testid=conference]').length === "+count)
}
