package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// awayPages are pages, and what of them is there while the store answers.
var awayPages = []struct{ name, path, drawn string }{
	{"list", "/search", "[data-testid=conference]"},
	{"conference", "", "[data-testid=entry], #timeline .marker"},
}

// TestStoreAway: while the store is gone, pages that are open say so and keep what they show, the API answers,
// and the client's data is not acknowledged. When the store is back, the pages draw by themselves, and each record is there once.
//
// spec: DASH-05, SRV-05
func TestStoreAway(t *testing.T) {
	c, db, ada, pages := startAway(t)
	db.stop()
	ada.event(2)
	for _, p := range pages {
		p.Until(patience, "document.querySelector('#alert .notice')?.innerText.includes('could not be read')")
		p.Until(patience, "!document.querySelector('main [aria-busy=true]')")
		c.picture(t, p, p.Browser.Kind+" "+p.Name+" store away")
	}
	for _, path := range []string{"/api/conferences", "/api/overview?from=1&to=2", "/api/contrast?from=1&to=2"} {
		body, status, err := fetch(t.Context(), c.dashboard+path)
		require.NoError(t, err)
		require.Equal(t, http.StatusInternalServerError, status, path)
		require.JSONEq(t, `{"error":{"message":"The store could not be read. The collector's log says why."}}`, body)
	}
	db.start()
	ada.acked(2)
	for _, p := range pages {
		p.Until(patience, "!document.querySelector('#alert .notice')")
	}
	require.Equal(t, 2, c.custom(t))
}

// TestStoreLocked: while the store is locked, the API answers, and the client's data is not acknowledged. Then the pages draw by
// themselves, and each record is there once.
//
// spec: DASH-05, SRV-05
func TestStoreLocked(t *testing.T) {
	c, db, ada, pages := startAway(t)
	unlock := lockConferences(t, db.dsn)
	ada.event(2)
	body, status, err := fetch(t.Context(), c.dashboard+"/api/conferences")
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, status, body)
	unlock()
	ada.acked(2)
	require.Equal(t, 2, c.custom(t))
	for _, p := range pages {
		p.Until(patience, "!document.querySelector('#alert .notice')")
	}
}

// startAway starts a collector on a PostgreSQL of its own, a client that has sent an event, and pages.
func startAway(t *testing.T) (c *collector, db *database, ada *client, pages []*page) {
	t.Helper()
	browser.Require(t)
	db, err := newDatabase(t)
	if err != nil {
		testenv.Missing(t, err)
	}
	c = newCollector(t)
	c.storage = fmt.Sprintf("{postgres: {dsn: %q}}", db.dsn)
	c.start()
	ada = c.connect("ada")
	ada.delivers(1)
	return c, db, ada, c.openBoth(t)
}

// openBoth opens the list and the conference.
func (c *collector) openBoth(t *testing.T) (pages []*page) {
	t.Helper()
	all := c.conferences()
	require.Len(t, all, 1)
	for _, kind := range browserKinds() {
		b := browser.Start(t, kind)
		for _, one := range awayPages {
			path := one.path
			if path == "" {
				path = "/conference?" + all[0].Encode()
			}
			p := openPage(t, b, one.name, c.dashboard+path)
			p.Until(patience, fmt.Sprintf("document.querySelector(%q)", one.drawn))
			pages = append(pages, p)
		}
	}
	return pages
}

// custom counts the custom events in the store. Those after a long pause are of another conference.
func (c *collector) custom(t *testing.T) (n int) {
	t.Helper()
	for _, one := range c.conferences() {
		var detail struct {
			Timeline []struct {
				Name string `json:"name"`
			} `json:"timeline"`
		}
		c.ask("/api/conference", one, &detail)
		for _, e := range detail.Timeline {
			if e.Name == "customEvent" {
				n++
			}
		}
	}
	return n
}

// conferences returns the parameters of each conference's page.
func (c *collector) conferences() (all []url.Values) {
	var list struct {
		Conferences []struct {
			App     string `json:"app"`
			ID      string `json:"id"`
			StartAt int64  `json:"startAt"`
		} `json:"conferences"`
	}
	c.ask("/api/conferences", nil, &list)
	for _, one := range list.Conferences {
		all = append(all, url.Values{"app": {one.App}, "id": {one.ID}, "at": {strconv.FormatInt(one.StartAt, 10)}})
	}
	return all
}

// lockConferences makes readers and writers of conferences wait until the returned function is called.
func lockConferences(t *testing.T, dsn string) (unlock func()) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE qos_conference IN ACCESS EXCLUSIVE MODE")
	require.NoError(t, err)
	return func() { require.NoError(t, tx.Rollback(t.Context())) }
}
