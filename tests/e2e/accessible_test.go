package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// Rules of axe: all that pages keep, those that colours can break, the others, and those that the layout can break.
const (
	axeTags   = `runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`
	axeColour = `runOnly: ["color-contrast", "link-in-text-block"]`
	axeOthers = axeTags + `, rules: { "color-contrast": { enabled: false }, "link-in-text-block": { enabled: false } }`
	axeLayout = `runOnly: ["target-size", "scrollable-region-focusable"]`
)

// axeSource is axe-core, as the lockfile of client/ pins it.
func axeSource(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clientDir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testenv.Missing(t, errors.New("axe-core is not installed (npm ci in client/)"))
	}
	return string(text)
}

// views are the ways in which a page is seen, and the rules that are checked there: schemes differ in colours, widths in all
// else. `make test-long` checks all rules in each view.
var views = []struct {
	name  string
	width int
	dark  bool
	rules string
}{
	{"light", 1280, false, axeTags},
	{"dark", 1280, true, testenv.Pick(axeColour, axeTags)},
	{"medium", 800, false, testenv.Pick(axeLayout, axeTags)},
	{"narrow", 360, false, testenv.Pick(axeOthers, axeTags)},
}

// accessible checks a page with axe in light and dark colours, and at 800 and 360 px, where nothing is cut off.
// It keeps pictures where QOS_PICTURES says so.
func (p *page) accessible(name string) {
	p.T.Helper()
	for _, look := range views {
		p.view(look.width, look.dark)
		var violations []string
		p.axe()
		p.Get(fmt.Sprintf(`axe.run(document, { %s, resultTypes: ["violations"], selectors: false }).then(({ violations }) =>
			violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(": "))))`, look.rules), &violations)
		require.Empty(p.T, violations, "%s, %s", name, look.name)
		if dir := os.Getenv("QOS_PICTURES"); dir != "" {
			require.NoError(p.T, p.Capture(filepath.Join(dir, fmt.Sprint(name, "-", look.name, ".png"))))
		}
		p.fits(name + ", " + look.name)
	}
	p.view(1280, false)
}

// fits waits until nothing of a page is wider than the window, and nothing of its header outside of it. Charts follow
// the width of the window a moment later.
func (p *page) fits(name string) {
	p.T.Helper()
	browser.Eventually(p.T, patience, name+" fits into the window", func() (bool, string) {
		var cut []string
		p.Get(`document.documentElement.scrollWidth <= innerWidth ? [] : ["wide: " + document.documentElement.scrollWidth, ...[...document.body.querySelectorAll("*")].filter((one) =>
			one.getBoundingClientRect().right > innerWidth && !one.closest(".scroll *")).map((one) => one.outerHTML.slice(0, 200))]`, &cut)
		var out []string
		p.Get(`[...document.querySelectorAll(".topbar *")].filter((one) => {
			const { top, bottom, height } = one.getBoundingClientRect(), around = one.closest(".topbar").getBoundingClientRect();
			return height && (top < around.top || bottom > around.bottom);
		}).map((one) => "out of the header: " + one.outerHTML.slice(0, 200))`, &out)
		cut = append(cut, out...)
		return len(cut) == 0, strings.Join(cut, "\n")
	})
}

// view sets the width of a page, and whether it has the colours of the dark scheme.
func (p *page) view(width int, dark bool) {
	p.T.Helper()
	require.NoError(p.T, p.Browser.Do("browsingContext.setViewport", map[string]any{"context": p.Context, "viewport": map[string]any{"width": width, "height": 900}}, nil))
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	p.Run(fmt.Sprintf(`(() => {
		window.schemes ??= [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.conditionText?.includes("prefers-color-scheme"));
		for (const rule of schemes) rule.media.mediaText = %[2]t ? "all" : "not all";
		document.documentElement.style.colorScheme = %[1]q;
		scrollTo(0, 0); // the header covers what is below it
	})()`, scheme, dark))
	p.Until(patience, fmt.Sprintf("innerWidth === %d", width))
}

// axe loads axe into the page, once.
func (p *page) axe() {
	p.T.Helper()
	var there bool
	p.Get("Boolean(window.axe)", &there)
	if there {
		return
	}
	require.NoError(p.T, p.Browser.Do("script.evaluate", map[string]any{
		"expression": axeSource(p.T) + "; undefined", "target": map[string]any{"context": p.Context}, "awaitPromise": false,
	}, nil))
	p.Until(patience, "window.axe")
}
