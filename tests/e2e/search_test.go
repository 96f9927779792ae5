package e2e

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// listed is a row of the dashboard's list.
type listed struct {
	ID, State, Outcome string
	Matched            []string
	Participants       []struct{ User, UserName string }
}

// TestSearch makes a call in a real browser that has all that a call may be found by, and
// looks for it as a person who supports users does: while it goes on, after a user was given
// another ID by the old and the new one, and when it is over.
//
// spec: INIT-08, API-06, FAB-13, DASH-01
func TestSearch(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.start()
	served.of(t, c)
	b := browser.Start(t, browser.Chromium)
	for _, room := range []string{"Call Å", "another call"} {
		p := openPage(t, b, room, served.url+"/search.html?"+url.Values{"room": {room}}.Encode())
		until(t, p, "outcome.sent > 0")
		if room != "Call Å" {
			p.Run("end()") // of the same user and site, and never renamed
			continue
		}
		c.findsLive(t, room)
		p.Run("rename()")
		c.finds(t, url.Values{"user": {"ada-2"}}, room)
		c.finds(t, url.Values{"user": {"grace-2"}}, room)
		p.Run("end()")
	}
	browser.Eventually(t, patience, "both calls have ended", func() (bool, string) {
		rows := c.found(url.Values{"site": {"Ålesund & Søn"}, "outcome": {"success"}})
		return len(rows) == 2, strings.Join(idsOf(rows), ", ")
	})
	c.finds(t, url.Values{"user": {"ada-1"}}, "another call", "Call Å")
	c.finds(t, url.Values{"user": {"ada-2"}}, "Call Å")
	c.finds(t, url.Values{"user": {"grace-2"}, "outcome": {"success"}, "version": {"7.1 search"}}, "Call Å")
	c.finds(t, url.Values{"user": {"ada-2"}, "outcome": {"dropped"}})
	c.looksAt(t, b)
}

// findsLive: each word finds the call while it goes on, and nothing like it does.
func (c *collector) findsLive(t *testing.T, room string) {
	t.Helper()
	browser.Eventually(t, patience, "the call is in the list", func() (bool, string) {
		rows := c.found(url.Values{"user": {"ada-1"}})
		return len(rows) == 1 && rows[0].State == "live", strings.Join(idsOf(rows), ", ")
	})
	for _, query := range []url.Values{
		{"user": {"grace-1"}},
		{"site": {"Ålesund & Søn"}},
		{"version": {"7.1 search"}},
		{"additional": {"the pbxID <1>"}},
		{"id": {room}},
		{"user": {"ada-1"}, "site": {"Ålesund & Søn"}, "version": {"7.1 search"}, "additional": {"the tenantID <1>"}, "additionalKey": {"tenantID"}},
	} {
		c.finds(t, query, room)
	}
	for _, query := range []url.Values{
		{"user": {"Ada Lovelace"}}, // real names are not shown here, and find nothing
		{"user": {"ADA-1"}},
		{"site": {"ålesund & søn"}},
		{"additional": {"the tenantID <1>"}, "additionalKey": {"pbxID"}},
		{"id": {strings.ToLower(room)}},
		{"user": {"ada-2"}},
	} {
		c.finds(t, query)
	}
	for word, as := range map[string]string{room: "conferenceID", "ada-1": "userID", "grace-1": "userID", "Ålesund & Søn": "siteID", "7.1 search": "applicationVersion"} {
		require.Equal(t, []string{as}, c.found(url.Values{"q": {word}})[0].Matched, word)
	}
	for _, key := range []string{
		"customerID", "tenantID", "productName", "meetingsName", "serverName", "pbxID", "pbxExtensionID", "fqExtensionID", "sessionID",
	} {
		rows := c.found(url.Values{"q": {"the " + key + " <1>"}})
		require.Len(t, rows, 1, key)
		require.Equal(t, []string{key}, rows[0].Matched)
	}
}

func (c *collector) found(query url.Values) []listed {
	c.t.Helper()
	var list struct{ Conferences []listed }
	c.ask("/api/conferences", query, &list)
	return list.Conferences
}

func idsOf(rows []listed) (out []string) {
	for _, row := range rows {
		out = append(out, row.ID+" "+row.State+" "+row.Outcome)
	}
	return out
}

// finds sees which calls a search finds, the newest first, within what it takes to store.
func (c *collector) finds(t *testing.T, query url.Values, rooms ...string) {
	t.Helper()
	var got []string
	browser.Eventually(t, patience, query.Encode(), func() (bool, string) {
		got = nil
		for _, row := range c.found(query) {
			got = append(got, row.ID)
		}
		return strings.Join(got, "\n") == strings.Join(rooms, "\n"), strings.Join(got, ", ")
	})
}

// looksAt uses the page: types a word, chooses what it is, follows links, and finds the same
// by the address alone.
func (c *collector) looksAt(t *testing.T, b *browser.Browser) {
	t.Helper()
	p := openPage(t, b, "list", c.dashboard+"/search")
	rows := func(n string) string { return "document.querySelectorAll('[data-testid=conference]').length === " + n }
	p.Until(patience, rows("2"))
	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.word.value = 'ada-2'; f.requestSubmit(); })()`)
	p.Until(patience, rows("1")+" && location.search === '?q=ada-2'")
	require.Equal(t, "ada-2 ", c.marked(p), "the row shows the name itself")
	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.word.value = 'ada-1'; f.requestSubmit(); })()`)
	p.Until(patience, rows("2")+" && location.search === '?q=ada-1'")
	require.Equal(t, "ada-1  | ada-2 Found as a former user ID", c.marked(p))
	p.Run("history.back()")
	p.Until(patience, rows("1")+" && document.getElementById('word').value === 'ada-2'")
	c.picture(t, p, "found")
	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.kind.value = 'site'; f.elements.word.value = 'ada-2'; f.requestSubmit(); })()`)
	p.Until(patience, "document.querySelector('[data-testid=empty] a[href=\"?q=ada-2\"]')")
	c.picture(t, p, "empty")
	p.Run("history.back()")
	p.Until(patience, rows("1")+" && document.getElementById('word').value === 'ada-2' && document.getElementById('filters').elements.kind.value === 'q'")
	p.Run("document.querySelector('[data-testid=conference] a').click()")
	p.Until(patience, "document.querySelector('[data-testid=find-additional]') && document.querySelector('[data-testid=find-site]')")
	p.Run("document.querySelector('[data-testid=find-site]').scrollIntoView({ block: 'center' })")
	c.picture(t, p, "participant")
	p.Run("document.querySelector('[data-testid=find-additional]').click()")
	p.Until(patience, rows("2")+" && new URLSearchParams(location.search).get('additionalKey')")
	p.Run("location.search = '?site=' + encodeURIComponent('Ålesund & Søn') + '&user=ada-2&quality=&outcome=success'")
	p.Until(patience, rows("1")+" && document.querySelector('[data-testid=also][data-kind=user]') && document.getElementById('word').value === 'Ålesund & Søn'")
	c.picture(t, p, "several")
	p.Run("document.querySelector('[data-testid=also] a').click()")
	p.Until(patience, rows("2"))
	p.Run("location.search = '?quality=great'")
	p.Until(patience, "document.querySelector('.notice.error')")
	c.picture(t, p, "error")
}

// marked returns what each row of the list marks, and as what it says that it was found.
func (c *collector) marked(p *page) string {
	c.t.Helper()
	var text string
	p.Get(`[...document.querySelectorAll('[data-testid=conference]')].map((row) => ['mark', '[data-testid=found-as]'].map((at) => row.querySelector(at)?.textContent ?? '').join(' ')).join(' | ')`, &text)
	return text
}

// picture keeps what a page looks like, wide and narrow, where QOS_PICTURES says so.
func (c *collector) picture(t *testing.T, p *page, name string) {
	t.Helper()
	dir := os.Getenv("QOS_PICTURES")
	if dir == "" {
		return
	}
	for _, width := range []int{390, 1280} {
		p.view(width, false)
		require.NoError(t, p.Capture(filepath.Join(dir, fmt.Sprint(name, "-", width, ".png"))))
	}
}
