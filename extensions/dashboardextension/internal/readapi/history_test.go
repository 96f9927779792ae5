//go:build !fuzz

package readapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/usual"
	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage/sqlite"
)

// hour returns a time of the history.
func hour(n int) time.Time { return t0.Add(time.Duration(n) * time.Hour) }

// auditing records what is audited.
type auditing struct {
	Keeper
	entries []access.Entry
}

func (a *auditing) Read(_ context.Context, _ *access.Visitor, e access.Entry) error {
	a.entries = append(a.entries, e)
	return nil
}

// newHistory returns a store with n calls of ann, one an hour, each with bob, the last over a cellular network and a
// relay: the session before the last is renamed.
func newHistory(t *testing.T, n int) *sqlite.Store {
	t.Helper()
	m, store := &memory{}, newSQLite(t)
	for i := range n {
		start := hour(i)
		c := m.newCall(fmt.Sprint("call ", i), start)
		ann := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", 2*i)
		other := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", 2*i+1)
		c.join(ann, "Ann Real", "ann", nil)
		c.join(other, "Bob", "bob", nil)
		for _, session := range []string{ann, other} {
			c.event(session, 1, start, "application", "")
			c.event(session, 1, start.Add(20*time.Second), "application", "")
		}
		fabric := digest.Fabric{LocalCandidateType: "host", NetworkType: "wifi", LocalAddress: "192.0.2.0"}
		score := 4.5
		if i == n-1 {
			fabric, score = digest.Fabric{LocalCandidateType: "relay", RelayProtocol: "tls", NetworkType: "cellular", LocalAddress: "198.51.100.0"}, 2.5
		}
		if i == n-2 {
			c.event(ann, 1, start.Add(20*time.Second), "userIDChange", `{"userIDType":"local","newUserID":{"userName":"Ann New","aliasName":"ann-2"}}`)
		}
		mos := 2.0
		c.summarise("success", &mos, "poor", `{}`)
		c.Summary.Cause = "receiverDownlink"
		d := digest.Digest{Outcome: "success", MOS: 2, Participants: 2, Members: []digest.Member{
			{Session: uuid.MustParse(other), Browser: "chrome", BrowserVersion: "142", MOS: 1.5, Label: "bad", Cause: "senderUplink"},
			{Session: uuid.MustParse(ann), SiteID: "office of Ann Real", Browser: "firefox", BrowserVersion: "144", OS: "linux", MOS: score, Label: "fair", Fabrics: []digest.Fabric{fabric}},
		}}
		if i == n-1 { // a second session, which is better
			again := fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", 2*n)
			c.join(again, "Ann Real", "ann", nil)
			c.event(again, 1, start, "application", "")
			d.Members = append(d.Members, digest.Member{Session: uuid.MustParse(again), Browser: "firefox", BrowserVersion: "144", MOS: 4, Label: "good", Cause: "senderUplink"})
		}
		c.Summary.Digest = d.Encode()
		write(t, store, c)
	}
	return store
}

// The history of a user has the user's calls with the user's own facts and score, and what was different in each.
//
// spec: DASH-01, DASH-03
func TestHistory(t *testing.T) {
	base := startOn(t, reading{&memory{}, newHistory(t, 8)}, nil)
	var got historyAnswer
	getJSON(t, base+"/api/user?app=demo&user=ann", &got)
	require.Len(t, got.Calls, 8)
	require.Empty(t, got.Next)
	require.Equal(t, []string{"ann", "", "ann,ann-2"}, []string{got.User, got.UserName, strings.Join(got.Names, ",")})
	last := got.Calls[0]
	require.Equal(t, []string{"call 7", "success", "senderUplink", "fair"}, []string{last.ID, last.Outcome, last.Cause, last.Label})
	require.InDelta(t, 2.5, *last.MOS, 1e-9)
	require.Equal(t, []int{2, 1}, []int{len(last.Sessions), len(got.Calls[1].Sessions)})
	require.Equal(t, "receiverDownlink", got.Calls[1].Cause, "the conference's")
	require.Contains(t, last.Facts, contrast.Fact{Attribute: contrast.Browser, Value: "firefox"})
	require.NotContains(t, last.Facts, contrast.Fact{Attribute: contrast.Browser, Value: "chrome"})
	require.Equal(t, []usual.Difference{
		{Attribute: contrast.NetworkType, Values: []string{"cellular"}, Usual: []string{"wifi"}},
		{Attribute: contrast.LocalAddress, Values: []string{"198.51.100.0"}, Usual: []string{"192.0.2.0"}},
		{Attribute: contrast.LocalCandidateType, Values: []string{"relay"}, Usual: []string{"host"}},
	}, last.Different)
	for _, c := range got.Calls[1:] {
		require.Empty(t, c.Different, c.ID)
	}
	require.Equal(t, usual.Value{Attribute: contrast.Site, Value: "office of ann", Calls: 8, Of: 8}, got.Usual[0], "a name that is not shown is replaced")
	require.Equal(t, usual.Value{Attribute: contrast.NetworkType, Value: "wifi", Calls: 7, Of: 8}, got.Usual[4])

	getJSON(t, base+"/api/user?app=demo&user=ann-2", &got)
	require.Len(t, got.Calls, 1)
	require.Equal(t, []string{"ann-2", "ann"}, got.Names)
	for _, nobody := range []string{"Ann Real", "ANN", "nobody"} {
		getJSON(t, base+"/api/user?"+url.Values{"app": {"demo"}, "user": {nobody}}.Encode(), &got)
		require.Empty(t, got.Calls, nobody)
	}
	getJSON(t, base+"/api/user?app=other&user=ann", &got)
	require.Empty(t, got.Calls)
}

// Pages have all calls once; what was usual does not depend on the pages, nor on the time that is shown.
func TestHistoryPages(t *testing.T) {
	base := startOn(t, reading{&memory{}, newHistory(t, 8)}, nil) + "/api/user?app=demo&user=ann"
	var ids, different []string
	for query := "&limit=3"; query != ""; {
		var got historyAnswer
		getJSON(t, base+query, &got)
		for _, c := range got.Calls {
			ids = append(ids, c.ID)
			different = append(different, strconv.Itoa(len(c.Different)))
		}
		if query = ""; got.Next != "" {
			query = "&limit=3&cursor=" + got.Next
		}
	}
	require.Equal(t, "call 7,call 6,call 5,call 4,call 3,call 2,call 1,call 0", strings.Join(ids, ","))
	require.Equal(t, "3,0,0,0,0,0,0,0", strings.Join(different, ","))

	var got historyAnswer
	getJSON(t, base+"&"+span(hour(6), hour(8)), &got)
	require.Len(t, got.Calls, 2)
	require.Empty(t, got.Next)
	require.Len(t, got.Calls[0].Different, 3)
	getJSON(t, base+"&"+span(hour(2), hour(4)), &got)
	require.Equal(t, []string{"call 3", "call 2"}, []string{got.Calls[0].ID, got.Calls[1].ID})

	base = startOn(t, reading{&memory{}, newHistory(t, 56)}, nil) + "/api/user?app=demo&user=ann&limit=5"
	getJSON(t, base+"&"+span(hour(53), hour(56)), &got)
	require.Len(t, got.Calls, 3)
	require.Empty(t, got.Next, "the store has earlier ones, which the request does not ask for")
	getJSON(t, base, &got)
	require.Len(t, got.Calls, 5)
	require.NotEmpty(t, got.Next)
}

func TestHistoryRefuses(t *testing.T) {
	base := start(t, &memory{}, nil)
	for query, field := range map[string]string{
		"": "app", "app=a": "user", "app=a&user=b&limit=0": "limit", "app=a&user=b&limit=151": "limit", "app=a&user=b&from=2&to=1": "to",
		"app=a&user=b&cursor=x": "cursor", "app=a&user=b&from=x": "from", "app=a&app=b&user=c": "app",
	} {
		status, body, _ := get(t, base+"/api/user?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`, query)
	}
}

// Names follow the role, apps the scope, and the request is audited like a search, with pseudonyms in place of an ID.
//
// spec: DASH-03, PRIV-02
func TestHistoryByRole(t *testing.T) {
	audit := &auditing{}
	a := &API{reader: newHistory(t, 8), keeper: audit, now: time.Now, userIDs: userIDs{hashingApps{"h1": 1}}}
	ask := func(role access.Role, scope access.Scope, app, user string) historyAnswer {
		r := httptest.NewRequest(http.MethodGet, "/api/user?"+url.Values{"app": {app}, "user": {user}}.Encode(), nil)
		got, err := a.history(access.With(t.Context(), &access.Visitor{Roles: []access.Role{role}, Scope: scope}), r)
		require.NoError(t, err)
		return got.(historyAnswer)
	}
	all, other := access.Scope{All: true}, access.Scope{Apps: []string{"other"}}
	got := ask(access.Support, all, "demo", "Ann Real")
	require.Equal(t, []string{"ann", "Ann Real"}, []string{got.User, got.UserName})
	require.Len(t, got.Calls, 8)
	require.Equal(t, "office of Ann Real", got.Usual[0].Value)
	require.Empty(t, ask(access.Engineering, all, "demo", "Ann Real").Calls)
	require.Empty(t, ask(access.Engineering, all, "demo", "ann").UserName)
	require.Empty(t, ask(access.Support, other, "demo", "ann").Calls)
	require.Equal(t, access.Entry{Action: access.ActionSearch, AppID: "demo", Target: "app=demo&user=Ann+Real"}, audit.entries[0])
	ask(access.Support, all, "h1", "ann")
	require.Equal(t, "app=h1&user=h10ann", audit.entries[len(audit.entries)-1].Target)
}
