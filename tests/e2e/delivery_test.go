package e2e

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// suffering is the collectors and what the pages that suffered reported: checked together, so that all share the wait
// for the ends of those that vanished.
type suffering struct {
	t        *testing.T
	pages    string     // base URL of the pages
	steady   *collector // that nothing happens to
	accounts chan *story
}

// story is what a conference must have come to.
type story struct {
	tab     *tab
	kind    string
	outcome string
	tabs    []tabAccount // the last word of each page, one a session
	killed  bool         // the page had no last word: at least what was acknowledged is there
	dropped bool         // it said more than the library keeps
	resent  bool         // some frames were sent twice
	stores  *stores
}

// TestDelivery lets pages of a real browser suffer what happens to them, all at once: each page is a call with itself behind
// a front of its own. Afterwards the store holds every number of every session once, and what the pages counted.
//
// spec: SRV-03, SRV-04, STAT-07, CONF-02, FAB-08, INIT-07
func TestDelivery(t *testing.T) {
	s := newSuffering(t, browserKinds())
	own := s.startSteady()
	for _, kind := range browserKinds() {
		b := browser.Start(t, kind)
		t.Run("Faults", func(t *testing.T) {
			for name, suffer := range map[string]func(*testing.T, *browser.Browser, *story){
				"Network": s.network, "NoWebSockets": s.noWebSockets, "Reload": s.reload, "BackForward": s.backForward,
			} {
				t.Run(name+kind, func(t *testing.T) {
					t.Parallel()
					one := &story{kind: kind, outcome: "success", stores: own}
					suffer(t, b, one)
					s.accounts <- one
				})
			}
		})
	}
	s.check(t)
}

// TestDeliveryOfKilled kills a browser. Its call ends 30 s later.
//
// spec: SRV-03, STAT-07, CONF-02
func TestDeliveryOfKilled(t *testing.T) {
	kinds := []string{browser.Chromium, browser.Firefox}
	s := newSuffering(t, kinds)
	own := s.startSteady()
	for _, kind := range kinds {
		s.accounts <- s.killed(t, kind, own)
	}
	s.check(t)
}

// TestDeliveryToTwo has two collectors in rotation that share a store, and kills one after the other.
//
// spec: SRV-03, SRV-04, STAT-07, CONF-02, INIT-07
func TestDeliveryToTwo(t *testing.T) {
	kinds := []string{browser.Chromium, browser.Firefox}
	s := newSuffering(t, kinds)
	rotation := newRotation(t, s.pages)
	browsers := map[string]*browser.Browser{}
	for _, kind := range kinds {
		browsers[kind] = browser.Start(t, kind)
	}
	s.collectors(t, rotation, browsers)
	s.check(t)
}

func newSuffering(t *testing.T, kinds []string) *suffering {
	t.Helper()
	browser.Require(t, kinds...)
	return &suffering{t: t, pages: startPages(t), accounts: make(chan *story, 100)}
}

// startSteady starts the collector that nothing happens to.
func (s *suffering) startSteady() *stores {
	s.t.Helper()
	s.steady = newCollector(s.t)
	s.steady.origins = append(s.steady.origins, s.pages)
	s.steady.start()
	return newStores(s.t, s.steady)
}

// check waits for the ends of all, and holds the stores against what was reported.
func (s *suffering) check(t *testing.T) {
	t.Helper()
	close(s.accounts)
	var stories []*story
	for one := range s.accounts {
		one.awaits(t)
		stories = append(stories, one)
	}
	require.NotEmpty(t, stories)
	for _, one := range stories {
		for _, c := range one.stores.collectors {
			c.stop()
		}
		t.Run("Account/"+one.tab.room, one.check)
	}
}

func (s *suffering) open(t *testing.T, b *browser.Browser, what string, refuses bool, more url.Values) *tab {
	t.Helper()
	return openTab(t, b, s.pages, what+" in "+b.Kind, startFront(t, refuses, s.steady), more)
}

// network: the connection is reset, then it carries nothing any more without a word, then
// what was held up arrives after all; and the page's clock is set, forth and back.
func (s *suffering) network(t *testing.T, b *browser.Browser, one *story) {
	t.Helper()
	tab := s.open(t, b, "network", false, nil)
	tab.delivers(10)

	hellos := tab.hellos()
	tab.front.reset()
	tab.reconnects(hellos)

	tab.Run("(Date.now = ((real) => () => real() + 3_600_000)(Date.now), 1)")
	tab.reconnects(hellos + 1)
	tab.Run("(Date.now = ((real) => () => real() - 7_200_000)(Date.now), 1)")
	tab.reconnects(hellos + 2)

	release := tab.front.stall()
	defer release()
	tab.reconnects(hellos + 3)
	release()
	tab.delivers(4)

	one.tab, one.resent = tab, true
	one.tabs = append(one.tabs, tab.finish())
}

// noWebSockets: the network lets none through.
func (s *suffering) noWebSockets(t *testing.T, b *browser.Browser, one *story) {
	t.Helper()
	tab := s.open(t, b, "no WebSockets", true, nil)
	tab.delivers(10)
	tab.delivers(10)
	one.tab = tab
	one.tabs = append(one.tabs, tab.finish())
	_, account := tab.front.wire.newest()
	require.Zero(t, account.hellos, "WebSockets")
	require.Greater(t, account.posts, 1)
}

// reload: the page goes in mid-call and comes anew; then its tab is closed.
func (s *suffering) reload(t *testing.T, b *browser.Browser, one *story) {
	t.Helper()
	tab := s.open(t, b, "reload", false, nil)
	tab.delivers(10)
	first := tab.now().Run
	require.NoError(t, b.Do("browsingContext.reload", map[string]any{"context": tab.Context, "wait": "complete"}, nil))
	one.tab = tab
	one.tabs = append(one.tabs, tab.last(tab.page))
	require.Equal(t, first, one.tabs[0].Run)
	tab.Until(patience, "account.run !== "+quote(first)+" && account.ticks > 0")
	tab.delivers(10)
	witness := openPage(t, b, "elsewhere", s.pages+"/elsewhere")
	second := tab.now().Run
	if b.Kind == browser.Firefox { // what a page writes down while its tab is closed often does not come to be there
		require.NoError(t, b.Do("browsingContext.navigate", map[string]any{"context": tab.Context, "url": s.pages + "/elsewhere", "wait": "complete"}, nil))
	}
	tab.CloseTab()
	browser.Eventually(t, patience, "the page's last word", func() (bool, string) {
		last := tab.last(witness)
		return last.Run == second, last.Run
	})
	one.tabs = append(one.tabs, tab.last(witness))
	tab.settles()
}

// backForward: the page leaves for the back/forward cache, and the user comes back to it.
func (s *suffering) backForward(t *testing.T, b *browser.Browser, one *story) {
	t.Helper()
	// Firefox keeps no page with an open WebSocket: there it is a page whose network has none.
	tab := s.open(t, b, "back", b.Kind == browser.Firefox, url.Values{"lookalike": {"1"}})
	one.tab = tab
	tab.delivers(10)
	tab.Run("hush()") // browsers keep no page with a request under way
	require.NoError(t, b.Navigate(tab.Context, s.pages+"/elsewhere"))
	require.NoError(t, b.Do("browsingContext.traverseHistory", map[string]any{"context": tab.Context, "delta": -1}, nil))
	tab.Until(patience, "account.returned === 1")
	tab.delivers(10)
	one.tabs = append(one.tabs, tab.finish())
	tab.settles()
}

// killed: the browser gets no chance to say anything.
func (s *suffering) killed(t *testing.T, kind string, own *stores) *story {
	t.Helper()
	b := browser.Start(t, kind)
	tab := s.open(t, b, "killed", false, nil)
	tab.delivers(15)
	last := tab.now()
	b.Process.Kill()
	tab.Context = ""
	return &story{tab: tab, kind: kind, outcome: "dropped", tabs: []tabAccount{last}, killed: true, stores: own}
}

// collectors: there is none at first, for longer than the library can keep all that the
// page says. Then there are two in rotation that share a store; one is killed, comes back,
// and the other is killed.
func (s *suffering) collectors(t *testing.T, own *stores, browsers map[string]*browser.Browser) {
	t.Helper()
	var stories []*story
	for kind, b := range browsers {
		f := startFront(t, false, own.collectors...)
		tab := openTab(t, b, s.pages, "collectors in "+kind, f, nil)
		tab.Until(patience, "account.statsCount > 0 && fabric.connectionState === 'connected'")
		tab.Run("fill(450)")
		tab.Until(patience, "account.init.length > 0")
		require.NotEqual(t, "success", tab.now().Init[0][0])
		stories = append(stories, &story{tab: tab, kind: kind, outcome: "success", dropped: true, stores: own})
	}
	own.start(t)
	for _, one := range stories {
		one.tab.delivers(10)
	}
	for _, victim := range own.collectors {
		before := map[*story]int{}
		for _, one := range stories {
			before[one] = one.tab.hellos()
		}
		victim.process.Kill()
		alone := len(own.collectors) == 1
		if alone { // nobody else is there to go to
			victim.startFor(t)
		}
		for _, one := range stories {
			one.tab.front.reset() // each page, whichever collector it spoke to
			one.tab.reconnects(before[one])
		}
		if !alone {
			victim.startFor(t)
		}
	}
	for _, one := range stories {
		one.tabs = append(one.tabs, one.tab.finish())
		s.accounts <- one
	}
}
