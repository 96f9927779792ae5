//go:build !fuzz

package readapi

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// examples is a read API over a real store, of which the answers are the examples of the document.
type examples struct {
	base string
	call *call
}

// newExamples returns examples: a call with everything that can be on a time-line, an hour of many calls, of which those
// of one site fail, and an annotation that no conference owns.
func newExamples(t *testing.T) examples {
	t.Helper()
	mem, store := &memory{at: t0.Add(time.Hour)}, newSQLite(t)
	c := twoParty(mem)
	foldCall(t, mem, c)
	write(t, store, c)
	for i := range 60 {
		d := digest.Digest{Outcome: "success", MOS: 4.2, Label: "good", Participants: 2, Members: one("oslo", "4.1", "firefox", "144")}
		if i%4 == 0 {
			d.Members = one("berlin", "4.1", "firefox", "144")
		}
		if i%8 == 0 {
			d.Outcome, d.MOS, d.Label, d.Cause = "dropped", 2.1, "bad", "senderUplink"
		}
		mem.digested("shop", fmt.Sprint("order ", i), t0.Add(time.Duration(i-60)*time.Minute), d)
		order := mem.calls[len(mem.calls)-1]
		session := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", i)
		order.join(session, fmt.Sprint("u-", i), fmt.Sprint("u-", i), nil)
		order.event(session, 1, order.Start, "fabricAdded", "{}")
		write(t, store, order)
	}
	_, err := store.Append(t.Context(), []storage.Batch{{
		Session: storage.Session{ID: bob, AppID: "demo", UserID: "Robert Roe", UserAlias: "b-17"},
		Records: []storage.Record{{
			Seq: 99, ConferenceID: "interview", ConferenceAt: t0, Name: semconv.EventLog, At: t0.Add(time.Minute), ObservedAt: t0.Add(time.Minute),
			Attributes: map[string]any{semconv.LogText: "the user closed the page"},
		}},
	}})
	require.NoError(t, err)
	_, err = store.AppendPreCalls(t.Context(), []storage.PreCall{examplePreCall(1, "success", 23.1), examplePreCall(2, "failure", 0)})
	require.NoError(t, err)
	return examples{startOn(t, reading{mem, store}, nil), c}
}

// examplePreCall is a pre-call test of Alice before the call. It failed where the round-trip time is 0.
func examplePreCall(seq uint64, status string, rttMs float64) storage.PreCall {
	at := t0.Add(-time.Duration(seq) * time.Minute)
	p := storage.PreCall{
		Session: storage.Session{ID: alice, AppID: "demo", UserID: "Alice Archer", UserAlias: "a-1", Details: map[string]string{semconv.SiteID: "oslo"}},
		Seq:     seq, At: at, ObservedAt: at,
		Result: storage.PreCallResult{Trigger: "initialize", Status: status, NetworkType: "wifi", BytesSent: 812_345, DurationMs: 6012},
	}
	provider := storage.PreCallProvider{Provider: "eu-1", Reason: "unreachable", Transports: []storage.PreCallTransport{{RelayProtocol: "udp", Error: "701 TURN allocate request timed out"}}}
	if rttMs > 0 {
		p.Result.MediaConnectivity, p.Result.RTTMs, p.Result.LossFraction, p.Result.ThroughputBps = true, &rttMs, new(0.01), new(2.1e6)
		provider.Reason = ""
		provider.Acceptable, provider.RTTMs, provider.JitterMs, provider.LossFraction, provider.ThroughputBps = true, &rttMs, new(1.2), new(0.01), new(2.1e6)
		provider.Transports = []storage.PreCallTransport{{RelayProtocol: "udp", Connected: true, ConnectMs: new(120.0)}}
	}
	p.Result.Providers = []storage.PreCallProvider{provider}
	return p
}

// foldCall summarises a call as the conference processor does.
func foldCall(t *testing.T, m *memory, c *call) {
	t.Helper()
	whole := conference.New(c.AppID, c.ConferenceID, nil, quality.DefaultBounds())
	ref := storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.Start}
	require.NoError(t, eventrow.EachRecord(t.Context(), m, ref, c.Participants, func(e *event.Event, _ *storage.Record) bool {
		whole.Apply(e)
		return true
	}))
	s := whole.Summary(quality.DefaultBounds())
	c.summarise(string(s.Outcome), s.MOS, s.Label, documentOf(s))
	c.Summary.Cause, c.Summary.Digest = string(s.LikelyCause.Cause), digest.Of(&s).Encode()
}

// query is the parameters of the example of a route.
func (e examples) query(path string) url.Values {
	ms := func(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }
	hour := url.Values{"app": {"shop"}, "from": {ms(t0.Add(-time.Hour))}, "to": {ms(t0)}}
	switch path {
	case "/api/conferences", "/api/conferences.csv", "/api/conferences.json":
		return url.Values{"app": {e.call.AppID}, "q": {"alice"}}
	case "/api/conference", "/api/conference/text":
		return url.Values{"app": {e.call.AppID}, "id": {e.call.ConferenceID}, "at": {ms(e.call.Start)}}
	case "/api/conference/tail":
		return url.Values{"app": {e.call.AppID}, "id": {e.call.ConferenceID}, "at": {ms(e.call.Start)}, "from": {ms(e.call.Start.Add(12 * time.Second))}}
	case "/api/user":
		return url.Values{"app": {e.call.AppID}, "user": {"alice"}}
	case "/api/contrast":
		hour.Set("outcome", "failed")
		return hour
	case "/api/trend":
		hour.Set("by", "outcomes")
		return hour
	case "/api/overview":
		return hour
	case "/api/precalls":
		return url.Values{"app": {e.call.AppID}, "provider": {"eu-1"}}
	case "/api/precalls/providers":
		hour.Set("app", e.call.AppID)
		return hour
	case "/api/unattached", "/api/live":
		return url.Values{"app": {e.call.AppID}}
	}
	return nil
}

// answer returns the answer of the example of a route: JSON or a text; nil: the route has none.
func (e examples) answer(t *testing.T, path string) any {
	t.Helper()
	switch path {
	case "/api/openapi.json":
		return nil
	case "/api/live":
		return streamed(storage.Change{AppID: e.call.AppID, ConferenceID: e.call.ConferenceID, From: e.call.Start, To: e.call.End, Records: 9})
	}
	status, body, header := get(t, e.base+path+"?"+e.query(path).Encode())
	require.Equal(t, http.StatusOK, status, "%s: %s", path, body)
	if !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
		return body
	}
	return parsed(t, body)
}

// refusal returns the answer to a wrong parameter.
func (e examples) refusal(t *testing.T) any {
	t.Helper()
	status, body, _ := get(t, e.base+"/api/conferences?limit=0")
	require.Equal(t, http.StatusBadRequest, status)
	return parsed(t, body)
}

func parsed(t *testing.T, body string) (answer any) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	return rounded(answer)
}

// rounded has six digits of each fraction: the last ones depend on the processor.
func rounded(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name := range v {
			v[name] = rounded(v[name])
		}
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case float64:
		if v != math.Trunc(v) {
			short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
			return short
		}
	}
	return v
}

// Examples show something: a list without elements would not.
func TestExamplesAreNotEmpty(t *testing.T) {
	e := newExamples(t)
	for path, lists := range map[string][]string{
		"/api/conferences": {"conferences"}, "/api/conferences.json": {"conferences"}, "/api/unattached": {"unattached"}, "/api/precalls": {"preCalls"}, "/api/precalls/providers": {"providers"}, "/api/user": {"calls"},
		"/api/conference": {"fabrics", "timeline", "streams", "measures"}, "/api/conference/tail": {"streams"},
		"/api/overview": {"apps", "points"}, "/api/contrast": {"findings"}, "/api/trend": {"values", "points"},
	} {
		for _, list := range lists {
			require.NotEmpty(t, e.answer(t, path).(map[string]any)[list], "%s of %s", list, path)
		}
	}
	require.NotEmpty(t, e.answer(t, "/api/conference").(map[string]any)["summary"].(map[string]any)["participants"])
}

// Answers of a real store are those that are described.
func TestAnswersAreAsDescribed(t *testing.T) {
	e := newExamples(t)
	for path, route := range describedRoutes() {
		if route.answer == nil {
			continue
		}
		resolved, err := answerSchema(t, route.answer).Resolve(nil)
		require.NoError(t, err, path)
		require.NoError(t, resolved.Validate(e.answer(t, path)), path)
	}
}

// withoutExamples removes the examples from a document.
func withoutExamples(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, response := range []string{"application/json", "text/csv", "text/plain", "text/event-stream"} {
			if one, ok := v[response].(map[string]any); ok {
				delete(one, "example")
			}
		}
		for _, one := range v {
			withoutExamples(one)
		}
	case []any:
		for _, one := range v {
			withoutExamples(one)
		}
	}
	return v
}

// The committed examples fit the schemas of now.
func TestExamplesFit(t *testing.T) {
	var doc struct {
		Paths map[string]struct {
			Get struct {
				Responses map[string]struct {
					Content map[string]struct{ Example any }
				}
			}
		}
	}
	require.NoError(t, json.Unmarshal(openAPI, &doc))
	for path, route := range describedRoutes() {
		for mediaType, body := range doc.Paths[path].Get.Responses["200"].Content {
			require.True(t, body.Example != nil || path == "/api/openapi.json", "%s has no example", path)
			if route.answer == nil {
				continue
			}
			resolved, err := answerSchema(t, route.answer).Resolve(nil)
			require.NoError(t, err, path)
			require.NoError(t, resolved.Validate(body.Example), "%s %s: run go test -run TestOpenAPI -write-openapi", path, mediaType)
		}
	}
}
