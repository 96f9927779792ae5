package e2e

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	library "github.com/qosrtc/qos/client"
	"github.com/qosrtc/qos/tests/browser"
)

// startPages serves testdata/tab.html, another page to go to, and the library as it ships.
// It is no collector: pages have it while collectors are away.
func startPages(t *testing.T) string {
	t.Helper()
	html, err := os.ReadFile("testdata/tab.html")
	require.NoError(t, err)
	serve := func(body []byte) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(body)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /tab", serve(html))
	mux.HandleFunc("GET /elsewhere", serve([]byte("<!doctype html><title>elsewhere</title>")))
	mux.Handle("GET /dist/", http.FileServerFS(library.Dist))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// tabAccount is what a page says that it gave to the library.
type tabAccount struct {
	Run        string     `json:"run"`
	Init       [][]string `json:"init"`
	StatsCount int        `json:"statsCount"`
	Ticks      int        `json:"ticks"`
	Returned   int        `json:"returned"`
	Filled     int        `json:"filled"`
	Finished   string     `json:"finished"`
	ExchangeMs float64    `json:"exchangeMs"` // the longest exchange by which the library compared clocks
}

// tab is a page in a call with itself, behind a front of its own.
type tab struct {
	*page
	front  *front
	room   string
	asleep time.Duration // for which its browser stood still; 0: never
}

func openTab(t *testing.T, b *browser.Browser, pages, room string, f *front, more url.Values) *tab {
	t.Helper()
	user := "ada in " + b.Kind
	query := url.Values{"room": {room}, "user": {user}, "backend": {f.url}}
	if b.Kind == browser.Firefox {
		query.Set("data", "1")
	}
	maps.Copy(query, more)
	b.Opening.Lock() // a browser that opens many windows at once takes longest for all of them
	defer b.Opening.Unlock()
	p := openPage(t, b, room, pages+"/tab?"+query.Encode())
	return &tab{page: p, front: f, room: room}
}

// now is the page's account at this moment.
func (b *tab) now() tabAccount {
	b.T.Helper()
	var account tabAccount
	b.Get("account", &account)
	return account
}

// last is the account of the page that was in this place before, as it went.
func (b *tab) last(from *page) tabAccount {
	b.T.Helper()
	var text string
	from.Get("localStorage.getItem("+quote(b.room)+")", &text)
	var account tabAccount
	require.NoError(b.T, json.Unmarshal([]byte(text), &account), text)
	return account
}

func quote(text string) string {
	raw, _ := json.Marshal(text) // a string always has a form
	return string(raw)
}

// delivers waits until so many more frames of the page's session are acknowledged.
func (b *tab) delivers(more uint64) {
	b.T.Helper()
	session, before := b.front.wire.newest()
	var from uint64
	if before != nil {
		from = before.acked
	}
	browser.Eventually(b.T, patience, b.room+": frames are acknowledged", func() (bool, string) {
		newest, account := b.front.wire.newest()
		if account == nil {
			return false, "no session"
		}
		if newest != session {
			session, from = newest, 0
		}
		return account.acked >= from+more, jsonOf(map[string]any{"acked": account.acked, "hellos": account.hellos, "posts": account.posts})
	})
}

// reconnects waits until the page has said hello once more, and frames are acknowledged.
func (b *tab) reconnects(hellos int) {
	b.T.Helper()
	browser.Eventually(b.T, patience, b.room+": says hello again", func() (bool, string) {
		_, account := b.front.wire.newest()
		return account.hellos+account.posts > hellos, jsonOf([]int{account.hellos, account.posts})
	})
	b.delivers(4)
}

// hellos counts them, whichever way they came.
func (b *tab) hellos() int {
	_, account := b.front.wire.newest()
	if account == nil {
		return 0
	}
	return account.hellos + account.posts
}

// finish hangs up and waits until the collector has all that was said.
func (b *tab) finish() tabAccount {
	b.T.Helper()
	var said string
	b.Get("finish()", &said)
	require.Equal(b.T, "success", said, b.room)
	return b.now()
}

// settles waits until all that the page handed over when it went is acknowledged.
func (b *tab) settles() {
	b.T.Helper()
	browser.Eventually(b.T, patience, b.room+": the last words are acknowledged", func() (bool, string) {
		sessions, _ := b.front.wire.all()
		for _, own := range sessions {
			last := slices.Max(slices.Collect(maps.Keys(own.texts)))
			if own.acked < last {
				return false, jsonOf([]uint64{own.acked, last})
			}
		}
		return true, ""
	})
}

func jsonOf(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}
