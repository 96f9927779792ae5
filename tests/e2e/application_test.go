package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestApplication opens the page of an app: the apps, then each trend with its chart, its numbers and
// links that lead to the conferences of a value; another app; and a time that is wrong.
//
// spec: DASH-01
func TestApplication(t *testing.T) {
	c, now := newPlanted(t)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := startBrowser(t, kind)
			p := openPage(t, b, "app", c.dashboard+"/search")
			p.until(patience, "document.querySelector('[data-testid=app-trends]')")
			p.run("document.querySelector('[data-testid=app-trends]').click()")
			p.until(patience, "location.pathname === '/app' && document.querySelector('[data-testid=app]')?.textContent === 'demo'")
			p.accessible("apps")
			p.run("document.querySelector('[data-testid=app]').click()")
			p.until(patience, "location.search === '?app=demo' && document.querySelectorAll('[data-testid=trend] canvas').length === 7")
			var sites []string
			p.get(`[...document.querySelectorAll("[data-by=sites] [data-testid=value] bdi")].map((one) => one.textContent)`, &sites)
			require.ElementsMatch(t, []string{htmlName, hebrewName, japaneseName}, sites)
			p.looks("app")
			p.view(800, false)
			c.picture(t, p, "app-"+kind)
			p.view(1280, false)
			c.followsValue(p)
			p.goes(c.dashboard + "/app?app=none")
			p.until(patience, "document.querySelectorAll('[data-testid=trend] p').length === 7 && document.body.innerText.includes('None in this time.')")
			p.goes(fmt.Sprintf("%s/app?app=demo&from=%d&to=%d", c.dashboard, now.UnixMilli(), now.UnixMilli()-1))
			p.until(patience, "document.querySelector('[role=alert]')?.innerText.includes('to must be after from')")
			require.Empty(t, b.errors(), "the page runs without an error")
			p.closeTab()
		})
	}
}

// followsValue opens the conferences of a function's errors: as many as the page counts.
func (c *collector) followsValue(p *page) {
	p.t.Helper()
	var link, count string
	p.get(`document.querySelector("[data-by=errors] [data-testid=value] a").href`, &link)
	p.get(`document.querySelector("[data-by=errors] [data-testid=value] .muted").textContent.trim()`, &count)
	u, err := url.Parse(link)
	require.NoError(p.t, err)
	require.Equal(p.t, "createOffer", u.Query().Get("function"))
	require.Equal(p.t, count, strconv.Itoa(len(c.found(u.Query()))))
	p.goes(link)
	p.until(patience, "document.querySelectorAll('[data-testid=conference]').length === "+count)
}
