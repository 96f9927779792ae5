package readapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/metadata"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

var t0 = time.UnixMilli(1_763_702_160_000).UTC()

const (
	alice = "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f"
	bob   = "019a9f3c-8b1a-7c3e-9f10-2b6f0c1d2e40"
)

// source is a store.
type source interface {
	Reader() storage.Reader
	Follower() storage.Follower
}

// settings are those of a read API over a store, without sign-in.
func settings(tb testing.TB, store source) *Settings {
	tb.Helper()
	telemetry, err := metadata.NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(tb, err)
	now := time.Now
	if clock, ok := store.(interface{ clock() time.Time }); ok && !clock.clock().IsZero() {
		now = clock.clock
	}
	return &Settings{Reader: store.Reader(), Follower: store.Follower(), Rules: rules.Default(), Log: zap.NewNop(), Telemetry: telemetry, Now: now}
}

// start serves the read API over a store and returns its base URL.
func start(t *testing.T, m *memory, change func(*Settings)) string {
	t.Helper()
	return startOn(t, m, change)
}

func startOn(t *testing.T, store source, change func(*Settings)) string {
	t.Helper()
	s := settings(t, store)
	if change != nil {
		change(s)
	}
	base, _ := serve(t, s)
	return base
}

// serve serves the read API of settings. Its server ends with the test, or when stop is called, which is legal twice.
func serve(t *testing.T, s *Settings) (base string, stop func()) {
	t.Helper()
	a, mux := New(s), &access.Mux{}
	a.Register(mux)
	server := httptest.NewServer(mux)
	stop = func() {
		a.EndStreams()
		require.NoError(t, server.Config.Shutdown(context.Background()))
		server.Close()
		a.Close()
	}
	t.Cleanup(stop)
	return server.URL, stop
}

// get asks one question on a connection of its own.
func get(t *testing.T, url string) (int, string, http.Header) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body), res.Header
}

func do(t *testing.T, url string, change func(*http.Request)) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	change(req)
	client := http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func getJSON(t *testing.T, url string, into any) {
	t.Helper()
	status, body, header := get(t, url)
	require.Equal(t, http.StatusOK, status, body)
	require.Equal(t, "application/json", header.Get("Content-Type"))
	require.Equal(t, "no-store", header.Get("Cache-Control"))
	require.NoError(t, json.Unmarshal([]byte(body), into))
}

func (c *call) summarise(outcome string, mos *float64, label, document string) {
	c.Summary = &storage.Summary{
		AppID: c.AppID, ConferenceID: c.ConferenceID, Start: c.Start, End: c.End, Revision: 1,
		Outcome: outcome, Participants: len(c.Participants), MOS: mos, Label: label, Document: json.RawMessage(document),
	}
}

// spec: DASH-01
func TestConferences(t *testing.T) {
	m := &memory{at: time.Now()}
	score := 4.31
	for i := range 5 {
		c := m.newCall(fmt.Sprintf("room %d", i), t0.Add(time.Duration(i)*time.Hour))
		c.join(bob, "Robert Roe", "b-17", nil)
		c.join(alice, "alice", "alice", map[string]string{semconv.SiteID: "hq"})
		c.End = c.Start.Add(time.Minute)
		c.summarise("success", &score, "excellent", `{}`)
	}
	live := m.newCall("standup", m.at.Add(-time.Minute))
	live.End = m.at.Add(-5 * time.Second)
	m.newCall("lost", m.at.Add(-time.Hour))
	url := start(t, m, nil) + "/api/conferences"

	var list struct {
		At          int64
		Conferences []conferenceRow
		Next        string
	}
	getJSON(t, url+"?limit=4", &list)
	require.Len(t, list.Conferences, 4)
	require.Equal(t, m.at.UnixMilli(), list.At)
	require.Equal(t, "standup", list.Conferences[0].ID)
	require.Equal(t, stateLive, list.Conferences[0].State)
	require.Equal(t, statePending, list.Conferences[1].State)
	require.Equal(t, conferenceRow{
		App: "demo", ID: "room 4", StartAt: t0.Add(4 * time.Hour).UnixMilli(), EndAt: t0.Add(4*time.Hour + time.Minute).UnixMilli(),
		DurationMs: 60_000, State: stateEnded, Outcome: "success", MOS: &score, Label: "excellent", Sites: []string{"hq"}, Revision: 1,
		ParticipantCount: 2, Participants: []participant{{Session: alice, User: "alice"}, {Session: bob, User: "b-17"}},
	}, list.Conferences[2], "aliases only, no details")

	older := list.Next
	require.NotEmpty(t, older)
	getJSON(t, url+"?limit=4&cursor="+older, &list)
	require.Len(t, list.Conferences, 3)
	require.Equal(t, "room 2", list.Conferences[0].ID)

	getJSON(t, url+"?id=room+3&app=demo&outcome=success", &list)
	require.Len(t, list.Conferences, 1)
	getJSON(t, url+"?id=Room+3", &list)
	require.Empty(t, list.Conferences, "exact, case-sensitive")
	getJSON(t, fmt.Sprintf("%s?from=%d&to=%d", url, t0.UnixMilli()+7_200_000, t0.UnixMilli()+7_300_000), &list)
	require.Len(t, list.Conferences, 1)
	require.Equal(t, "room 2", list.Conferences[0].ID)
}

func TestState(t *testing.T) {
	f := func(want string, quiet time.Duration, summary *storage.Summary) {
		t.Helper()
		c := storage.Conference{Start: t0, End: t0.Add(time.Hour), Summary: summary}
		require.Equal(t, want, state(c, c.End.Add(quiet)))
	}
	f(stateLive, 0, nil)
	f(stateLive, liveFor, nil)
	f(statePending, liveFor+1, nil)
	f(stateEnded, 0, &storage.Summary{End: t0.Add(time.Hour)})
	f(stateEnded, 0, &storage.Summary{End: t0.Add(time.Hour - prolonged)})
	f(stateLive, 0, &storage.Summary{End: t0.Add(time.Hour - 20*time.Second)})
	f(stateEnded, liveFor+1, &storage.Summary{End: t0.Add(time.Hour - 20*time.Second)})
}

// TestBadParameters: each fault names its field.
func TestBadParameters(t *testing.T) {
	url := start(t, &memory{}, nil)
	f := func(path, field, message string) {
		t.Helper()
		status, body, _ := get(t, url+path)
		require.Equal(t, http.StatusBadRequest, status, body)
		var a answer
		require.NoError(t, json.Unmarshal([]byte(body), &a))
		require.Equal(t, field, a.Error.Field)
		require.Contains(t, a.Error.Message, message)
	}
	f("/api/conferences?limit=0", "limit", "limit must be an integer from 1 to 200")
	f("/api/conferences?limit=201", "limit", "integer")
	f("/api/conferences?limit=x", "limit", "integer")
	f("/api/conferences?from=yesterday", "from", "integer")
	f("/api/conferences?from=2&to=1", "to", "must be after from")
	f("/api/conferences?outcome=good", "outcome", "must be one of failed, missed, totallyFailed")
	f("/api/conferences?cursor=abc", "cursor", "is not one that this API gave")
	f("/api/conferences?id="+strings.Repeat("x", 257), "id", "is 257 bytes, at most 256 are allowed")
	f("/api/conferences?app=a&app=b", "app", "stands more than once")
	f("/api/conferences?app=%zz", "query", "not a valid query string")
	f("/api/conference?id=a&at=1", "app", "is required")
	f("/api/conference?app=a&at=1", "id", "is required")
	f("/api/conference?app=a&id=b", "at", "is required")
	f("/api/conference?app=a&id=b&at=-1", "at", "integer")
}

func TestNotFoundAndFaults(t *testing.T) {
	m := &memory{}
	url := start(t, m, nil)
	status, body, _ := get(t, url+"/api/conference?app=demo&id=nobody&at=1")
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, body, "There is no conference")

	m.err = errors.New("disk at /var/lib/secret is gone")
	for _, path := range []string{"/api/conferences", "/api/conference?app=demo&id=nobody&at=1"} {
		status, body, _ = get(t, url+path)
		require.Equal(t, http.StatusInternalServerError, status)
		require.JSONEq(t, `{"error":{"message":"The store could not be read. The collector's log says why."}}`, body)
	}
	status, _, _ = get(t, url+"/api/other")
	require.Equal(t, http.StatusNotFound, status)
}

func TestAnswersAreCompressed(t *testing.T) {
	m := &memory{}
	twoParty(m)
	answer := do(t, start(t, m, nil)+"/api/conference?app=demo&id=stand+up/1&at=1763702160000", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip") })
	require.Equal(t, "gzip", answer.Header.Get("Content-Encoding"))
}
