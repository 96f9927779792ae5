package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLibraryLetsGo has calls end in every way and asks the browser to collect: nothing of
// them may be held by the file that is served. Chromium alone can be made to collect.
//
// spec: FAB-08, LIB-07
func TestLibraryLetsGo(t *testing.T) {
	need(t, programs[chromium]...)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.start()
	served.of(t, c)
	p := openPage(t, startBrowser(t, chromium), "leaks", served.url+"/leaks.html")
	until(t, p, "outcome.done || outcome.errors.length")
	var errors []string
	p.get("outcome.errors", &errors)
	require.Empty(t, errors)
	var count int
	p.get("outcome.count", &count)
	require.Equal(t, 30, count, "what there is to let go")
	collector := openCDP(p)
	eventually(t, patience, "all is let go", func() (bool, string) {
		collector.do("HeapProfiler.collectGarbage", map[string]any{}, nil)
		var left []string
		p.get("outcome.left()", &left)
		return len(left) == 0, fmt.Sprint(left)
	})
}
