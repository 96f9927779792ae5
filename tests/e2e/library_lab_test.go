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

	"github.com/qosrtc/qos/internal/testenv"
	"github.com/qosrtc/qos/tests/browser"
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
	sleepers  map[string]*browser.Browser // which may stand still

	mu      sync.Mutex
	stories []*story                      // looked at when the collector has stopped
	windows map[*browser.Browser][]string // that nobody uses: new ones take longest
}

// The other application that the lab's collector knows.
const (
	secondAppID     = "second"
	secondAppSecret = "second-secret"
)

// patient are the subjects that wait most of their time, each beside all others.
var patient = []string{"Asleep", "Busy", "Leaves", "LosesItsPath", "NeverConnects", "Wifi"}

// lanesOf puts the patient subjects apart and the others into four rows, which the processors
// of a small machine bear.
func lanesOf(subjects map[string]labSubject) (lanes [][]string) {
	const rows = 4
	lanes = make([][]string, rows)
	n := 0
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		if slices.Contains(patient, name) {
			lanes = append(lanes, []string{name})
			continue
		}
		lanes[n%rows] = append(lanes[n%rows], name)
		n++
	}
	return lanes
}

// labSubject is one thing that pages of a browser are put through.
type labSubject func(t *testing.T, l *lab, b *browser.Browser)

// TestLibraryInCalls puts pages through what happens to calls, all at once, in both browsers,
// and holds what the collector keeps of it against what was done.
//
// spec: LIB-05, LIB-07
func TestLibraryInCalls(t *testing.T) {
	browser.Require(t, browser.Chromium, browser.Firefox)
	testenv.Program(t, "certutil")
	testenv.Program(t, "ip")
	l := startLab(t)
	subjects := map[string]labSubject{
		"RelayUDP": relayed("udp"), "RelayTCP": relayed("tcp"), "RelayTLS": relayed("tls"),
		"LosesItsPath": losesItsPath, "NeverConnects": neverConnects, "Asleep": fallsAsleep,
		"Leaves": leaves, "Legacy": isOfTheOldForm, "Addresses": keepsAddresses, "Texts": cutsTexts,
		"LogsInLater": logsInLater, "ChangesUser": changesUser, "Speakers": namesSpeakers, "Conferences": tellsConferencesApart,
		"WithoutFabric": speaksOfConferences, "Wifi": asksForWifi, "Beat": measuresApart, "Units": tellsUnits,
		"SetUp": countsTheSetUp, "Ends": endsAtOnce, "HangsUp": hangsUp, "Policy": isForbiddenSockets, "OldLibraries": standsOldLibraries, "Busy": isBusy, "Habits": isUsedOddly,
		"Whose": actsOnItsOwn, "Renames": renamesOne, "Pace": keepsThePace,
		"Screens": showsScreens, "Unsent": sendsNothing,
	}
	t.Run("Subjects", func(t *testing.T) {
		for kind, b := range l.browsers {
			for lane, names := range lanesOf(subjects) {
				t.Run(fmt.Sprint(kind, lane), func(t *testing.T) {
					t.Parallel()
					for _, name := range names {
						t.Run(name, func(t *testing.T) { subjects[name](t, l, b) })
					}
				})
			}
		}
		t.Run("SameUser", func(t *testing.T) {
			t.Parallel()
			l.sameUser(t)
		})
	})
	t.Run("LinkDown", l.linkDown) // it takes the network from all
	l.stop()
	for _, one := range l.stories {
		t.Run("Account/"+one.tab.room, one.check)
	}
}

func startLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{
		collector: newCollector(t), chain: t.TempDir(),
		browsers: map[string]*browser.Browser{}, sleepers: map[string]*browser.Browser{}, windows: map[*browser.Browser][]string{},
	}
	l.authority = makeChain(t, l.chain, "qos.test")
	l.pages = startLibraryPages(t, t.TempDir())
	l.tabs = startPages(t)
	l.origins = append(l.origins, l.pages.url, l.tabs)
	origins := jsonOf(l.origins)
	l.more = fmt.Sprintf("extensions: {qosapps: {apps: [{id: %s, secrets: [%s], origins: %s}, {id: %s, secrets: [%s], origins: %s, stats_interval: 4s}]}}",
		appID, appSecret, origins, secondAppID, secondAppSecret, origins)
	l.start()
	l.pages.of(t, l.collector)
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		l.browsers[kind] = browser.StartTrusting(t, kind, l.authority)
		l.sleepers[kind] = browser.Start(t, kind)
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
