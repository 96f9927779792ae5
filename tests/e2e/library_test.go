package e2e

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// answer is what every operation of the library returns.
type answer struct{ Status, Msg, Message string }

// libraryOutcome is what a page of testdata/pages says about its call.
type libraryOutcome struct {
	Answers        map[string]answer
	Init           []string
	Fabric         []string
	Feedback       []string
	Errors         []string
	Version        string
	Globals        string // the type of window.qos
	Instance       bool   // the value serves as a constructor and as an instance
	WithoutBackend string
	Blocked        bool
	Loaded         string
}

// TestLibrary loads the library into real pages in every way there is, from the collector
// and from its package, and makes sure that it leaves the page alone.
//
// spec: LIB-01, LIB-02, LIB-03, LIB-04, LIB-07, LIB-08
func TestLibrary(t *testing.T) {
	browser.Require(t, browserKinds()...)
	needPackages(t)
	built := buildApplication(t)
	c := newCollector(t)
	served := startLibraryPages(t, built)
	pages := served.url
	c.origins = append(c.origins, pages)
	c.start()
	served.of(t, c)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			b := browser.Start(t, kind)
			p := openPage(t, b, kind, pages+"/plain.html") // one window for all: new ones take longest
			for name, path := range map[string]string{
				"ScriptTag": "plain.html", "RequireJS": "amd.html", "ScriptTagBesideRequireJS": "tags.html", "Module": "module.html",
				"Vite": "vite/index.html", "ViteDeepImport": "vite/deep.html", "ViteRequire": "vite/required.html",
			} {
				t.Run(name, func(t *testing.T) { loadsAndCalls(t, p, c, pages+"/"+path) })
			}
			t.Run("WrongHash", func(t *testing.T) { isBlocked(t, p, pages) })
			t.Run("Harmless", func(t *testing.T) { isHarmless(t, p, pages) })
		})
	}
}

// outcomeOf goes to a page and waits until it has done what it does.
func outcomeOf(t *testing.T, p *page, address string) libraryOutcome {
	t.Helper()
	require.NoError(t, p.Browser.Navigate(p.Context, address))
	until(t, p, "outcome.done || outcome.errors.length")
	var got libraryOutcome
	p.Get("outcome", &got)
	return got
}

// loadsAndCalls: however it was loaded, each operation succeeds and the collector confirms
// the login, the fabric and the feedback.
func loadsAndCalls(t *testing.T, p *page, c *collector, address string) {
	t.Helper()
	got := outcomeOf(t, p, address+"?"+url.Values{"backend": {c.receiver}}.Encode())
	require.Empty(t, got.Errors)
	require.Equal(t, readManifest(t, c).Version, got.Version)
	require.Len(t, got.Answers, 5)
	for operation, said := range got.Answers {
		require.Equal(t, answer{Status: "success"}, said, operation)
	}
	require.Equal(t, []string{"success"}, got.Init)
	require.Equal(t, []string{"success"}, got.Fabric)
	require.Equal(t, []string{"success"}, got.Feedback)
	if got.Globals != "" { // by a module loader
		global := "undefined"
		if strings.HasSuffix(address, "/tags.html") {
			global = "function"
		}
		require.Equal(t, global, got.Globals, "a script tag makes a global, a module loader leaves none")
		require.True(t, got.Instance)
	}
	if got.WithoutBackend != "" {
		require.Contains(t, got.WithoutBackend, "configParams.backendUrl")
	}
}

// isBlocked: with the hash of another file the browser does not run the library.
func isBlocked(t *testing.T, p *page, pages string) {
	t.Helper()
	got := outcomeOf(t, p, pages+"/tampered.html")
	require.True(t, got.Blocked)
	require.Equal(t, "undefined", got.Loaded)
}

// isHarmless: nothing global but qos, nothing built in is changed, no handler of unload, and
// what the library listens to and waits for goes with the last fabric.
func isHarmless(t *testing.T, p *page, pages string) {
	t.Helper()
	require.NoError(t, p.Browser.Navigate(p.Context, pages+"/harmless.html"))
	until(t, p, "outcome.done")
	type use struct{ Listeners, Timers int }
	var got struct {
		Errors, Globals, NewGlobals, Heard, Types, Handlers, Changed []string
		OnLoad, DuringCall                                           use
	}
	p.Get("outcome", &got)
	require.Empty(t, got.Errors)
	require.Equal(t, []string{"qos"}, got.Globals, "what loading it added")
	require.Zero(t, got.OnLoad, "before initialize() it listens to nothing and waits for nothing")
	require.Equal(t, []string{"success"}, got.Heard)
	require.Empty(t, got.NewGlobals, "what using it added")
	require.Empty(t, got.Changed, "built-ins that it changed")
	require.Empty(t, got.Handlers)
	require.Subset(t, []string{"online", "pagehide", "pageshow", "visibilitychange"}, got.Types, "on window and document")
	require.Positive(t, got.DuringCall.Listeners, "the instruments see it listen")
	require.Positive(t, got.DuringCall.Timers, "the instruments see it wait")
	// The last frames may still wait for their acknowledgement, and Wi-Fi for its turn.
	until(t, p, "(({ listeners, timers }) => !listeners.length && !timers)(outcome.left())")
}

// until waits for a condition in the page; the page's own account explains a failure.
func until(t *testing.T, p *page, condition string) {
	t.Helper()
	browser.Eventually(t, patience, condition, func() (bool, string) {
		var state struct {
			OK   bool
			Last string
		}
		err := p.Browser.Evaluate(p.Context, `({ ok: Boolean(`+condition+`), last: JSON.stringify([outcome, outcome.left?.()]) })`, &state)
		if err != nil {
			return false, err.Error()
		}
		return state.OK, state.Last
	})
}
