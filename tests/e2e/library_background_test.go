package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// keepPosts has the page keep what the library hands to requests that outlive it. While it is offline, no other request
// leaves it.
const keepPosts = `(window.kept = [], window.offline = false, window.fetch = ((real) => async (url, options) => {
	if (options?.keepalive) kept.push(options.body);
	else if (offline) throw new TypeError('offline');
	return real(url, options);
})(fetch), 1)`

// TestOutOfSight puts another tab in front of a page in mid-call: it goes on where timers are
// throttled, and without a channel it hands over what waits as it goes out of sight.
//
// spec: FAB-08, STAT-01, LIB-07
func TestOutOfSight(t *testing.T) {
	browser.Require(t, browserKinds()...)
	c := newCollector(t)
	pages := startPages(t)
	c.origins = append(c.origins, pages)
	c.start()
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			tab := openTab(t, browser.Start(t, kind), pages, "out of sight in "+kind, startFront(t, false, c), nil)
			tab.delivers(5)
			tab.Run(keepPosts)
			tab.continues()
			tab.handsOver()
			require.Equal(t, "success", tab.finish().Finished)
		})
	}
}

// cover opens another tab in front of the page.
func (b *tab) cover() {
	b.T.Helper()
	require.NoError(b.T, b.Browser.Do("browsingContext.create", map[string]any{"type": "tab", "referenceContext": b.Context}, nil))
	b.Until(patience, "document.visibilityState === 'hidden'")
}

// show brings the page to the front again.
func (b *tab) show() {
	b.T.Helper()
	require.NoError(b.T, b.Browser.Do("browsingContext.activate", map[string]any{"context": b.Context}, nil))
	b.Until(patience, "document.visibilityState === 'visible'")
}

// continues: a good channel takes all that the page says, also out of sight.
func (b *tab) continues() {
	b.T.Helper()
	b.cover()
	before := b.now().StatsCount
	b.delivers(8)
	b.Until(patience, fmt.Sprintf("account.statsCount >= %d", before+3))
	var kept []string
	b.Get("kept", &kept)
	require.Empty(b.T, kept, "the channel had it all")
	b.show()
}

// handsOver: nobody knows whether a page that is out of sight will ever run again.
func (b *tab) handsOver() {
	b.T.Helper()
	b.Run("(window.WebSocket = class { constructor() { throw new Error('none'); } }, 1)")
	b.front.reset()
	b.Until(patience, "account.init.some(([csError]) => csError === 'wsChannelFailure')")
	b.Run("(window.offline = true, 1)")
	b.Until(patience, fmt.Sprintf("account.ticks > %d", b.now().Ticks)) // a POST may have sent all that waited
	b.cover()
	b.Until(patience, "kept.length > 0")
	var kept []string
	b.Get("kept", &kept)
	require.Contains(b.T, kept[0], `"name":"tick"`)
	require.True(b.T, strings.HasPrefix(kept[0], `{"type":"hello"`), kept[0])
	b.Run("(window.offline = false, 1)")
	b.show()
}
