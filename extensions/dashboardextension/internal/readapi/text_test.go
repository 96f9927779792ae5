package readapi

import (
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// utc returns a query with times in UTC.
func utc(q storage.UnattachedQuery) storage.UnattachedQuery {
	q.From, q.To = q.From.UTC(), q.To.UTC()
	return q
}

func textOf(c *call) string {
	query := url.Values{"app": {c.AppID}, "id": {c.ConferenceID}, "at": {strconv.FormatInt(c.Start.UnixMilli(), 10)}}
	return "/api/conference/text?" + query.Encode()
}

// TestConferenceText: the text has what the page shows, with the names that this reader may see.
//
// spec: DASH-02, DASH-03
func TestConferenceText(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	c.Participants[0].Session.Details[semconv.UserAgent] = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
	c.record(alice, 1, seconds(22), semconv.EventError, map[string]any{semconv.ErrorFunction: "attach", semconv.ErrorMessage: "Robert Roe\nis away"})
	c.summarise("success", nil, "", `{"outcome":"success","likelyCause":{"cause":"application","session":"`+alice+`","evidence":[{"text":"Robert Roe left"}]}}`)

	m.unattached = oneUnattached()
	status, body, header := get(t, start(t, m, nil)+textOf(c))
	require.Equal(t, storage.UnattachedQuery{AppID: "demo", ConferenceID: "stand up/1", From: t0.Add(-nearBefore), To: c.End.Add(nearAfter), Limit: maxNearby}, utc(m.unattachedQuery))
	require.Contains(t, body, "1 annotation of the same conference ID")
	require.Equal(t, 200, status)
	require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
	require.Equal(t, "no-store", header.Get("Cache-Control"))
	require.NotContains(t, body, "Robert Roe")
	require.Contains(t, body, "Conference stand up/1 (app demo)\nOutcome: Success")
	require.Contains(t, body, "Page: conference?app=demo&at="+strconv.FormatInt(t0.UnixMilli(), 10)+"&id=stand+up%2F1\n")
	require.Contains(t, body, "Likely cause: The application of alice\n- b-17 left\n")
	require.Contains(t, body, "- alice, firefox 144 on linux, site hq\n- b-17\n")
	require.Contains(t, body, "Errors (2)\n- 05:16:16 alice: createOffer OperationError: <b>no</b>\n- 05:16:22 alice: attach: b-17 is away\n")

	_, body, _ = get(t, start(t, m, func(s *Settings) { s.ShowUserNames = true })+textOf(c))
	require.Contains(t, body, "- Robert Roe (b-17)\n")
	require.Contains(t, body, "attach: Robert Roe is away\n")
}

// TestConferenceTextBadInput: the endpoint refuses what the page's does, and shows a summary of another version as far as it can.
func TestConferenceTextBadInput(t *testing.T) {
	m := &memory{}
	c := twoParty(m)
	c.summarise("success", nil, "", `{"outcome":{},"participants":7}`)
	base := start(t, m, nil)
	f := func(path string, status int, want string) {
		t.Helper()
		got, body, _ := get(t, base+path)
		require.Equal(t, status, got, body)
		require.Contains(t, body, want)
	}
	f(textOf(c), 200, "Participants (2)")
	f("/api/conference/text?app=demo&id=x", 400, `"field":"at"`)
	f("/api/conference/text?app=demo&id=none&at=5", 404, "no conference")
}

// TestLiveConferenceText: the text of a conference that goes on has its summary so far.
func TestLiveConferenceText(t *testing.T) {
	m := &memory{at: seconds(30)}
	c := twoParty(m)
	_, body, _ := get(t, start(t, m, nil)+textOf(c))
	require.Contains(t, body, "Outcome: Live")
	require.Contains(t, body, "connection 1 to b-17: ")
	require.NotContains(t, body, "Robert Roe")
}
