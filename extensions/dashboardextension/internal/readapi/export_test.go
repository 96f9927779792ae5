package readapi

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// exporting is a dashboard over a store with two calls, of which one has texts that programs may misread.
func exporting(t *testing.T, realNames bool) string {
	t.Helper()
	m := &memory{at: t0.Add(time.Hour)}
	score := 4.314
	c := m.newCall(`=cmd|'/c calc'!A0, "x"`, t0)
	c.join(alice, "Ann Real", "@ann", map[string]string{semconv.SiteID: "hq"})
	c.join(bob, "bob", "ボブ\r\nروب", map[string]string{semconv.SiteID: "-1+2"})
	c.End = t0.Add(90 * time.Second)
	c.summarise("dropped", &score, "good", `{}`)
	c.Summary.Cause = "senderUplink"
	m.newCall("second", t0.Add(-time.Minute))
	return start(t, m, func(s *Settings) { s.ShowUserNames = realNames })
}

// An export is a table that programs read, and that spreadsheets do not compute. Real names are in it for readers who
// may see them.
//
// spec: DASH-01, DASH-03
func TestExportCSV(t *testing.T) {
	for _, realNames := range []bool{false, true} {
		base := exporting(t, realNames)
		status, body, header := get(t, base+"/api/conferences.csv")
		require.Equal(t, http.StatusOK, status, body)
		require.Equal(t, "text/csv; charset=utf-8; header=present", header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="conferences.csv"`, header.Get("Content-Disposition"))
		require.Equal(t, "no-store", header.Get("Cache-Control"))
		require.NotContains(t, strings.ReplaceAll(strings.ReplaceAll(body, "\r\n", ""), `"`, ""), "\n", "lines end with CRLF")
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		require.NoError(t, err)
		want := [][]string{
			columnsOfCSV,
			{
				"demo", `'=cmd|'/c calc'!A0, "x"`, "2025-11-21T05:16:00.000Z", "2025-11-21T05:17:30.000Z", "90000", "ended", "dropped", "4.31", "good", "senderUplink",
				"'-1+2; hq", "2", "'@ann; ボブ\nروب", "Ann Real; bob",
			},
			{"demo", "second", "2025-11-21T05:15:00.000Z", "2025-11-21T05:15:00.000Z", "0", "pending", "", "", "", "", "", "0", "", ""},
		}
		if !realNames {
			for i := range want {
				want[i] = want[i][:len(want[i])-1]
			}
		}
		require.Equal(t, want, rows)
		require.Equal(t, realNames, strings.Contains(body, "Real"))
	}
}

// spec: DASH-01
func TestExportJSON(t *testing.T) {
	base := exporting(t, false)
	var out struct {
		At          int64
		Conferences []json.RawMessage
		Complete    *bool
	}
	var list struct{ Conferences []json.RawMessage }
	getJSON(t, base+"/api/conferences?outcome=dropped", &list)
	getJSON(t, base+"/api/conferences.json?outcome=dropped", &out)
	require.Equal(t, list.Conferences, out.Conferences)
	require.Len(t, out.Conferences, 1)
	require.True(t, *out.Complete)
	require.Positive(t, out.At)
	getJSON(t, base+"/api/conferences.json?id=none", &out)
	require.Empty(t, out.Conferences)
	zipped := do(t, base+"/api/conferences.json", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	require.Equal(t, "gzip", zipped.Header.Get("Content-Encoding"))
}

func TestBadExport(t *testing.T) {
	base := exporting(t, false)
	for query, message := range map[string]string{
		"limit=10": "limit is not a parameter of an export", "cursor=x": "cursor is not one that this API gave", "outcome=odd": "outcome must be one of",
		"cursor=" + formatCursor(storage.Cursor{Start: t0, Key: 1}): "cursor is not a parameter of an export",
	} {
		status, body, header := get(t, base+"/api/conferences.csv?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, message)
		require.Empty(t, header.Get("Content-Disposition"))
	}
}

// endless is a store with a conference in each second before t0, which cannot be read beyond some page.
type endless struct {
	*memory
	broken int // the page that fails; 0: none
	pages  int
}

func (e *endless) Reader() storage.Reader { return e }

func (e *endless) Conferences(_ context.Context, q storage.Query) (page storage.Page, err error) {
	e.pages++
	if e.pages == e.broken {
		return page, errors.New("the disk is gone")
	}
	at := t0
	if !q.Before.Start.IsZero() {
		at = q.Before.Start
	}
	for range q.Limit {
		at = at.Add(-time.Second)
		page.Conferences = append(page.Conferences, storage.Conference{AppID: "demo", ConferenceID: strconv.FormatInt(at.Unix(), 10), Start: at, End: at})
	}
	page.Next = storage.Cursor{Start: at, Key: 1}
	return page, nil
}

// An export stops at a number of conferences, and has where the others begin.
//
// spec: DASH-01
func TestExportStops(t *testing.T) {
	base := startOn(t, &endless{memory: &memory{}}, nil)
	last := t0.Add(-maxExported * time.Second).UnixMilli()
	var out struct {
		Conferences []struct{ StartAt int64 }
		Complete    bool
		NextTo      int64
	}
	getJSON(t, base+"/api/conferences.json", &out)
	require.Len(t, out.Conferences, maxExported)
	require.Equal(t, last, out.Conferences[maxExported-1].StartAt)
	require.False(t, out.Complete)
	require.Equal(t, last+1, out.NextTo)
	_, body, _ := get(t, base+"/api/conferences.csv")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+maxExported+1)
	require.Equal(t, fmt.Sprintf("(stopped after 10000 conferences: export the others with to=%d)", last+1), rows[len(rows)-1][0])
}

// What is cut off is no answer: the connection ends with an error.
func TestExportBreaks(t *testing.T) {
	for _, broken := range []int{1, 3} {
		base := startOn(t, &endless{memory: &memory{}, broken: broken}, nil)
		res := do(t, base+"/api/conferences.csv", func(*http.Request) {})
		_, err := io.ReadAll(res.Body)
		if broken == 1 {
			require.Equal(t, http.StatusInternalServerError, res.StatusCode)
			require.NoError(t, err)
		} else {
			require.Equal(t, http.StatusOK, res.StatusCode)
			require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		}
	}
}
