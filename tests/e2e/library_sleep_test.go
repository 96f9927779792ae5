package e2e

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// asleepFor is longer than the library waits for a collector that is silent, twice 12 s, and
// shorter than the silence that ends a conference, 30 s.
const asleepFor = 26 * time.Second

// downFor may be longer: who goes on measuring is not silent.
const downFor = 30 * time.Second

// fallsAsleep: a page that is frozen, and a whole browser that stands still, go on where they
// were; nothing is counted twice, nothing is missing, and no error reaches the page.
//
// spec: LIB-07, SRV-03, INIT-05
func fallsAsleep(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	tab := l.openAccount(t, b, "asleep")
	tab.delivers(10)
	signalAll(t, b, syscall.SIGSTOP)
	<-time.After(asleepFor)
	signalAll(t, b, syscall.SIGCONT)
	tab.asleep = asleepFor
	tab.delivers(10)
	if b.Kind == browser.Chromium { // Firefox has no way to ask for it
		page := openCDP(tab.page)
		page.do("Page.setWebLifecycleState", map[string]any{"state": "frozen"}, nil)
		<-time.After(5 * time.Second)
		page.do("Page.setWebLifecycleState", map[string]any{"state": "active"}, nil)
		tab.delivers(10)
	}
	tab.continuesWhole(t, l)
}

// signalAll sends a signal to all processes of a browser.
func signalAll(t *testing.T, b *browser.Browser, signal syscall.Signal) {
	t.Helper()
	all := b.Process.Descendants()
	require.Greater(t, len(all), 2)
	for _, pid := range all {
		_ = syscall.Kill(pid, signal) // it may have ended
	}
}

// linkDown takes the only link of the namespace away, from under calls and sessions, for
// longer than the library waits; then it is back.
//
// spec: LIB-07, SRV-03, INIT-05
func (l *lab) linkDown(t *testing.T) {
	t.Helper()
	tabs := []*tab{}
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		tab := l.openAccount(t, l.browsers[kind], "link down")
		tab.delivers(10)
		tabs = append(tabs, tab)
	}
	setLink(t, "down")
	defer setLink(t, "up")
	<-time.After(downFor)
	setLink(t, "up")
	for _, tab := range tabs {
		tab.delivers(10)
	}
	for _, tab := range tabs {
		require.Greater(t, tab.hellos(), 1, "the page notices that its channel is dead")
		tab.continuesWhole(t, l)
	}
}

// setLink sets the only link of this namespace up or down.
func setLink(t *testing.T, state string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "ip", "link", "set", "lo", state).CombinedOutput()
	require.NoError(t, err, string(out))
}

// openAccount opens a page that keeps an account of what it says, behind a front of its own.
func (l *lab) openAccount(t *testing.T, b *browser.Browser, what string) *tab {
	t.Helper()
	tab := openTab(t, b, l.tabs, what+" in "+b.Kind, startFront(t, false, l.collector), nil)
	tab.Run(`(window.uncaught = [], addEventListener('error', ({ message }) => uncaught.push(message)),
		addEventListener('unhandledrejection', ({ reason }) => uncaught.push(String(reason))), 1)`)
	return tab
}

// continuesWhole hangs up. What went over the wire, and the page's own account, are held against
// the store when the collector has stopped.
func (b *tab) continuesWhole(t *testing.T, l *lab) {
	t.Helper()
	one := &story{tab: b, kind: b.Browser.Kind, outcome: "success", stores: newStores(t, l.collector)}
	last := b.finish()
	one.tabs = append(one.tabs, last)
	var uncaught []string
	b.Get("uncaught", &uncaught)
	require.Empty(t, uncaught)
	one.awaits(t)
	l.mu.Lock()
	l.stories = append(l.stories, one)
	l.mu.Unlock()
	b.CloseTab()
	reported := map[string]bool{}
	for i, said := range last.Init {
		if said[0] == "success" {
			require.True(t, i == 0 || len(reported) > 0, "success again without an outage: %v", last.Init)
			clear(reported)
			continue
		}
		if said[0] != "appConnectivityError" {
			require.False(t, reported[said[0]], "reported twice: %v", last.Init)
		}
		reported[said[0]] = true
	}
	t.Logf("csInitCallback: %v", last.Init)
}
