package access

import (
	"crypto/sha256"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// spec: DASH-05
func TestAPITokenText(t *testing.T) {
	text := NewAPITokenText("nightly")
	require.Regexp(t, `^qos_[A-Z2-7]{38}[0-9a-f]{8}$`, text)
	require.NotEqual(t, text, NewAPITokenText("nightly"))
	id, digest, ok := ParseAPIToken(text)
	require.True(t, ok)
	require.Equal(t, APITokenID("nightly"), id)
	require.NotEqual(t, APITokenID("nightlx"), id)
	require.Len(t, digest, sha256.Size)
	require.Equal(t, DigestAPIToken(text), digest)
	for i := range text { // the checksum finds each wrong character
		for _, c := range "A2a0_-" {
			if wrong := text[:i] + string(c) + text[i+1:]; wrong != text {
				_, _, ok := ParseAPIToken(wrong)
				require.False(t, ok, wrong)
			}
		}
	}
	for _, bad := range []string{"", "qos_", text[1:], text + "0", text + "\n", " " + text, strings.ToLower(text), strings.ToUpper(text)} {
		_, _, ok := ParseAPIToken(bad)
		require.False(t, ok, bad)
	}
}

func FuzzParseAPIToken(f *testing.F) {
	for _, seed := range []string{"", "qos_", NewAPITokenText("a"), strings.Repeat("A", 50), "qos_" + strings.Repeat("A", 38) + "00000000"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		id, digest, ok := ParseAPIToken(text)
		if !ok {
			require.Nil(t, digest)
			require.Empty(t, id)
			return
		}
		require.Len(t, text, 50)
		require.True(t, strings.HasPrefix(text, APITokenPrefix+id))
		require.Equal(t, apiTokenChecksum(text[:42]), text[42:])
	})
}

func request(header ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/api/conferences", nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// spec: DASH-05
func TestBearerToken(t *testing.T) {
	text := NewAPITokenText("a")
	f := func(want string, status int, header ...string) {
		t.Helper()
		got, err := BearerToken(request(header...))
		require.Equal(t, want, got)
		if status == 0 {
			require.NoError(t, err)
			return
		}
		var refusal *Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, status, refusal.Status)
		require.NotContains(t, refusal.Error(), text)
	}
	f("", 0)
	for _, scheme := range []string{"Bearer ", "bearer ", "BEARER   ", " Bearer "} {
		f(text, 0, "Authorization", scheme+text)
	}
	f("qos_wrong", 0, "Authorization", "Bearer qos_wrong")
	f(text, 0, "Authorization", "Bearer "+text, "Cookie", "other=1")
	for _, other := range []string{text, "Basic " + text, "Bearer", "Bearer x", "Bearer" + text, "Token " + text, "Bearer x " + text} {
		f("", 0, "Authorization", other) // of a proxy or authenticator in front
		f("", 0, "Authorization", other, "Cookie", "qos-login=x")
	}
	f("", 400, "Authorization", "Bearer "+text, "Authorization", "Basic x")
	f("", 400, "Authorization", "Basic x", "Authorization", "Bearer "+text)
	f("", 400, "Authorization", "Bearer "+text, "Cookie", "qos-login=x")
	f("", 400, "Authorization", "Bearer "+text, "Cookie", "__Host-qos-login=")
}

func validToken() (APIToken, User) {
	at := time.UnixMilli(1_763_702_160_000).UTC()
	maker := User{Roles: []Role{Admin}, Scope: Scope{All: true}, CreatedAt: at}
	return APIToken{
		Name: "nightly", Roles: []Role{Support}, Scope: Scope{Apps: []string{"shop"}}, Digest: DigestAPIToken("x"), Maker: "root",
		MakerSince: at, CreatedAt: at, ExpiresAt: at.Add(time.Hour),
	}, maker
}

// spec: DASH-05
func TestAPITokenIsValid(t *testing.T) {
	token, maker := validToken()
	require.NoError(t, token.Check())
	require.True(t, token.Valid(DigestAPIToken("x"), token.ExpiresAt.Add(-time.Millisecond)))
	require.False(t, token.Valid(DigestAPIToken("x"), token.ExpiresAt))
	require.False(t, token.Valid(DigestAPIToken("y"), token.CreatedAt))
	require.False(t, token.Valid(nil, token.CreatedAt))
	require.True(t, token.MadeBy(&maker))
	for name, change := range map[string]func(*User){
		"disabled":    func(u *User) { u.Disabled = true },
		"another one": func(u *User) { u.CreatedAt = u.CreatedAt.Add(time.Second) },
		"no admin":    func(u *User) { u.Roles = []Role{Support, Engineering} },
		"other apps":  func(u *User) { u.Scope = Scope{Apps: []string{"other"}} },
	} {
		other := maker
		change(&other)
		require.False(t, token.MadeBy(&other), name)
	}
	maker.Roles, maker.Scope = []Role{Admin, Support}, Scope{Apps: []string{"other", "shop"}}
	require.True(t, token.MadeBy(&maker))
	token.Scope = Scope{All: true}
	require.False(t, token.MadeBy(&maker))
}

// No set of roles and scope lets an administrator of some apps give what they do not have.
//
// spec: DASH-03, DASH-05
func TestRolesThatATokenMayHave(t *testing.T) {
	sets := [][]Role{{}, {Support}, {Engineering}, {Support, Engineering}}
	some, all := Scope{Apps: []string{"shop"}}, Scope{All: true}
	for _, own := range sets {
		for _, given := range sets[1:] {
			token, maker := validToken()
			token.Roles, maker.Roles = given, append([]Role{Admin}, own...)
			require.True(t, token.MadeBy(&maker), "an administrator of all apps gives %v", given)
			maker.Scope = some
			has := !slices.ContainsFunc(given, func(r Role) bool { return !slices.Contains(own, r) })
			require.Equal(t, has, token.MadeBy(&maker), "who has %v gives %v", own, given)
			v := Visitor{Roles: maker.Roles, Scope: some}
			require.Equal(t, slices.Contains(own, Support), Export.Allows(&v), "who has %v exports names", own)
			require.Equal(t, Settings.Allows(&Visitor{Roles: own, Scope: all}), Export.Allows(&Visitor{Roles: own, Scope: all}))
		}
	}
}

// spec: DASH-05
func TestBadAPIToken(t *testing.T) {
	f := func(field string, change func(*APIToken)) {
		t.Helper()
		token, _ := validToken()
		change(&token)
		var fault *Fault
		require.ErrorAs(t, token.Check(), &fault)
		require.Equal(t, field, fault.Field)
		body, err := token.Encode()
		require.NoError(t, err)
		_, err = DecodeAPIToken(body)
		require.Error(t, err)
	}
	for _, name := range []string{"", "A", "-a", "a b", "a:b", "é", strings.Repeat("a", 41)} {
		f("name", func(token *APIToken) { token.Name = name })
	}
	f("roles", func(token *APIToken) { token.Roles = nil })
	f("roles", func(token *APIToken) { token.Roles = []Role{Support, Admin} })
	f("roles", func(token *APIToken) { token.Roles = []Role{"root"} })
	f("scope", func(token *APIToken) { token.Scope = Scope{} })
	f("digest", func(token *APIToken) { token.Digest = token.Digest[1:] })
	_, err := DecodeAPIToken([]byte(`{"name":"a","denied":true}`))
	require.ErrorContains(t, err, "denied")
}

// spec: DASH-05
func TestNeedsOfTokens(t *testing.T) {
	v := &Visitor{Token: true, Roles: AllRoles, Scope: Scope{All: true}} // whatever a document says
	for _, route := range Routes {
		_, path, _ := strings.Cut(route.Pattern, " ")
		require.Equal(t, route.Need == Nothing || route.Need == Calls, route.Need.Allows(v), route.Pattern)
		require.Equal(t, route.Need == Calls && (strings.HasPrefix(path, "/api/") || path == "/mcp"), TakesTokens(route.Pattern), route.Pattern)
	}
	require.False(t, TakesTokens("GET /api/nothing"))
	require.False(t, Calls.Allows(&Visitor{Token: true}))
}
