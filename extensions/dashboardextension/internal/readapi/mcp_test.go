package readapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// toolbox returns a function that calls a tool over a store without sign-in.
func toolbox(tb testing.TB, m *memory) func(ctx context.Context, name string, arguments map[string]any) (toolAnswer, error) {
	tb.Helper()
	a := New(settings(tb, m))
	tb.Cleanup(a.Close)
	return func(ctx context.Context, name string, arguments map[string]any) (toolAnswer, error) {
		for _, one := range a.tools() {
			if one.name == name {
				_, out, err := a.answerTool(&one)(ctx, nil, arguments)
				return out, err
			}
		}
		return toolAnswer{}, errors.New("no such tool")
	}
}

// An answer is small enough for a model, and says what it leaves out.
//
// spec: DASH-01
func TestAnswersOfToolsAreBounded(t *testing.T) {
	m := &memory{at: noon}
	for i := range 60 {
		c := m.newCall(fmt.Sprintf("%d %s", i, strings.Repeat("x", 200)), noon.Add(-time.Duration(i)*time.Hour))
		for p := range 8 {
			c.join(fmt.Sprint(i, p), strings.Repeat("n", 900), strings.Repeat("a", 900), nil)
		}
	}
	call := toolbox(t, m)
	out, err := call(t.Context(), "search_conferences", map[string]any{"limit": 50.0})
	require.NoError(t, err)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), maxToolBytes)
	require.NotEmpty(t, out.Cut)
	require.Equal(t, dataNotice, out.Notice)
	rows := out.Data.(listedConferences)
	require.NotEmpty(t, rows.Conferences)
	require.NotEmpty(t, rows.Next)

	for i := range 300 {
		m.calls[0].join(fmt.Sprint("more", i), strings.Repeat("n", 900), strings.Repeat("a", 900), nil)
	}
	c := m.calls[0]
	out, err = call(t.Context(), "explain_conference", map[string]any{"app": c.AppID, "id": c.ConferenceID, "at": float64(c.Start.UnixMilli())})
	require.NoError(t, err)
	text, err = json.Marshal(out)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), maxToolBytes)
	require.Contains(t, out.Cut, "The facts leave out 288 participants: the page of the conference has all.")
	require.Len(t, out.Data.(explainedConference).Facts.Participants, maxToolList)
}

// The overview has the counts of both times and of no other app, and lists as long as fit.
//
// spec: DASH-01
func TestOverviewTool(t *testing.T) {
	m := &memory{at: noon}
	for i := range 10 {
		m.digested("demo", fmt.Sprint("now ", i), noon.Add(-time.Duration(i+1)*time.Minute), digest.Digest{Outcome: []string{"dropped", "success"}[i%2], MOS: 2, Participants: 2})
	}
	for i := range 4 {
		m.digested("demo", fmt.Sprint("before ", i), noon.Add(-week-time.Duration(i+1)*time.Minute), digest.Digest{Outcome: "success", MOS: 4, Participants: 2})
	}
	m.digested("other", "x", noon.Add(-time.Minute), digest.Digest{Outcome: "dropped", Participants: 2})
	call := toolbox(t, m)
	hour := map[string]any{"app": "demo", "from": "2026-03-09T11:00:00Z", "to": "2026-03-09T13:00:00+01:00"}
	out, err := call(t.Context(), "overview", hour)
	require.NoError(t, err)
	require.Empty(t, out.Cut)
	got := out.Data.(overviewed)
	require.Equal(t, []int{10, 5, 4, 0}, []int{got.Current.Conferences, got.Current.Failed, got.Baseline.Conferences, got.Baseline.Failed})
	require.Equal(t, []float64{2, 4}, []float64{*got.Current.MOS, *got.Baseline.MOS})
	require.Equal(t, []string{"2026-03-02T11:00:00Z", "2026-03-02T12:00:00Z"}, []string{got.BaselineFrom, got.BaselineTo})

	for i := range 200 { // long values
		m.digested("demo", fmt.Sprint("long ", i), noon.Add(-30*time.Minute), digest.Digest{
			Outcome: "success", Participants: 1, Members: one(fmt.Sprint(i, strings.Repeat("s", 250)), fmt.Sprint(i, strings.Repeat("v", 250)), strings.Repeat("b", 250), strconv.Itoa(i)),
			Errors: []digest.Count{{Name: fmt.Sprint(i, strings.Repeat("\x01", 250)), Count: 1}},
		})
		m.digested("demo", fmt.Sprint("long before ", i), noon.Add(-week-30*time.Minute), digest.Digest{
			Outcome: "success", Participants: 1, Members: one(fmt.Sprint(i, strings.Repeat("\x01", 250)), fmt.Sprint(i, strings.Repeat("\x01", 250)), "b", "1"),
		})
	}
	out, err = toolbox(t, m)(t.Context(), "overview", hour)
	require.NoError(t, err)
	require.Equal(t, []string{"The lists have the most frequent values only, to be small enough."}, out.Cut)
	require.NotEmpty(t, out.Data.(overviewed).Current.Sites)
	require.True(t, fits(out))
	_, err = call(t.Context(), "overview", map[string]any{"app": "demo", "from": "2026-03-09T11:00:00Z"})
	require.ErrorContains(t, err, "to is required")
}

// The schemas of tools have the bounds of the read API, for each number.
//
// spec: DASH-05
func TestNumbersOfTools(t *testing.T) {
	call, numbers := toolbox(t, &memory{at: noon}), 0
	for _, p := range searchParameters() {
		if p.kind != integerKind && p.kind != numberKind || p.name == "limit" {
			continue // a limit is smaller for a model
		}
		numbers++
		middle := math.Ceil((p.low + p.high) / 2)
		for value, fits := range map[float64]bool{p.low - 1: false, p.low: !p.above, middle: true, p.high: true, p.high + 1: false} {
			_, err := call(t.Context(), "search_conferences", map[string]any{p.name: value})
			require.Equal(t, fits, err == nil, "%s %g: %v", p.name, value, err)
		}
	}
	require.Equal(t, 6, numbers)
	_, err := call(t.Context(), "search_conferences", map[string]any{"lossAbove": 0.05, "rttAbove": 300.0, "setupFrom": 5000.0})
	require.NoError(t, err)
}

// The reason why a store cannot be read is in the log only.
func TestToolsWithoutAStore(t *testing.T) {
	m := &memory{at: noon, err: errors.New("secret path")}
	_, err := toolbox(t, m)(t.Context(), "search_conferences", nil)
	require.EqualError(t, err, "The store could not be read. The collector's log says why.")
	m.err = storage.ErrNotFound
	_, err = toolbox(t, m)(t.Context(), "explain_conference", map[string]any{"app": "a", "id": "b", "at": 5.0})
	require.EqualError(t, err, "There is no conference of this app and id at this time.")
}

// Without a visitor, where visitors sign in, the server answers nothing.
//
// spec: DASH-05
func TestMCPIsForTokens(t *testing.T) {
	f := func(open bool, v *access.Visitor, want int) {
		t.Helper()
		a := &API{open: open}
		r := httptest.NewRequestWithContext(access.With(t.Context(), v), http.MethodPost, "/mcp", nil)
		w := httptest.NewRecorder()
		a.onlyTokens(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })).ServeHTTP(w, r)
		require.Equal(t, want, w.Code)
	}
	f(true, nil, http.StatusTeapot)
	f(false, nil, http.StatusForbidden)
	f(false, &access.Visitor{Roles: access.AllRoles}, http.StatusForbidden)
	f(false, &access.Visitor{Token: true}, http.StatusTeapot)
}

// It is not there unless it is configured.
func TestMCPIsOff(t *testing.T) {
	m := &memory{}
	post := func(base string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusNotFound, post(start(t, m, nil)))
	require.Equal(t, http.StatusOK, post(start(t, m, func(s *Settings) { s.MCP = true })))
}

// Whatever a model sends, a tool answers, or refuses with the name of the parameter.
func FuzzTools(f *testing.F) {
	m := &memory{at: noon}
	m.newCall("a", noon.Add(-time.Hour))
	call := toolbox(f, m)
	for _, seed := range []string{
		`{}`, `{"from":"2026-05-01T09:00:00Z","to":1e12}`, `{"app":"demo","id":"a","at":"1"}`, `{"baseline":{"from":1,"outcome":""}}`, `{"limit":-5}`, `{"q":null,"user":[],"cursor":{}}`,
	} {
		for i := range 4 {
			f.Add(i, seed)
		}
	}
	names := []string{"search_conferences", "explain_conference", "compare_sets", "overview"}
	f.Fuzz(func(t *testing.T, which int, text string) {
		var arguments map[string]any
		if json.Unmarshal([]byte(text), &arguments) != nil {
			return
		}
		out, err := call(t.Context(), names[uint(which)%4], arguments)
		if err == nil {
			require.NotNil(t, out.Data)
			return
		}
		if _, bad := errors.AsType[*badParameter](err); !bad {
			require.EqualError(t, err, "There is no conference of this app and id at this time.")
		}
	})
}
