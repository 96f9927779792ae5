package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// TestOverviewPage uses the first page: yesterday beside the same day a week before, the links of the
// numbers, the choices, and a time without conferences.
//
// spec: DASH-01
func TestOverviewPage(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			c := newCollector(t)
			now := time.Now()
			noon := time.Date(now.Year(), now.Month(), now.Day()-1, 12, 0, 0, 0, time.Local)
			c.plant(t, append(append(ordinaryDay(noon, 40, 11*time.Minute), ordinaryDay(noon.Add(-7*24*time.Hour), 26, 13*time.Minute)...), goingOn("another", now)))
			c.start()
			b := browser.Start(t, kind)
			p := openPage(t, b, "overview", c.dashboard+"/")
			p.Until(patience, "document.querySelector('#hours canvas, [data-testid=empty]')") // today has what is going on, unless it began yesterday
			p.chooses("day", "yesterday")
			p.countsYesterday()
			p.looks("overview")
			p.opensNumbers(c.dashboard)
			p.opensLive(c.dashboard)
			p.choosesApps()
			require.Empty(t, b.ScriptErrors(), "the pages run without an error")
		})
	}
}

// chooses changes a field of the form.
func (p *page) chooses(field, value string) {
	p.T.Helper()
	p.Run(fmt.Sprintf(`(() => { const f = document.getElementById('choose').elements[%q]; f.value = %q; f.dispatchEvent(new Event('change')); })()`, field, value))
}

// tiled waits until a number at the head has a text.
func (p *page) tiled(name string, texts ...string) {
	p.T.Helper()
	for _, text := range texts {
		p.Until(patience, fmt.Sprintf(`document.querySelector('.tile[data-testid=%s]')?.innerText.includes(%q)`, name, text))
	}
}

func (p *page) countsYesterday() {
	p.T.Helper()
	p.Until(patience, "location.search === '?day=yesterday'")
	p.tiled("conferences", "40", "▲ 54 % more")
	p.tiled("failed", "13", "33 % of those that ended", "▼ 2.1 points lower, better")
	p.tiled("score", "3.15", "of 32")
	counted := func(section, value string, cells ...string) {
		p.T.Helper()
		p.Until(patience, fmt.Sprintf(`[...[...document.querySelectorAll('[data-testid=%s] [data-testid=count]')].find((one) => one.dataset.value === %q).cells].map((one) => one.innerText.trim()).join('|') === %q`,
			section, value, strings.Join(cells, "|")))
	}
	counted("outcomes", "dropped", "Dropped", "5", "3", "▲ 2")
	counted("causes", "iceConnectivity", "ICE connectivity", "4", "3", "▲ 1")
	counted("errors", "createOffer", "createOffer", "4", "8", "3", "▲ 1")
	counted("versions", "7.1", "7.1", "40", "13", "3.15", "26", "▲ 14")
	p.Until(patience, "document.querySelectorAll('#hours tbody tr').length >= 8 && document.querySelector('#hours canvas')")
}

// opensNumbers follows links of numbers to lists with as many conferences.
func (p *page) opensNumbers(dashboard string) {
	p.T.Helper()
	for _, selector := range []string{
		".tile[data-testid=failed] a", "[data-testid=causes] [data-value=iceConnectivity] td a", "[data-testid=errors] [data-value=createOffer] td a",
		`[data-testid=browsers] [data-value="firefox 144"] td a`, `[data-testid=sites] [data-value="東京"] td:nth-of-type(2) a`, "[data-testid=labels] [data-value=bad] td a",
	} {
		var link struct {
			Href string
			Text int
		}
		p.Get(fmt.Sprintf("(({ href, innerText }) => ({ href, text: Number(innerText) }))(document.querySelector(%q))", selector), &link)
		require.True(p.T, strings.HasPrefix(link.Href, dashboard+"/search?"), "%s: %s", selector, link.Href)
		require.Positive(p.T, link.Text, selector)
		list := openPage(p.T, p.Browser, "list", link.Href)
		list.Until(patience, fmt.Sprintf("document.querySelectorAll('[data-testid=conference]').length === %d", link.Text))
		list.CloseTab()
	}
}

// opensLive follows the link of what goes on now.
func (p *page) opensLive(dashboard string) {
	p.T.Helper()
	var link string
	p.Get("document.querySelector('.tile[data-testid=live] a').href", &link)
	require.Equal(p.T, dashboard+"/search?state=live", link)
	list := openPage(p.T, p.Browser, "live", link)
	list.Until(patience, "document.querySelectorAll('[data-testid=conference][data-state=live]').length === 1 && document.querySelectorAll('[data-testid=conference]').length === 1")
	list.CloseTab()
}

// choosesApps narrows to an app without calls that day, and goes back; a date of long ago has none.
func (p *page) choosesApps() {
	p.T.Helper()
	p.Run("location.search = '?day=yesterday&app=another'")
	p.Until(patience, "document.querySelector('[data-testid=empty]')?.innerText.includes('The app another had none in this time') && document.getElementById('choose').elements.app.value === 'another'")
	p.looks("overview-empty")
	p.chooses("app", "")
	p.tiled("conferences", "40")
	p.Run("history.back()")
	p.Until(patience, "document.querySelector('[data-testid=empty]')")
	p.chooses("day", "date")
	p.Until(patience, "!document.getElementById('date').hidden")
	p.chooses("date", "2020-02-29")
	p.Until(patience, "location.search === '?day=2020-02-29&app=another' && document.getElementById('main').getAttribute('aria-busy') === 'false'")
	p.Run("location.search = '?day=2020-02-30&app=' + 'x'.repeat(2000)")
	p.Until(patience, "document.querySelector('[role=alert]')?.innerText.includes('app is 2000 bytes')")
	p.Run("location.search = '?outcome=dropped'")
	p.Until(patience, "location.pathname.endsWith('/search') && document.querySelectorAll('[data-testid=conference]').length === 8")
}
