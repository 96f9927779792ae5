package e2e

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// lab is a collector, and a browser of each kind whose pages do what tests tell them
// (testdata/pages/lab.html).
type lab struct {
	*collector
	pages     *libraryPages
	tabs      string // base URL of pages that keep an account (testdata/tab.html)
	authority string // PEM file of who the browsers trust
	chain     string // the folder of a certificate for qos.test, with its key
	browsers  map[string]*browser.Browser

	mu      sync.Mutex
	stories []*story                      // looked at when the collector has stopped
	windows map[*browser.Browser][]string // that nobody uses: new ones take longest
}

// The other application that the lab's collector knows.
const (
	secondAppID     = "second"
	secondAppSecret = "second-secret"
)

// lanes is how many subjects that do not wait most of their time go on at once: the processors of a small machine bear
// as many.
const lanes = 3

// labSubject is one thing that pages of a browser are put through.
type labSubject func(t *testing.T, l *lab, b *browser.Browser)

// TestLibraryInCalls puts pages through what happens to calls, several at once, and holds what the collector keeps of it
// against what was done.
//
// spec: LIB-05, LIB-07
func TestLibraryInCalls(t *testing.T) {
	l := startLab(t, browserKinds()...)
	l.puts(t, map[string]labSubject{"Pace": keepsThePace}, map[string]labSubject{
		"RelayUDP": relayed("udp"), "RelayTCP": relayed("tcp"), "RelayTLS": relayed("tls"),
		"Legacy": isOfTheOldForm, "Addresses": keepsAddresses, "Beat": measuresApart, "Units": tellsUnits, "SetUp": countsTheSetUp,
		"Policy": isForbiddenSockets, "OldLibraries": standsOldLibraries, "Screens": showsScreens, "Unsent": sendsNothing,
	})
}

// TestLibraryAndUsers says whose a call is, and ends it, in all ways.
//
// spec: LIB-05, LIB-07
func TestLibraryAndUsers(t *testing.T) {
	l := startLab(t, browserKinds()...)
	l.puts(t, map[string]labSubject{"LogsInLater": logsInLater, "HangsUp": hangsUp}, map[string]labSubject{
		"Texts": cutsTexts, "ChangesUser": changesUser, "Speakers": namesSpeakers, "Conferences": tellsConferencesApart,
		"WithoutFabric": speaksOfConferences, "Ends": endsAtOnce, "Habits": isUsedOddly, "Renames": renamesOne,
	})
}

// TestLibraryAndTime puts pages through what takes its time: silence, timeouts and paths that are lost.
//
// spec: LIB-05, LIB-07
func TestLibraryAndTime(t *testing.T) {
	l := startLab(t, browserKinds()...)
	l.puts(t, map[string]labSubject{
		"LosesItsPath": losesItsPath, "NeverConnects": neverConnects, "Leaves": leaves, "Wifi": asksForWifi, "Busy": isBusy, "Whose": actsOnItsOwn,
	}, nil)
}

// TestAsleep stops whole browsers, and freezes a page.
//
// spec: LIB-05, LIB-07
func TestAsleep(t *testing.T) {
	l := startLab(t, browser.Chromium, browser.Firefox)
	l.puts(t, map[string]labSubject{"Asleep": fallsAsleep}, nil)
	l.checkStories(t)
}

// TestLinkDown takes the network from all.
//
// spec: LIB-05, LIB-07
func TestLinkDown(t *testing.T) {
	browser.Require(t)
	testenv.Program(t, "ip")
	l := startLab(t, browser.Chromium, browser.Firefox)
	l.linkDown(t)
	l.checkStories(t)
}

// TestSameUser has one user in two browsers.
//
// spec: FAB-09
func TestSameUser(t *testing.T) {
	l := startLab(t, browser.Chromium, browser.Firefox)
	l.sameUser(t)
}

// puts puts pages of each browser through subjects: through those that wait most of their time all at once, and through the
// others in lanes.
func (l *lab) puts(t *testing.T, waiting, working map[string]labSubject) {
	t.Helper()
	t.Run("Subjects", func(t *testing.T) {
		for kind, b := range l.browsers {
			for name, subject := range waiting {
				t.Run(kind+name, func(t *testing.T) {
					t.Parallel()
					subject(t, l, b)
				})
			}
			names := slices.Sorted(maps.Keys(working))
			for lane := range min(lanes, len(names)) {
				t.Run(fmt.Sprint(kind, lane), func(t *testing.T) {
					t.Parallel()
					for i := lane; i < len(names); i += lanes {
						t.Run(names[i], func(t *testing.T) { working[names[i]](t, l, b) })
					}
				})
			}
		}
	})
}

// checkStories stops the collector and holds what it stored against the accounts of the pages.
func (l *lab) checkStories(t *testing.T) {
	t.Helper()
	l.stop()
	require.NotEmpty(t, l.stories)
	for _, one := range l.stories {
		t.Run("Account/"+one.tab.room, one.check)
	}
}

// startLab starts a collector and browsers of some kinds.
func startLab(t *testing.T, kinds ...string) *lab {
	t.Helper()
	browser.Require(t)
	testenv.Program(t, "certutil")
	for _, kind := range kinds {
		browser.Require(t, kind)
	}
	l := &lab{collector: newCollector(t), chain: t.TempDir(), browsers: map[string]*browser.Browser{}, windows: map[*browser.Browser][]string{}}
	l.authority = makeChain(t, l.chain, "qos.test")
	l.pages = startLibraryPages(t, t.TempDir())
	l.tabs = startPages(t)
	l.origins = append(l.origins, l.pages.url, l.tabs)
	origins := jsonOf(l.origins)
	l.more = fmt.Sprintf("extensions: {qosapps: {apps: [{id: %s, secrets: [%s], origins: %s}, {id: %s, secrets: [%s], origins: %s, stats_interval: 4s}]}}",
		appID, appSecret, origins, secondAppID, secondAppSecret, origins)
	l.start()
	l.pages.of(t, l.collector)
	for _, kind := range kinds {
		l.browsers[kind] = browser.StartTrusting(t, kind, l.authority)
	}
	return l
}

// labPage is a page of the lab.
type labPage struct {
	*page
	room string // its own, to call each other in
}

// open opens a page with a room of its own. No error may reach it as long as it is there.
func (l *lab) open(t *testing.T, b *browser.Browser, room string) *labPage {
	t.Helper()
	p := &labPage{l.window(t, b, room, l.pages.url+"/lab.html"), room + " in " + b.Kind}
	t.Cleanup(func() {
		if !t.Failed() {
			var errors []string
			p.Get("globalThis.outcome?.errors ?? []", &errors) // it may have gone elsewhere
			require.Empty(t, errors, "errors that reached the page")
		}
	})
	return p
}

// window goes to a page in a window of its own, and leaves it to others when the test ends.
func (l *lab) window(t *testing.T, b *browser.Browser, name, address string) *page {
	t.Helper()
	b.Opening.Lock()
	defer b.Opening.Unlock()
	p := &page{&browser.Page{T: t, Browser: b, Name: name, Context: l.unused(b)}}
	var err error
	if p.Context != "" {
		err = b.Navigate(p.Context, address)
	} else {
		p.Context, err = b.Open(address)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		p.KeepIfFailed()
		require.NoError(t, b.Navigate(p.Context, "about:blank")) // what goes on in it ends
		l.mu.Lock()
		defer l.mu.Unlock()
		l.windows[b] = append(l.windows[b], p.Context)
	})
	return p
}

// unused takes a window that nobody uses; empty where there is none.
func (l *lab) unused(b *browser.Browser) (context string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if free := l.windows[b]; len(free) > 0 {
		context, l.windows[b] = free[len(free)-1], free[:len(free)-1]
	}
	return context
}

// shows opens the conference's page of the dashboard and waits for texts on it.
func (p *labPage) shows(l *lab, link string, patterns ...string) {
	p.T.Helper()
	dashboard := l.window(p.T, p.Browser, "dashboard", link)
	for _, pattern := range patterns {
		dashboard.Until(patience, "new RegExp("+quote(pattern)+").test(document.body.innerText)")
	}
}

// does runs a statement in the page, with room for its own room.
func (p *labPage) does(statement string) {
	p.T.Helper()
	p.Run("(async (room) => { " + statement + "; })(" + quote(p.room) + ")")
}

// sees waits for a condition in the page, with room for its own room.
func (p *labPage) sees(within time.Duration, condition string) {
	p.T.Helper()
	var last string
	browser.Eventually(p.T, within, p.room+": "+condition, func() (bool, string) {
		var ok bool
		if err := p.Browser.Evaluate(p.Context, "((room) => Boolean("+condition+"))("+quote(p.room)+")", &ok); err != nil {
			return false, err.Error()
		}
		if !ok {
			_ = p.Browser.Evaluate(p.Context, "JSON.stringify({ heard, reported: reported.length, outcome, room: states("+quote(p.room)+") })", &last)
		}
		return ok, last
	})
}

// results returns what a callback of the page got with this code. A connection that a busy
// machine breaks and makes anew has codes of its own.
func (p *labPage) results(callback, code string) (found [][]string) {
	p.T.Helper()
	p.Get(fmt.Sprintf("heard.%s.filter(([err]) => err === %q)", callback, code), &found)
	return found
}

// logsIn begins a session and waits until it is one.
func (p *labPage) logsIn(config string) {
	p.T.Helper()
	p.does("begin('ada', " + config + ")")
	p.sees(patience, "heard.init.some(([err]) => err === 'success')")
}

// keeps waits until the collector has what is asked for of a room, as the dashboard tells it.
func (l *lab) keeps(t *testing.T, room, what string, enough func(*kept) bool) *kept {
	t.Helper()
	return l.keepsOf(t, appID, room, what, enough)
}

func (l *lab) keepsOf(t *testing.T, app, room, what string, enough func(*kept) bool) *kept {
	t.Helper()
	var found *kept
	browser.Eventually(t, patience, room+": the collector has "+what, func() (bool, string) {
		var answer struct{ Conferences []row }
		l.ask("/api/conferences", url.Values{"app": {app}, "id": {room}}, &answer)
		if len(answer.Conferences) != 1 {
			return false, fmt.Sprint(answer.Conferences)
		}
		found = &kept{}
		at := strconv.FormatInt(answer.Conferences[0].StartAt, 10)
		l.ask("/api/conference", url.Values{"app": {app}, "id": {room}, "at": {at}}, found)
		return enough(found), jsonOf(found.Timeline)
	})
	return found
}

// ended tells whether a conference has its summary.
func ended(k *kept) bool { return k.Conference.State == "ended" }

// fabricEnded tells whether a fabric of the conference has ended.
func fabricEnded(k *kept) bool { return len(k.events("fabricTerminated")) > 0 }
