package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOverviewPage uses the first page: yesterday beside the same day a week before, the links of the
// numbers, the choices, and a time without conferences.
//
// spec: DASH-01
func TestOverviewPage(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			need(t, programs[kind]...)
			c := newCollector(t)
			now := time.Now()
			noon := time.Date(now.Year(), now.Month(), now.Day()-1, 12, 0, 0, 0, time.Local)
			c.plant(t, append(append(ordinaryDay(noon, 40, 11*time.Minute), ordinaryDay(noon.Add(-7*24*time.Hour), 26, 13*time.Minute)...), goingOn("another", now)))
			c.start()
			b := startBrowser(t, kind)
			p := openPage(t, b, "overview", c.dashboard+"/")
			p.until(patience, "document.querySelector('#hours canvas, [data-testid=empty]')") // today has what is going on, unless it began yesterday
			p.chooses("day", "yesterday")
			p.countsYesterday()
			p.looks("overview")
			p.opensNumbers(c.dashboard)
			p.opensLive(c.dashboard)
			p.choosesApps()
			require.Empty(t, b.scriptErrors(), "the pages run without an error")
		})
	}
}

// chooses changes a field of the form.
func (p *page) chooses(field, value string) {
	p.t.Helper()
	p.run(fmt.Sprintf(`(() => { const f = document.getElementById('choose').elements[%q]; f.value = %q; f.dispatchEvent(new Event('change')); })()`, field, value))
}

// tiled waits until a number at the head has a text.
func (p *page) tiled(name string, texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		p.until(patience, fmt.Sprintf(`document.querySelector('.tile[data-testid=%s]')?.innerText.includes(%q)`, name, text))
	}
}

func (p *page) countsYesterday() {
	p.t.Helper()
	p.until(patience, "location.search === '?day=yesterday'")
	p.tiled("conferences", "40", "▲ 54 % more")
	p.tiled("failed", "13", "33 % of those that ended", "▼ 2.1 points lower, better")
	p.tiled("score", "3.15", "of 32")
	counted := func(section, value string, cells ...string) {
		p.t.Helper()
		p.until(patience, fmt.Sprintf(`[...[...document.querySelectorAll('[data-testid=%s] [data-testid=count]')].find((one) => one.dataset.value === %q).cells].map((one) => one.innerText.trim()).join('|') === %q`,
			section, value, strings.Join(cells, "|")))
	}
	counted("outcomes", "dropped", "Dropped", "5", "3", "▲ 2")
	counted("causes", "iceConnectivity", "ICE connectivity", "4", "3", "▲ 1")
	counted("errors", "createOffer", "createOffer", "4", "8", "3", "▲ 1")
	counted("versions", "7.1", "7.1", "40", "13", "3.15", "26", "▲ 14")
	p.until(patience, "document.querySelectorAll('#hours tbody tr').length >= 8 && document.querySelector('#hours canvas')")
}

// opensNumbers follows links of numbers to lists with as many conferences.
func (p *page) opensNumbers(dashboard string) {
	p.t.Helper()
	for _, selector := range []string{
		".tile[data-testid=failed] a", "[data-testid=causes] [data-value=iceConnectivity] td a", "[data-testid=errors] [data-value=createOffer] td a",
		`[data-testid=browsers] [data-value="firefox 144"] td a`, `[data-testid=sites] [data-value="東京"] td:nth-of-type(2) a`, "[data-testid=labels] [data-value=bad] td a",
	} {
		var link struct {
			Href string
			Text int
		}
		p.get(fmt.Sprintf("(({ href, innerText }) => ({ href, text: Number(innerText) }))(document.querySelector(%q))", selector), &link)
		require.True(p.t, strings.HasPrefix(link.Href, dashboard+"/search?"), "%s: %s", selector, link.Href)
		require.Positive(p.t, link.Text, selector)
		list := openPage(p.t, p.browser, "list", link.Href)
		list.until(patience, fmt.Sprintf("document.querySelectorAll('[data-testid=conference]').length === %d", link.Text))
		list.closeTab()
	}
}

// opensLive follows the link of what goes on now.
func (p *page) opensLive(dashboard string) {
	p.t.Helper()
	var link string
	p.get("document.querySelector('.tile[data-testid=live] a').href", &link)
	require.Equal(p.t, dashboard+"/search?state=live", link)
	list := openPage(p.t, p.browser, "live", link)
	list.until(patience, "document.querySelectorAll('[data-testid=conference][data-state=live]').length === 1 && document.querySelectorAll('[data-testid=conference]').length === 1")
	list.closeTab()
}

// choosesApps narrows to an app without calls that day, and goes back; a date of long ago has none.
func (p *page) choosesApps() {
	p.t.Helper()
	p.run("location.search = '?day=yesterday&app=another'")
	p.until(patience, "document.querySelector('[data-testid=empty]')?.innerText.includes('The app another had none in this time') && document.getElementById('choose').elements.app.value === 'another'")
	p.looks("overview-empty")
	p.chooses("app", "")
	p.tiled("conferences", "40")
	p.run("history.back()")
	p.until(patience, "document.querySelector('[data-testid=empty]')")
	p.chooses("day", "date")
	p.until(patience, "!document.getElementById('date').hidden")
	p.chooses("date", "2020-02-29")
	p.until(patience, "location.search === '?day=2020-02-29&app=another' && document.getElementById('main').getAttribute('aria-busy') === 'false'")
	p.run("location.search = '?day=2020-02-30&app=' + 'x'.repeat(2000)")
	p.until(patience, "document.querySelector('[role=alert]')?.innerText.includes('app is 2000 bytes')")
	p.run("location.search = '?outcome=dropped'")
	p.until(patience, "location.pathname.endsWith('/search') && document.querySelectorAll('[data-testid=conference]').length === 8")
}
