package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// TestLibraryLetsGo has calls end in every way and asks the browser to collect: nothing of
// them may be held by the file that is served. Chromium alone can be made to collect.
//
// spec: FAB-08, LIB-07
func TestLibraryLetsGo(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.start()
	served.of(t, c)
	p := openPage(t, browser.Start(t, browser.Chromium), "leaks", served.url+"/leaks.html")
	until(t, p, "outcome.done || outcome.errors.length")
	var errors []string
	p.Get("outcome.errors", &errors)
	require.Empty(t, errors)
	var count int
	p.Get("outcome.count", &count)
	require.Equal(t, 30, count, "what there is to let go")
	collector := openCDP(p)
	browser.Eventually(t, patience, "all is let go", func() (bool, string) {
		collector.do("HeapProfiler.collectGarbage", map[string]any{}, nil)
		var left []string
		p.Get("outcome.left()", &left)
		return len(left) == 0, fmt.Sprint(left)
	})
}
