package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// TestListPage uses the page of conferences over a store with names that pages get wrong: the filters,
// the exports, the saved searches, and what it looks like from 360 px to 4K.
//
// spec: DASH-01
func TestListPage(t *testing.T) {
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			browser.Require(t, kind)
			c := newCollector(t)
			c.plant(t, append(ordinaryDay(time.Now().Add(-time.Minute).Truncate(time.Second), 60, 11*time.Minute), goingOn("demo", time.Now())))
			c.start()
			b := browser.Start(t, kind)
			p := openPage(t, b, "list", c.dashboard+"/search")
			p.Until(patience, "document.querySelectorAll('[data-testid=conference]').length === 50")
			p.looks("list")
			p.filters()
			p.exports()
			p.savesSearches(t, b, c.dashboard)
			require.Empty(t, b.ScriptErrors(), "the pages run without an error")
		})
	}
}

// widths are those at which nothing of a page is cut off.
var widths = testenv.Pick([]int{360, 1000, 3840}, []int{360, 800, 1000, 1280, 3840})

// looks checks a page with axe, and that nothing is cut off or leaves its cell at any width. It keeps pictures where
// QOS_PICTURES says so.
func (p *page) looks(name string) {
	p.T.Helper()
	p.accessible(name)
	for _, width := range widths {
		p.view(width, false)
		browser.Eventually(p.T, patience, fmt.Sprintf("%s at %d px", name, width), func() (bool, string) { // charts follow the width
			var cut []string
			p.Get(`document.documentElement.scrollWidth <= innerWidth ? [...document.querySelectorAll("td, dd, li, .score, .fits")].filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflow === "visible" && getComputedStyle(one).display !== "inline")
				.slice(0, 3).map((one) => one.outerHTML.slice(0, 200)) : ["wide: " + document.documentElement.scrollWidth]`, &cut)
			return len(cut) == 0, strings.Join(cut, "\n")
		})
		if dir := os.Getenv("QOS_PICTURES"); dir != "" {
			require.NoError(p.T, p.Capture(filepath.Join(dir, fmt.Sprint(name, "-", p.Browser.Kind, "-", width, ".png"))))
		}
	}
	p.view(1280, false)
}

// filters chooses outcomes and a range of scores, by the form.
func (p *page) filters() {
	p.T.Helper()
	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.outcome.value = 'failed'; f.elements.outcome.dispatchEvent(new Event('change')); })()`)
	p.Until(patience, `location.search === '?outcome=failed' && document.querySelectorAll('[data-testid=conference]').length > 3 &&
		[...document.querySelectorAll('[data-testid=outcome]')].every((one) => ['dropped', 'totallyFailed', 'partiallyFailed'].includes(one.dataset.outcome))`)
	p.Until(patience, "document.querySelector('[data-testid=row-cause]').innerText === \"Sender's network\" && document.querySelector('[data-testid=row-sites]').innerText.includes('東京')")
	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.outcome.value = ''; f.elements.scoreFrom.value = '3.5'; f.elements.scoreTo.value = '4'; f.requestSubmit(); })()`)
	p.Until(patience, `location.search === '?scoreFrom=3.5&scoreTo=4' && document.querySelectorAll('[data-testid=conference]').length > 3 &&
		[...document.querySelectorAll('[data-testid=score] b')].every((one) => Number(one.innerText) >= 3.5 && Number(one.innerText) <= 4)`)
	p.Run(`location.search = '?fact=browserVersion:firefox+144&fact=siteID:hq'`)
	p.Until(patience, `document.readyState === 'complete' && document.querySelectorAll('[data-testid=also]').length === 2 && document.querySelectorAll('[data-testid=conference]').length > 3 &&
		document.querySelector('[data-testid=also]').innerText.startsWith('With browser Firefox 144')`)
	p.Run(`document.querySelector('[data-testid=also] a').click()`)
	p.Until(patience, `document.readyState === 'complete' && location.search === '?fact=siteID%3Ahq' && document.querySelectorAll('[data-testid=also]').length === 1`)
}

// exports reads what the links of the exports download.
func (p *page) exports() {
	p.T.Helper()
	p.Run(`location.search = '?outcome=dropped'`)
	p.Until(patience, `document.readyState === 'complete' && location.search === '?outcome=dropped' && document.querySelectorAll('[data-testid=conference]').length > 3`)
	p.Until(patience, `await (async () => {
		const rows = document.querySelectorAll('[data-testid=conference]').length;
		const [csv, json] = await Promise.all(['csv', 'json'].map((form) => fetch(document.querySelector('[data-testid=export-' + form + ']').href)));
		const lines = (await csv.text()).trim().split('\r\n');
		const { conferences, complete } = await json.json();
		return csv.headers.get('content-disposition').includes('conferences.csv') && lines.length === rows + 1 && conferences.length === rows && complete;
	})()`)
}

// savesSearches saves, opens, renames and deletes searches; another tab of the browser has the same.
func (p *page) savesSearches(t *testing.T, b *browser.Browser, dashboard string) {
	p.T.Helper()
	p.Run(`document.querySelector('#saved summary').click()`)
	save := func(name string) {
		p.Run(fmt.Sprintf(`(() => { const f = document.getElementById('save'); f.elements.name.value = %q; f.requestSubmit(); })()`, name))
	}
	names := func(on *page, want string) {
		t.Helper()
		on.Until(patience, fmt.Sprintf(`[...document.querySelectorAll('[data-testid=saved-search] a')].map((one) => one.textContent).join('|') === %q`, want))
	}
	save("<b>dropped</b> 先週")
	save("again")
	names(p, "again|<b>dropped</b> 先週")
	p.looks("saved")
	second := openPage(t, b, "second tab", dashboard+"/search")
	second.Until(patience, `document.querySelector('[data-testid=saved]')`)
	names(second, "again|<b>dropped</b> 先週")
	p.Run(`document.querySelector('[data-testid=saved-search] [aria-label="Rename again"]').click()`)
	p.Run(`(() => { const f = document.querySelector('[data-testid=saved-search] form'); f.elements.to.value = 'renamed'; f.requestSubmit(); })()`)
	names(p, "renamed|<b>dropped</b> 先週")
	names(second, "renamed|<b>dropped</b> 先週")
	second.Run(`document.querySelector('[data-testid=saved-search] [aria-label="Delete renamed"]').click()`)
	names(p, "<b>dropped</b> 先週")
	second.Run(`document.querySelector('[data-testid=saved-search] a').click()`)
	second.Until(patience, `location.search === '?outcome=dropped' && document.querySelectorAll('[data-testid=conference]').length > 3`)
	p.Run(`(() => { for (let i = 0; i < 49; i++) { const f = document.getElementById('save'); f.elements.name.value = 'search ' + i; f.requestSubmit(); } })()`)
	save("one too many")
	p.Until(patience, `document.querySelectorAll('[data-testid=saved-search]').length === 50 && document.getElementById('saved-note').innerText.startsWith('50 searches are saved already')`)
	p.Run(`localStorage.setItem(Object.keys(localStorage)[0], '{"no":"list"}')`)
	second.Until(patience, `document.querySelectorAll('[data-testid=saved-search]').length === 0`)
}
