package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/tests/browser"
)

// manyCount is how many conferences the list of TestManyConferences has.
const manyCount = 10_000

// manyCalls returns manyCount calls of one participant each, a second apart, the newest first.
func manyCalls(now time.Time) (all []planted) {
	for i := range manyCount {
		u := plantedUser{name: fmt.Sprint("user ", i%500), alias: fmt.Sprint("user ", i%500), facts: digest.Member{SiteID: fmt.Sprint("site ", i%100), Browser: "firefox", BrowserVersion: "144"}}
		all = append(all, planted{
			id: fmt.Sprint("call ", i), start: now.Add(-time.Hour - time.Duration(i)*time.Second).Truncate(time.Millisecond), lasted: 10 * time.Second,
			outcome: "success", mos: 4.1, people: []plantedUser{u},
		})
	}
	return all
}

// TestManyConferences pages through the list of a store with many conferences, and reads its last page.
//
// spec: DASH-01
func TestManyConferences(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	now := time.Now()
	c.plant(t, manyCalls(now))
	c.start()
	p := openPage(t, browser.Start(t, browser.Chromium), "many", c.dashboard+"/search?limit=200")
	seen := map[string]bool{}
	for page := range 4 {
		p.Until(patience, fmt.Sprintf("document.querySelector('#list').ariaBusy === 'false' && document.querySelector('[data-testid=conference]')?.dataset.id === 'call %d'", page*200))
		var ids []string
		p.Get("[...document.querySelectorAll('[data-testid=conference]')].map((one) => one.dataset.id)", &ids)
		require.Len(t, ids, 200)
		for _, id := range ids {
			require.False(t, seen[id], "%s is on two pages", id)
			seen[id] = true
		}
		p.Run("document.querySelector('[data-testid=next]').click()")
	}
	p.goes(fmt.Sprintf("%s/search?limit=200&to=%d", c.dashboard, now.Add(-time.Hour-time.Duration(manyCount-100)*time.Second).UnixMilli()))
	p.Until(patience, fmt.Sprintf("[...document.querySelectorAll('[data-testid=conference]')].at(-1)?.dataset.id === 'call %d' && !document.querySelector('[data-testid=next]')", manyCount-1))
	require.Empty(t, p.Browser.Errors(), "the pages run without an error")
}
