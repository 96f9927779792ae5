package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/testenv"
)

// axeTags are the rules of axe that pages keep.
const axeTags = `["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]`

// axeSource is axe-core, as the lockfile of client/ pins it.
func axeSource(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(clientDir, "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		testenv.Missing(t, errors.New("axe-core is not installed: npm ci in client/"))
	}
	return string(text)
}

// views are the ways in which a page is seen.
var views = []struct {
	name  string
	width int
	dark  bool
}{{"light", 1280, false}, {"dark", 1280, true}, {"medium", 800, false}, {"narrow", 360, false}}

// accessible checks a page with axe in light and dark colours, and at 800 and 360 px, where nothing is cut off.
// It keeps pictures where QOS_PICTURES says so. Chromium only: the rules are about the document.
func (p *page) accessible(name string) {
	p.t.Helper()
	if p.browser.kind != chromium {
		return
	}
	for _, look := range views {
		p.view(look.width, look.dark)
		var violations []string
		p.axe()
		p.get(fmt.Sprintf(`axe.run(document, { runOnly: %s, resultTypes: ["violations"] }).then(({ violations }) =>
			violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => [id, html, failureSummary].join(": "))))`, axeTags), &violations)
		require.Empty(p.t, violations, "%s, %s", name, look.name)
		if dir := os.Getenv("QOS_PICTURES"); dir != "" {
			require.NoError(p.t, p.capture(filepath.Join(dir, fmt.Sprint(name, "-", look.name, ".png"))))
		}
		p.fits(name + ", " + look.name)
	}
	p.view(1280, false)
}

// fits waits until nothing of a page is wider than the window, and nothing of its header outside of it. Charts follow
// the width of the window a moment later.
func (p *page) fits(name string) {
	p.t.Helper()
	eventually(p.t, patience, name+" fits into the window", func() (bool, string) {
		var cut []string
		p.get(`document.documentElement.scrollWidth <= innerWidth ? [] : ["wide: " + document.documentElement.scrollWidth, ...[...document.body.querySelectorAll("*")].filter((one) =>
			one.getBoundingClientRect().right > innerWidth && !one.closest(".scroll *")).map((one) => one.outerHTML.slice(0, 200))]`, &cut)
		var out []string
		p.get(`[...document.querySelectorAll(".topbar *")].filter((one) => {
			const { top, bottom, height } = one.getBoundingClientRect(), around = one.closest(".topbar").getBoundingClientRect();
			return height && (top < around.top || bottom > around.bottom);
		}).map((one) => "out of the header: " + one.outerHTML.slice(0, 200))`, &out)
		cut = append(cut, out...)
		return len(cut) == 0, strings.Join(cut, "\n")
	})
}

// view sets the width of a page, and whether it has the colours of the dark scheme.
func (p *page) view(width int, dark bool) {
	p.t.Helper()
	require.NoError(p.t, p.browser.do("browsingContext.setViewport", map[string]any{"context": p.context, "viewport": map[string]any{"width": width, "height": 900}}, nil))
	scheme := map[bool]string{false: "light", true: "dark"}[dark]
	p.run(fmt.Sprintf(`(() => {
		window.schemes ??= [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.conditionText?.includes("prefers-color-scheme"));
		for (const rule of schemes) rule.media.mediaText = %[2]t ? "all" : "not all";
		document.documentElement.style.colorScheme = %[1]q;
		scrollTo(0, 0); // the header covers what is below it
	})()`, scheme, dark))
	p.until(patience, fmt.Sprintf("innerWidth === %d", width))
}

// axe loads axe into the page, once.
func (p *page) axe() {
	p.t.Helper()
	var there bool
	p.get("Boolean(window.axe)", &there)
	if there {
		return
	}
	require.NoError(p.t, p.browser.do("script.evaluate", map[string]any{
		"expression": axeSource(p.t) + "; undefined", "target": map[string]any{"context": p.context}, "awaitPromise": false,
	}, nil))
	p.until(patience, "window.axe")
}
