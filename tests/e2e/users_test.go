package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// TestHashedUsers makes a call of an app that hashes user IDs. The page gets the IDs that it gave; the dashboard shows
// pseudonyms, says so, and finds the call by the IDs.
//
// spec: PRIV-02, API-06, DASH-01
func TestHashedUsers(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.more = fmt.Sprintf(`
extensions:
  qosapps:
    apps:
      - {id: %s, secrets: [%s], origins: [%q], user_ids: hash, user_id_keys: [{key: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}
  qosdashboard: {apps: qosapps, show_user_names: true}
`, appID, appSecret, served.url)
	c.start()
	served.of(t, c)
	b := browser.Start(t, browser.Chromium)
	p := openPage(t, b, "hashed", served.url+"/search.html?room=hashed")
	until(t, p, "outcome.remote === 'grace-1'")
	p.Run("rename()")
	until(t, p, "outcome.remote === 'grace-2'")
	p.Run("end()")
	for _, query := range []url.Values{
		{"user": {"ada-1"}}, {"user": {"ada-2"}}, {"user": {"Ada Lovelace"}}, {"user": {"grace-1"}}, {"q": {"grace-2"}}, {"q": {"Ada King"}, "outcome": {"success"}},
	} {
		c.finds(t, query, "hashed")
	}
	c.finds(t, url.Values{"user": {"ada-3"}})
	require.Regexp(t, `^u_[a-z2-7]{26}$`, c.found(url.Values{"user": {"ada-1"}})[0].Participants[0].User)

	list := openPage(t, b, "list", c.dashboard+"/search?q=ada-1")
	list.Until(patience, "document.querySelector('[data-testid=found-as]')")
	require.Regexp(t, `^u_[a-z2-7]{26} \(u_[a-z2-7]{26}\) Found by the pseudonym of this ID$`, c.marked(list))
	c.picture(t, list, "hashed-list")
	list.Run("document.querySelector('[data-testid=conference] a').click()")
	list.Until(patience, "document.querySelector('[data-testid=pseudonym]') && document.querySelector('[data-testid=find-user]')")
	list.Run("document.querySelector('[data-testid=pseudonym]').scrollIntoView({ block: 'center' })")
	c.picture(t, list, "hashed-conference")
	list.view(360, false)
	list.fits("a pseudonym")
	var text string
	list.Get("document.body.innerText", &text)
	for _, plain := range []string{"ada", "grace"} {
		require.NotContains(t, strings.ToLower(text), plain)
	}
	list.Run("document.querySelector('[data-testid=find-user]').click()")
	list.Until(patience, "document.querySelectorAll('[data-testid=conference]').length === 1 && new URLSearchParams(location.search).get('user')?.startsWith('u_')")
}
