package e2e

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// guide is the page of docs/library.md, with the addresses of the collector that runs here.
func guide(t *testing.T, c *collector) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "library.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)```html\n(.*?)```").FindSubmatch(text)
	require.NotNil(t, found, "the guide has a page")
	page := string(found[1])
	for was, is := range map[string]string{"http://localhost:8480": c.receiver, "'my-app'": quote(appID), "'my-secret'": quote(appSecret)} {
		require.Equal(t, 1, strings.Count(page, was), was)
		page = strings.ReplaceAll(page, was, is)
	}
	return page
}

// TestLibraryGuide does what docs/library.md tells its reader to do, and sees what it says
// they will see.
//
// spec: LIB-01, FAB-05, STAT-02
func TestLibraryGuide(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	page := guide(t, c)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte(page))
	}))
	t.Cleanup(server.Close)
	c.origins = append(c.origins, server.URL)
	c.start()
	p := openPage(t, browser.Start(t, browser.Chromium), "guide", server.URL)
	for _, line := range []string{"addNewFabric: success", "login: success", "established outbound-rtp"} {
		p.Until(patience, "document.body.innerText.includes("+quote(line)+")")
	}
	p.Run("document.getElementById('hang-up').click()")
	p.Until(patience, "document.body.innerText.includes('terminated')")
	s := &scene{collector: c}
	browser.Eventually(t, patience, "the conference is summed up", func() (bool, string) {
		rows := s.list("my first call")
		return len(rows) == 1 && rows[0].State == "ended" && rows[0].Outcome == "success", jsonOf(rows)
	})
}
