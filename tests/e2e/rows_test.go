package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	rights "github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/browser"
)

// rows is how many rows each list of TestManyRows has.
const rows = 10_000

// rowApp is the document of an app without secrets.
const rowApp = `{"version":1,"salt":"MDEyMzQ1Njc4OWFiY2RlZg==","iterations":4096,"limits":{},"origins":["https://calls.example.org"]}`

// rowName is the name of a row: names are in the order of their numbers.
func rowName(i int) string { return fmt.Sprintf("row-%05d", i) }

// plantRows writes many unattached annotations, apps, users and audit entries into the store of a collector that has not started.
func (c *collector) plantRows(t *testing.T, now time.Time) {
	t.Helper()
	require.NoError(t, os.MkdirAll(c.store(), 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(c.store(), "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	var batches []storage.Batch
	var entries []storage.AuditEntry
	passwords, err := rights.NewPasswords()
	require.NoError(t, err)
	hash, err := passwords.Hash(t.Context(), rights.Applicant{}, "a password that nobody uses")
	require.NoError(t, err)
	put := func(kind, id string, body []byte) {
		_, err := store.PutSetting(t.Context(), storage.Setting{Kind: kind, ID: id, ChangedAt: now, Body: body})
		require.NoError(t, err)
	}
	user := func(roles ...rights.Role) []byte {
		body, err := (&rights.User{Roles: roles, Scope: rights.Scope{All: true}, Password: hash, Generation: 1, CreatedAt: now}).Encode()
		require.NoError(t, err)
		return body
	}
	put("user", "admin", user(rights.Admin, rights.Support)) // no first administrator is made where there are users
	body := user(rights.Engineering)
	for i := range rows {
		at := now.Add(-time.Duration(rows-i) * time.Second).Truncate(time.Millisecond)
		session := storage.Session{ID: uuid.NewString(), AppID: appID, UserID: rowName(i), UserAlias: rowName(i)}
		batches = append(batches, storage.Batch{Session: session, Records: []storage.Record{{
			Seq: 1, ConferenceID: rowName(i), ConferenceAt: at, Name: semconv.EventFeedback, At: at, ObservedAt: at, Attributes: map[string]any{semconv.FeedbackOverall: int64(4)},
		}}})
		entries = append(entries, storage.AuditEntry{At: at, Actor: "auditor", Action: "search", AppID: appID, Target: rowName(i)})
		put("user", rowName(i), body)
		put("app", rowName(i), []byte(rowApp))
	}
	for some := range slices.Chunk(batches, 500) {
		_, err = store.Append(t.Context(), some)
		require.NoError(t, err)
	}
	for some := range slices.Chunk(entries, 500) {
		require.NoError(t, store.AddAudit(t.Context(), some))
	}
}

// TestManyRows turns the pages of the lists that grow with the use of a collector, each with many rows, by keyboard,
// to the next page, back to the first, and on the last.
//
// spec: DASH-03, CONF-01
func TestManyRows(t *testing.T) {
	browser.Require(t, browser.Chromium)
	c := newCollector(t)
	now := time.Now()
	c.plantRows(t, now)
	c.more = c.signedConfig()
	c.start()
	p := openAs(t, browser.Start(t, browser.Chromium), "rows", c.printed(`(http://\S+/signin/link\?token=\S+)`))
	p.focused("button")
	p.press(keyEnter)
	p.at("/")
	newest := func(i int) string { return rowName(rows - 1 - i) }
	for _, list := range []struct {
		name, path, query, last string // last: the query of the last page
		names                   string // of the rows
		row                     func(i int) string
	}{
		{"unattached", "/unattached", "", fmt.Sprint("?to=", now.Add(-time.Duration(rows-10)*time.Second).UnixMilli()), "[...document.querySelectorAll('[data-testid=unattached]')].map((one) => one.dataset.id)", newest},
		{"apps", "/settings", "?filter=row-", "?after=" + rowName(rows-11), "[...document.querySelectorAll('[data-testid=app]')].map((one) => one.dataset.id)", rowName},
		{"users", "/settings/users", "?after=row-", "?after=" + rowName(rows-11), "[...document.querySelectorAll('[data-testid=user]')].map((one) => one.dataset.name)", rowName},
		{"audit", "/settings/audit", "?actor=auditor", "?actor=auditor&before=40", "[...document.querySelectorAll('[data-testid=entry]')].map((one) => one.innerText.match(/row-\\d+/)[0])", newest},
	} {
		shown := func() (names []string) {
			p.Until(patience, "document.querySelector('#list').ariaBusy === 'false' && "+list.names+".length > 0")
			p.Get(list.names, &names)
			return names
		}
		p.goes(c.dashboard + list.path + list.query)
		first := shown()
		p.looks(list.name + "-many")
		p.Run("document.querySelector('[data-testid=next]').focus()")
		p.press(keyEnter)
		p.Until(patience, "document.querySelector('[data-testid=first]')")
		second := shown()
		for i, name := range slices.Concat(first, second) {
			require.Equal(t, list.row(i), name, "%s, row %d", list.name, i)
		}
		p.Run("document.querySelector('[data-testid=first]').focus()")
		p.press(keyEnter)
		p.Until(patience, "!document.querySelector('[data-testid=first]')")
		require.Subset(t, shown(), first[:len(first)-1], "%s: the first page again", list.name) // the users begin with admin
		p.goes(c.dashboard + list.path + list.last)
		p.Until(patience, "document.querySelector('#list').ariaBusy === 'false' && !document.querySelector('[data-testid=next]')")
		end := shown()
		require.Equal(t, list.row(rows-1), end[len(end)-1], "%s: the last row", list.name)
	}
	require.Empty(t, p.Browser.ScriptErrors(), "the pages run without an error")
}
