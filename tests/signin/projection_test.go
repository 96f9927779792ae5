package signin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

func readers(in *installation) (support, engineering *browser) {
	in.put("support", access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{All: true}})
	in.put("engineering", access.User{Roles: []access.Role{access.Engineering}, Scope: access.Scope{All: true}})
	return in.in("support"), in.in("engineering")
}

// Engineering gets no real name in any answer, support gets all.
//
// spec: DASH-03
func TestNamesByRole(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	support, engineering := readers(in)
	for _, path := range []string{conference("shop"), "/api/conferences", "/api/conferences?user=b-17", "/api/unattached"} {
		body := engineering.get(path)
		for _, name := range realNames {
			require.NotContains(t, body, name, path)
		}
		require.NotContains(t, strings.ToLower(body), "zo\\u00eb", path)
		require.NotContains(t, body, "Hans", path)
	}
	body := engineering.get(conference("shop"))
	for _, kept := range []string{`"a-1"`, `"b-17"`, `"c-9"`, `"z-3"`, "no device of a-1, a-1!", `s=b-17\r\n`, "slides of c-9", `"commentHidden":true`, "desk of a-1", `"overall":2`} {
		require.Contains(t, body, kept)
	}
	body = support.get(conference("shop"))
	for _, shown := range []string{`"userName":"Robert Roe"`, "no device of Ann Real", `s=Robert Roe\r\n`, "my nephew Hans could not hear Carol"} {
		require.Contains(t, body, shown)
	}
	require.Contains(t, support.get("/api/unattached"), "Ann Real hung up")
	require.Contains(t, engineering.get("/api/unattached"), "a-1 hung up")
}

// A real name that may not be shown finds nothing, by no parameter.
//
// spec: DASH-03
func TestSearchByRole(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	support, engineering := readers(in)
	found := func(b *browser, parameter, value string) bool {
		return strings.Contains(b.get("/api/conferences?"+url.Values{parameter: {value}}.Encode()), "standup")
	}
	for _, parameter := range []string{"user", "q"} {
		for _, name := range []string{"Ann Real", "Robert Roe", "Dr. Zoë"} {
			require.True(t, found(support, parameter, name), name)
			require.False(t, found(engineering, parameter, name), name)
		}
		for _, alias := range []string{"a-1", "b-17", "z-3"} {
			require.True(t, found(support, parameter, alias), alias)
			require.True(t, found(engineering, parameter, alias), alias)
		}
	}
	for _, parameter := range []string{"site", "q"} {
		require.True(t, found(support, parameter, "desk of Ann Real"), parameter)
		require.False(t, found(engineering, parameter, "desk of Ann Real"), parameter)
	}
}

// An app that is not in scope does not exist: in lists, searches, single answers and redirects.
//
// spec: DASH-03
func TestScopes(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	in.call("other")
	in.put("one", access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{Apps: []string{"shop", "empty"}}})
	b := in.in("one")
	for _, path := range []string{"/api/conferences", "/api/conferences?limit=1", "/api/conferences?q=standup", "/api/unattached", "/api/conferences?user=Ann+Real"} {
		body := b.get(path)
		require.Contains(t, body, `"app":"shop"`, path)
		require.NotContains(t, body, `"app":"other"`, path)
	}
	for _, path := range []string{"/api/conferences?app=other", "/api/unattached?app=other", "/api/conferences?app=other&q=standup"} {
		require.NotContains(t, b.get(path), `"other"`, path)
	}
	there, absent := conference("other"), conference("nowhere")
	status, body, _ := b.do(http.MethodGet, there, "")
	require.Equal(t, http.StatusNotFound, status)
	_, missing, _ := b.do(http.MethodGet, absent, "")
	require.Equal(t, missing, body, "as one that is not there")
	status, _, _ = b.do(http.MethodGet, trace("other"), "")
	require.Equal(t, http.StatusNotFound, status)
	status, _, _ = b.do(http.MethodGet, trace("shop"), "")
	require.Equal(t, http.StatusFound, status)
}

// A role that is taken away is so in the next answer, at every collector.
//
// spec: DASH-03
func TestRolesChangeWhileSignedIn(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	support, _ := readers(in)
	second := &browser{t, in.dashboard("qosaccess"), support.http}
	require.Contains(t, second.get(conference("shop")), "Ann Real", "any collector serves any login")
	in.put("support", access.User{Roles: []access.Role{access.Engineering}, Scope: access.Scope{All: true}})
	require.NotContains(t, second.get(conference("shop")), "Ann Real")
	require.NotContains(t, support.get(conference("shop")), "Ann Real")
	in.put("support", access.User{Roles: []access.Role{access.Engineering}, Scope: access.Scope{Apps: []string{"other"}}})
	status, _, _ := second.do(http.MethodGet, conference("shop"), "")
	require.Equal(t, http.StatusNotFound, status)
	in.put("support", access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{All: true}, Disabled: true})
	status, _, _ = second.do(http.MethodGet, conference("shop"), "")
	require.Equal(t, http.StatusUnauthorized, status)
}

// The audit log has who read which conference and searched for what.
//
// spec: DASH-03
func TestReadsAreAudited(t *testing.T) {
	t.Parallel()
	in := start(t)
	in.call("shop")
	support, engineering := readers(in)
	for range 3 { // a page that refreshes itself
		support.get(conference("shop"))
		support.get("/api/conferences?user=Ann+Real&limit=5")
	}
	support.get("/api/conferences.csv?user=Ann+Real")
	engineering.get("/api/unattached?app=shop")
	status, _, _ := support.do(http.MethodGet, conference("nowhere"), "")
	require.Equal(t, http.StatusNotFound, status)
	entries, err := in.store.Accounts().AuditPage(t.Context(), storage.AuditQuery{})
	require.NoError(t, err)
	var lines []string
	for i := range entries {
		e := &entries[len(entries)-1-i]
		lines = append(lines, strings.Join([]string{e.Actor, e.Action, e.AppID, e.Target}, "|"))
	}
	require.Equal(t, []string{
		"support|signIn||", "engineering|signIn||", "support|readConference|shop|standup", "support|search||user=Ann+Real", "support|search||user=Ann+Real", "engineering|readUnattached|shop|",
	}, lines)
	require.JSONEq(t, `{"export":"csv"}`, string(entries[1].Body))
}

// A page of another site changes nothing with the visitor's cookies, and reads nothing.
//
// spec: DASH-03
func TestOtherSites(t *testing.T) {
	t.Parallel()
	in := start(t)
	support, _ := readers(in)
	for _, header := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"}, {"Origin", "null"}} {
		for _, path := range []string{"/signin", "/signout", "/password", "/api/v1/users/a/signout"} {
			status, body, _ := support.do(http.MethodPost, path, "form=x", append(header, "Content-Type", "application/x-www-form-urlencoded")...)
			require.Equal(t, http.StatusForbidden, status)
			require.Contains(t, body, "another site", path)
		}
	}
	_, _, head := support.do(http.MethodGet, "/api/session", "", "Origin", "https://evil.example")
	require.Empty(t, head.Get("Access-Control-Allow-Origin"))
	for _, header := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy"} {
		_, _, head := in.browser().do(http.MethodGet, "/signin", "")
		require.NotEmpty(t, head.Get(header), header)
	}
}
