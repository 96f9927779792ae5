package signin

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// withHeader sends a header with each request.
type withHeader []string

func (h withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set(h[0], h[1])
	transport := &http.Transport{DisableKeepAlives: true}
	return transport.RoundTrip(r)
}

// assistant is a client of the MCP server.
type assistant struct {
	t *testing.T
	*mcp.ClientSession
}

// assistant connects with the header of an API token.
func (in *installation) assistant(header []string) assistant {
	in.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(in.t.Context(), &mcp.StreamableClientTransport{
		Endpoint: in.base + "/mcp", HTTPClient: &http.Client{Transport: withHeader(header)}, MaxRetries: -1,
	}, nil)
	require.NoError(in.t, err)
	in.t.Cleanup(func() { require.NoError(in.t, session.Close()) })
	return assistant{in.t, session}
}

// call calls a tool and returns its structured answer as JSON, or the text of its error.
func (a assistant) call(tool string, arguments map[string]any) (text string, failed bool) {
	a.t.Helper()
	result, err := a.CallTool(a.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(a.t, err)
	require.NotEmpty(a.t, result.Content)
	if result.IsError {
		return result.Content[0].(*mcp.TextContent).Text, true
	}
	body, err := json.Marshal(result.StructuredContent)
	require.NoError(a.t, err)
	require.JSONEq(a.t, string(body), result.Content[0].(*mcp.TextContent).Text, "clients without structured content have the same")
	return string(body), false
}

// failedCall writes the summary of the call of an app, which failed.
func (in *installation) failedCall(app string) {
	in.t.Helper()
	in.call(app)
	mos := 1.5
	require.NoError(in.t, in.store.Writer().PutSummary(in.t.Context(), storage.Summary{
		AppID: app, ConferenceID: "standup", Start: t0, End: t0.Add(20 * time.Second), Outcome: "dropped", MOS: &mos, Label: "bad", Revision: 1, Participants: 2,
		Cause: "network", Document: []byte(`{"outcome":"dropped","mos":1.5,"label":"bad","participants":[{"session":"` + annSession + `","userID":"Ann Real","alias":"a-1","connected":true,"endReason":"iceFailed"}],` +
			`"likelyCause":{"cause":"network","session":"` + annSession + `","confidence":0.8,"evidence":[{"text":"30 % of the packets of Ann Real were lost"}]},"issues":[],"issueCounts":{"packetLoss":1}}`),
	}))
}

func (in *installation) root() {
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
}

type found struct {
	Notice string
	Data   struct {
		Conferences []struct {
			App, ID, Start, Outcome, Cause string
			StartAt                        int64
		}
	}
}

// An assistant answers "why did this user's call fail yesterday".
//
// spec: DASH-01, DASH-03
func TestAssistantFindsWhyACallFailed(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.root()
	in.failedCall("shop")
	a := in.assistant(in.token(`{"name":"assistant","roles":["support"],"scope":{"apps":["shop"]}}`))
	tools, err := a.ListTools(t.Context(), nil)
	require.NoError(t, err)
	names := []string{}
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
		require.True(t, tool.Annotations.ReadOnlyHint, tool.Name)
		require.NotEmpty(t, tool.Description)
	}
	require.ElementsMatch(t, []string{"search_conferences", "explain_conference", "compare_sets", "overview"}, names)
	require.Contains(t, a.InitializeResult().Instructions, "never instructions")

	day := t0.Truncate(24 * time.Hour)
	text, failed := a.call("search_conferences", map[string]any{
		"user": "Ann Real", "outcome": "failed", "from": day.Format(time.RFC3339), "to": day.Add(24 * time.Hour).In(time.FixedZone("", 7200)).Format(time.RFC3339),
	})
	require.False(t, failed, text)
	var list found
	require.NoError(t, json.Unmarshal([]byte(text), &list))
	require.Len(t, list.Data.Conferences, 1, text)
	one := list.Data.Conferences[0]
	require.Equal(t, "dropped", one.Outcome)
	require.Contains(t, list.Notice, "never instructions")

	for _, at := range []any{one.Start, one.StartAt, strconv.FormatInt(one.StartAt, 10)} {
		text, failed = a.call("explain_conference", map[string]any{"app": one.App, "id": one.ID, "at": at})
		require.False(t, failed, text)
		var explained struct {
			Notice string
			Data   struct {
				Text  string
				Facts struct {
					Outcome      string
					LikelyCause  struct{ Cause string }
					Participants []struct{ Session, EndReason string }
					Errors       []struct{ Function string }
				}
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &explained))
		require.Contains(t, explained.Notice, "never instructions")
		require.Contains(t, explained.Data.Text, "30 % of the packets of Ann Real were lost")
		require.Equal(t, "dropped", explained.Data.Facts.Outcome)
		require.Equal(t, "network", explained.Data.Facts.LikelyCause.Cause)
		require.Len(t, explained.Data.Facts.Participants, 2)
		require.Equal(t, "createOffer", explained.Data.Facts.Errors[0].Function)
	}
	log := in.in("root").get("/api/v1/audit")
	require.Contains(t, log, `"actor":"token:assistant","action":"search"`)
	require.Contains(t, log, `"actor":"token:assistant","action":"readConference","app":"shop","target":"standup"`)
}

// Tools have the rights of their token.
//
// spec: DASH-03
func TestAssistantsHaveTheRightsOfTheirToken(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.root()
	in.failedCall("shop")
	search := map[string]any{"app": "shop"}
	explain := map[string]any{"app": "shop", "id": "standup", "at": t0.Add(time.Second).UnixMilli()}
	compare := map[string]any{"from": t0.Add(-time.Hour).UnixMilli(), "to": t0.Add(time.Hour).UnixMilli(), "outcome": "failed"}

	engineering := in.assistant(in.token(`{"name":"engineering","roles":["engineering"],"scope":{"all":true}}`))
	for tool, arguments := range map[string]map[string]any{"search_conferences": search, "explain_conference": explain, "compare_sets": compare} {
		text, failed := engineering.call(tool, arguments)
		require.False(t, failed, text)
		for _, name := range realNames {
			require.NotContains(t, text, name, tool)
		}
	}
	text, _ := engineering.call("search_conferences", map[string]any{"user": "Ann Real"})
	require.Contains(t, text, `"conferences":[]`)

	header := in.token(`{"name":"foreign","roles":["support"],"scope":{"apps":["other"]}}`)
	foreign := in.assistant(header)
	text, _ = foreign.call("search_conferences", search)
	require.Contains(t, text, `"conferences":[]`)
	text, failed := foreign.call("explain_conference", explain)
	require.True(t, failed)
	require.Contains(t, text, "no conference")

	// The token is read with each request.
	status, _, _ := in.in("root").do(http.MethodDelete, "/api/v1/tokens/foreign", "")
	require.Equal(t, http.StatusNoContent, status)
	_, err := foreign.CallTool(t.Context(), &mcp.CallToolParams{Name: "search_conferences"})
	require.Error(t, err)
}

// Arguments that no tool expects are refused with the name of the parameter.
func TestToolsRefuseBadArguments(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.root()
	a := in.assistant(in.token(`{"name":"assistant","roles":["support"],"scope":{"all":true}}`))
	f := func(field, tool string, arguments map[string]any) {
		t.Helper()
		text, failed := a.call(tool, arguments)
		require.True(t, failed, text)
		require.Contains(t, text, field)
	}
	f("from", "search_conferences", map[string]any{"from": "yesterday"})
	f("from", "search_conferences", map[string]any{"from": "2026-05-01T09:00:00"}) // no zone
	f("from", "search_conferences", map[string]any{"from": -1})
	f("from", "search_conferences", map[string]any{"from": true})
	f("to", "search_conferences", map[string]any{"from": 5, "to": 4})
	f("outcome", "search_conferences", map[string]any{"outcome": "good"})
	f("limit", "search_conferences", map[string]any{"limit": 51})
	f("limit", "search_conferences", map[string]any{"limit": 1.5})
	f("cursor", "search_conferences", map[string]any{"cursor": "x"})
	f("user", "search_conferences", map[string]any{"user": strings.Repeat("x", 1025)})
	f("user", "search_conferences", map[string]any{"user": []string{"a"}})
	f("nothing", "search_conferences", map[string]any{"nothing": 1})
	f("at", "explain_conference", map[string]any{"app": "a", "id": "b"})
	f("app", "explain_conference", map[string]any{"app": "", "id": "b", "at": 1})
	f("to", "compare_sets", map[string]any{"from": 1})
	f("to", "compare_sets", map[string]any{"from": 0, "to": time.Now().UnixMilli()})
	f("baseline", "compare_sets", map[string]any{"from": 1, "to": 2, "baseline": 5})
	f("baseline.from", "compare_sets", map[string]any{"from": 1, "to": 2, "baseline": map[string]any{"from": "x"}})
	f("baseline.to", "compare_sets", map[string]any{"from": 1, "to": 2, "baseline": map[string]any{"from": 8}})
	f("lossAbove", "search_conferences", map[string]any{"lossAbove": 5})
	f("ratingTo", "search_conferences", map[string]any{"ratingTo": 6})
	good := map[string]any{"lossAbove": 0.05, "rttAbove": 300, "setupFrom": 5000, "scoreTo": 2.5, "ratingTo": 2}
	text, failed := a.call("search_conferences", good)
	require.False(t, failed, text)
}

// The MCP server is not for pages: neither of another origin, nor with a user's login.
//
// spec: DASH-05
func TestPagesDoNotReachTheMCPServer(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.root()
	in.put("support", access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{All: true}})
	token := in.token(`{"name":"assistant","roles":["support"],"scope":{"all":true}}`)
	list := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	f := func(want int, b *browser, header ...string) {
		t.Helper()
		header = append(header, "Content-Type", "application/json", "Accept", "application/json, text/event-stream")
		status, body, _ := b.do(http.MethodPost, "/mcp", list, header...)
		require.Equal(t, want, status, body)
	}
	f(http.StatusOK, in.browser(), token...)
	f(http.StatusUnauthorized, in.browser())
	f(http.StatusForbidden, in.in("support"))
	f(http.StatusForbidden, in.browser(), append([]string{"Origin", "https://evil.example"}, token...)...)
	f(http.StatusForbidden, in.browser(), append([]string{"Sec-Fetch-Site", "cross-site"}, token...)...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, in.base+"/mcp", strings.NewReader(list))
	require.NoError(t, err)
	req.Host = "evil.example"
	req.Header.Set("Authorization", token[1])
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.GreaterOrEqual(t, res.StatusCode, 400)
}
