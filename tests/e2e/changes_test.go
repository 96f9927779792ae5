package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// newPlanted returns a collector with a day of conferences, and its time.
func newPlanted(t *testing.T, more ...planted) (*collector, time.Time) {
	t.Helper()
	browser.Require(t, browserKinds()...)
	now := time.Now()
	c := newCollector(t)
	c.plant(t, append(plantedDay(now), more...))
	c.start()
	return c, now
}

// TestChanges compares on the page: the planted cause is the finding, with its numbers, and its link
// leads to its conferences; another baseline, a set that is empty, one that is too small, and parameters that are wrong.
//
// spec: DASH-01
func TestChanges(t *testing.T) {
	c, now := newPlanted(t)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			p := openPage(t, b, "changes", c.dashboard+"/changes")
			p.Until(patience, "new URLSearchParams(location.search).get('outcome') === 'failed' && new URLSearchParams(location.search).has('from')")
			c.showsCause(p)
			p.looks("changes")
			p.view(800, false)
			c.picture(t, p, "changes-"+kind)
			p.view(1280, false)
			c.choosesBaselines(p, now)
			c.comparesNothing(p, now)
			c.followsFinding(p)
			c.followsNotification(p, now)
			require.Empty(t, b.Errors(), "the page runs without an error")
			p.CloseTab()
		})
	}
}

// done is a condition: the comparison of the page is finished.
const done = "document.getElementById('result').getAttribute('aria-busy') === 'false'"

// showsCause expects the planted cause as the first finding, with a name that is HTML as text.
func (c *collector) showsCause(p *page) {
	p.T.Helper()
	p.Until(patience, done+" && document.querySelector('[data-testid=finding]')")
	var facts []string
	p.Get(`[...document.querySelectorAll("[data-testid=finding]:first-child [data-testid=fact]")].map((one) => one.innerText)`, &facts)
	require.ElementsMatch(p.T, []string{"Browser Firefox 144", "Site " + htmlName}, facts)
	p.Until(patience, `document.querySelector("[data-testid=finding] .lift").innerText.match(/^\d+(\.\d)? times as frequent as in the baseline \(95 % interval: [\d.]+ to [\d.]+\)$/)`)
	p.Until(patience, `document.querySelector("[data-testid=finding]").innerText.match(/By chance: less than 1 in 1[,0]*/)`)
	var answer struct {
		Set, Baseline struct{ Conferences int }
		Findings      []struct{ InSet, InBaseline int }
	}
	var query string
	p.Get("location.search", &query)
	values, err := url.ParseQuery(query[1:])
	require.NoError(p.T, err)
	c.ask("/api/contrast", values, &answer)
	var numbers []string
	p.Get(`[...document.querySelectorAll("[data-testid=finding]:first-child .number .muted")].map((one) => one.innerText.trim())`, &numbers)
	f := answer.Findings[0]
	require.Equal(p.T, []string{fmt.Sprintf("%d of %d", f.InSet, answer.Set.Conferences), fmt.Sprintf("%d of %d", f.InBaseline, answer.Baseline.Conferences)}, numbers)
}

// choosesBaselines compares with the time before, which has no such failures, and by an address with parameters of its own.
func (c *collector) choosesBaselines(p *page, now time.Time) {
	p.T.Helper()
	ms := func(hours int) string {
		return strconv.FormatInt(now.Add(-time.Duration(hours)*time.Hour).UnixMilli(), 10)
	}
	p.goes(c.dashboard + "/changes?outcome=failed&from=" + ms(6) + "&to=" + ms(0))
	p.Until(patience, done)
	p.Run(`(() => { const s = document.getElementById("filters").elements.against; s.value = "previous"; s.dispatchEvent(new Event("change")); })()`)
	p.Until(patience, fmt.Sprintf("new URLSearchParams(location.search).get('baseline.from') === %q && new URLSearchParams(location.search).get('baseline.to') === %q", ms(12), ms(6)))
	p.Until(patience, done)
	p.goes(c.dashboard + "/changes?app=demo&from=" + ms(6) + "&to=" + ms(0) + "&version=4.2&baseline.version=4.1")
	p.Until(patience, done+` && document.getElementById("filters").elements.against.value === "version" && document.getElementById("filters").elements["baseline.version"].value === "4.1"`)
	p.Run("history.back()")
	p.Until(patience, done+` && document.getElementById("filters").elements.against.value === "previous"`)
}

// comparesNothing sees each way of having no finding, and an error with its parameter.
func (c *collector) comparesNothing(p *page, now time.Time) {
	p.T.Helper()
	from := now.Add(-24 * time.Hour).UnixMilli()
	address := func(query string) string {
		return fmt.Sprintf("%s/changes?from=%d&to=%d&%s", c.dashboard, from, now.UnixMilli(), query)
	}
	shows := func(query, selector, text string) {
		p.goes(address(query))
		p.Until(patience, done+fmt.Sprintf(" && document.querySelector(%q)?.innerText.includes(%q)", selector, text))
	}
	empty := "[data-testid=empty]"
	shows("outcome=missed", empty, "The set is empty")
	shows("outcome=failed&scoreTo=1.5", empty, "The set is empty")
	shows("outcome=", empty, "The baseline is empty")
	shows("outcome=success&browser=chrome&browserVersion=142&version=4.1&scoreFrom=4.4", empty, "Nothing is over-represented")
	p.accessible("changes-nothing")
	shows("outcome=bad", "[role=alert]", "outcome must be one of")
	p.accessible("changes-error")
}

// followsFinding opens the conferences of the finding.
func (c *collector) followsFinding(p *page) {
	p.T.Helper()
	p.goes(c.dashboard + "/changes")
	p.Until(patience, done+" && document.querySelector('[data-testid=finding-link]')")
	var link string
	p.Get("document.querySelector('[data-testid=finding-link]').href", &link)
	u, err := url.Parse(link)
	require.NoError(p.T, err)
	rows := c.found(u.Query())
	require.NotEmpty(p.T, rows)
	for _, row := range rows {
		require.Contains(p.T, []string{"partiallyFailed", "dropped"}, row.Outcome)
	}
	p.Run("document.querySelector('[data-testid=finding-link]').click()")
	p.Until(patience, fmt.Sprintf("location.pathname === '/search' && document.querySelectorAll('[data-testid=conference]').length === %d", len(rows)))
}

// followsNotification opens a search as a notification links it: the strongest finding is above the list, and leads to the
// comparison. Other searches lead to it without a finding, and that of a user to the user's history.
func (c *collector) followsNotification(p *page, now time.Time) {
	p.T.Helper()
	period := fmt.Sprintf("app=demo&from=%d&to=%d", now.Add(-6*time.Hour).UnixMilli(), now.UnixMilli())
	p.goes(c.dashboard + "/search?outcome=partiallyFailed&reason=partiallyFailedConferences&" + period)
	p.Until(patience, `document.querySelector("[data-testid=strongest]")`)
	var text string
	p.Get(`document.querySelector("[data-testid=strongest]").textContent`, &text)
	require.Regexp(p.T, `^Conferences with outcome “partially failed” \d+(\.\d)? %: (site <b onclick="alert\(1\)">Ålesund</b>, browser Firefox 144|browser Firefox 144, site <b .*>), \d+(\.\d)? times as frequent$`, text)
	p.accessible("search-reason")
	p.Run(`document.querySelector("[data-testid=strongest]").click()`)
	p.Until(patience, "location.pathname === '/changes' && "+done+" && document.querySelector('[data-testid=finding]') && document.getElementById('filters').elements.outcome.value === 'partiallyFailed'")
	p.goes(c.dashboard + "/search?cause=iceConnectivity&" + period)
	p.Until(patience, `document.querySelector("[data-testid=what-changed]")`)
	p.Run(`document.querySelector("[data-testid=what-changed]").click()`)
	p.Until(patience, "location.pathname === '/changes' && "+done+" && document.getElementById('filters').elements.cause.value === 'iceConnectivity'")
	p.goes(c.dashboard + "/search?app=demo&user=user+1")
	p.Until(patience, `document.querySelector("[data-testid=user-history]") && !document.querySelector("[data-testid=what-changed]")`)
	p.Run(`document.querySelector("[data-testid=user-history]").click()`)
	p.Until(patience, `location.pathname === "/user" && document.querySelector("[data-testid=call]")`)
}
