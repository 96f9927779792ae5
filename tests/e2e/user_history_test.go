package e2e

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/tests/browser"
)

// The names of the user of TestUserHistory: before and after a rename.
const (
	formerAlias  = `<i>ada</i> & "co"`
	presentAlias = "עדה (2)"
)

// usualCalls is calls of one user: eight over Wi-Fi, and the last over a cellular network and a relay, at another site.
// The user is renamed in it.
func usualCalls(now time.Time) (all []planted) {
	for i := range 9 {
		last := i == 8
		u := plantedUser{name: formerAlias, alias: formerAlias, facts: digest.Member{
			SiteID: japaneseName, ApplicationVersion: "4.1", Browser: "firefox", BrowserVersion: "144", OS: "linux", Devices: []string{"Headset (0b0e:030a)"}, MOS: 4.2 - 0.1*float64(i%3),
			Fabrics: []digest.Fabric{{LocalCandidateType: "host", NetworkType: "wifi", LocalAddress: "192.0.2.0", Connected: true}},
		}}
		one := planted{id: fmt.Sprint("会議 ", i), start: now.Add(-time.Duration(9-i) * 5 * time.Hour).Truncate(time.Millisecond), outcome: "success", mos: 4.1}
		if last {
			u.renamed, u.facts.MOS, u.facts.SiteID, u.facts.Cause = presentAlias, 2.4, htmlName, "receiverDownlink"
			u.facts.Fabrics = []digest.Fabric{{LocalCandidateType: "relay", RelayProtocol: "tls", NetworkType: "cellular", LocalAddress: "198.51.100.0", Connected: true}}
			one.mos, one.cause = 2.4, "receiverDownlink"
		}
		other := plantedUser{name: "bob", alias: "bob", facts: digest.Member{Browser: "chrome", BrowserVersion: "142", MOS: 4.4}}
		one.people = []plantedUser{u, other}
		all = append(all, one)
	}
	return all
}

// TestUserHistory opens the history of a user, by either name: the calls with the user's own facts, what
// is usual, what was different in the last call, pages, links, nobody, and a link that lacks a parameter.
//
// spec: DASH-01, DASH-03
func TestUserHistory(t *testing.T) {
	c, _ := newPlanted(t, usualCalls(time.Now())...)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			address := func(more ...string) string {
				q := url.Values{"app": {appID}}
				for i := 0; i < len(more); i += 2 {
					q.Set(more[i], more[i+1])
				}
				return c.dashboard + "/user?" + q.Encode()
			}
			p := openPage(t, b, "user", address("user", formerAlias))
			p.Until(patience, "document.querySelectorAll('[data-testid=call]').length === 9")
			var name string
			p.Get("document.querySelector('[data-testid=user]').textContent.trim()", &name)
			require.Equal(t, presentAlias, name)
			p.shows("Also called " + formerAlias)
			c.showsDifferences(p)
			p.looks("user")
			p.view(800, false)
			c.picture(t, p, "user-"+kind)
			p.view(1280, false)
			p.Until(patience, "document.querySelector('[data-testid=scores] canvas')")
			p.goes(address("user", presentAlias))
			p.Until(patience, "document.querySelectorAll('[data-testid=call]').length === 1")
			p.goes(address("user", formerAlias, "limit", "4"))
			p.Until(patience, "document.querySelector('[data-testid=next]')")
			p.Run("document.querySelector('[data-testid=next]').click()")
			p.Until(patience, `document.querySelector('[data-testid=first]') && document.querySelector('[data-testid=call]').dataset.id === "会議 4"`)
			p.Run("document.querySelector('[data-testid=call] a').click()")
			p.Until(patience, `location.pathname === "/conference" && document.querySelector('[data-testid=user-history]')`)
			p.Run("document.querySelector('[data-testid=user-history]').click()")
			p.Until(patience, `location.pathname === "/user" && document.querySelector('[data-testid=call]')`)
			p.goes(address("user", "nobody"))
			p.Until(patience, "document.querySelector('[data-testid=empty]')")
			p.accessible("user-empty")
			p.goes(address())
			p.Until(patience, "document.querySelector('[role=alert]')?.innerText.includes('user is required')")
			require.Empty(t, b.Errors(), "the page runs without an error")
			p.CloseTab()
		})
	}
}

// showsDifferences expects what is usual, and what was different in the last call alone.
func (c *collector) showsDifferences(p *page) {
	p.T.Helper()
	var usual, different []string
	p.Get("[...document.querySelectorAll('[data-testid=usual] li')].map((one) => one.textContent)", &usual)
	require.Contains(p.T, usual, "Site "+japaneseName+" 89 % of 9 calls")
	require.Contains(p.T, usual, "Address prefix 192.0.2.0/24 89 % of 9 calls")
	p.Get("[...document.querySelectorAll('[data-testid=call]:first-child [data-testid=different]')].map((one) => one.textContent)", &different)
	require.Equal(p.T, []string{
		"Site " + htmlName + ", usually " + japaneseName, "Network cellular, usually wifi",
		"Address prefix 198.51.100.0/24, usually 192.0.2.0/24", "Local candidate relay, usually host",
	}, different)
	p.Until(patience, "document.querySelectorAll('[data-testid=different]').length === 4")
}
