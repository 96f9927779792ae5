package signin

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/extensions/accessextension"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

func claims(name string, roles []string, apps ...string) map[string]any {
	return map[string]any{"name": name, "roles": roles, "apps": apps}
}

// Users of a provider have the roles and apps of their claims, and names of their own.
//
// spec: DASH-03
func TestSignInAtAProvider(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	in.call("shop")
	p.account("sue", claims("Sue Support", []string{"qos-support", "other"}, "*"))
	p.account("eve", claims("Eve Engineering", []string{"qos-engineering"}, "shop", "empty"))
	p.account("ada", claims("Ada Admin", []string{"qos-admin"}, "*"))
	p.account("admin", claims("\u202eadmin\u202c\x07", []string{"qos-support", "qos-engineering"}, "other"))

	sue, eve, ada, foreign := in.browser(), in.browser(), in.browser(), in.browser()
	require.Equal(t, "/search?x=1", sue.inBy("sue"))
	require.Contains(t, sue.get(conference("shop")), "Ann Real")
	require.Equal(t, "Sue Support", sue.session().Name)
	require.True(t, sue.session().Scope.All)

	eve.inBy("eve")
	require.NotContains(t, eve.get(conference("shop")), "Ann Real")
	require.Equal(t, access.Scope{Apps: []string{"empty", "shop"}}, eve.session().Scope)
	status, _, _ := eve.do(http.MethodGet, "/api/v1/users", "")
	require.Equal(t, http.StatusForbidden, status)

	foreign.inBy("admin")
	require.Equal(t, "admin", foreign.session().Name, "without the characters that turn text around")
	require.NotEqual(t, "admin", foreign.session().User, "the name of a local user is not that of an account")
	status, _, _ = foreign.do(http.MethodGet, conference("shop"), "")
	require.Equal(t, http.StatusNotFound, status)

	ada.inBy("ada")
	status, _, _ = ada.do(http.MethodGet, conference("shop"), "")
	require.Equal(t, http.StatusForbidden, status)
	list := ada.get("/api/v1/users")
	require.Contains(t, list, `"identity":{"issuer":"`+p.issuer+`","subject":"eve","name":"Eve Engineering"}`)
	audit := ada.get("/api/v1/audit?action=signIn")
	require.Contains(t, audit, `"actorName":"Sue Support"`)
	require.Contains(t, audit, `"method":"oidc"`)
	require.Contains(t, ada.get("/api/v1/audit?action=changeUser"), `"change":"claims","name":"Sue Support"`)
	require.Contains(t, sue.get("/password"), "Your password is kept there")
	form := url.Values{"form": {formToken.FindStringSubmatch(sue.get("/password"))[1]}, "next": {password}, "again": {password}}
	status, page, _ := sue.do(http.MethodPost, "/password", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, page, "Your password is kept there")

	again := in.browser()
	again.inBy("sue")
	require.Equal(t, sue.session().User, again.session().User, "the same account is the same user")
}

// An administrator changes of a provider's user only whether the user is disabled.
//
// spec: DASH-03
func TestManagementOfAProvidersUsers(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	p.account("ada", claims("Ada", []string{"qos-admin"}, "*"))
	in.put("root", access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}})
	root, sue := in.in("root"), in.browser()
	sue.inBy("sue")
	path := "/api/v1/users/" + sue.session().User
	put := func(b *browser, body string) int {
		t.Helper()
		_, _, head := b.do(http.MethodGet, path, "")
		status, _, _ := b.do(http.MethodPut, path, body, "Content-Type", "application/json", "If-Match", head.Get("ETag"))
		return status
	}
	require.Equal(t, http.StatusUnprocessableEntity, put(root, `{"roles":["admin"],"scope":{"all":true}}`))
	require.Equal(t, http.StatusUnprocessableEntity, put(root, `{"roles":["support"],"scope":{"apps":["a"]}}`))
	status, _, _ := root.do(http.MethodPut, "/api/v1/users/oidc:x", `{"roles":["support"],"scope":{"all":true}}`, "Content-Type", "application/json", "If-None-Match", "*")
	require.Equal(t, http.StatusUnprocessableEntity, status, "only a sign-in makes one")
	status, _, _ = root.do(http.MethodPost, path+"/password", "")
	require.Equal(t, http.StatusConflict, status)
	status, _, _ = root.do(http.MethodPost, path+"/signout", "")
	require.Equal(t, http.StatusOK, status)
	require.Empty(t, sue.session().User)

	sue.inBy("sue")
	require.Equal(t, http.StatusOK, put(root, `{"roles":["support"],"scope":{"all":true},"disabled":true}`))
	require.Empty(t, sue.session().User, "at once")
	p.account("sue", claims("Sue", []string{"qos-all"}, "*"))
	require.Equal(t, "the user is disabled", in.refused(sue, sue.logIn(sue.begin("/"), "sue"), http.StatusForbidden, "An administrator of qos has disabled your account."))
	require.Equal(t, http.StatusOK, put(root, `{"roles":["support"],"scope":{"all":true}}`))
	sue.inBy("sue")
	require.Equal(t, access.AllRoles, sue.session().Roles, "those of the claims")

	// The provider may take an administrator's role away: one of the store remains.
	ada := in.browser()
	ada.inBy("ada")
	_, _, head := ada.do(http.MethodGet, "/api/v1/users/root", "")
	status, body, _ := ada.do(http.MethodDelete, "/api/v1/users/root", "", "If-Match", head.Get("ETag"))
	require.Equal(t, http.StatusNoContent, status, body) // the first administrator is one of the store
	_, _, head = ada.do(http.MethodGet, "/api/v1/users/admin", "")
	status, body, _ = ada.do(http.MethodDelete, "/api/v1/users/admin", "", "If-Match", head.Get("ETag"))
	require.Equal(t, http.StatusConflict, status, body)
	_, _, head = ada.do(http.MethodGet, path, "")
	status, _, _ = ada.do(http.MethodDelete, path, "", "If-Match", head.Get("ETag"))
	require.Equal(t, http.StatusNoContent, status)
	require.Empty(t, sue.session().User)
}

// The claims of each sign-in decide, for all logins of the user. Without a role or an app they end.
//
// spec: DASH-03
func TestClaimsThatChange(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	in.call("shop")
	const noRole, noApps = "Your account has no role in qos. An administrator can give you one.", "Your account has no app in qos, or too many. An administrator can change that."
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	first, second := in.browser(), in.browser()
	first.inBy("sue")
	p.account("sue", claims("Susan", []string{"qos-engineering"}, "shop"))
	require.Contains(t, first.get(conference("shop")), "Ann Real", "until the next sign-in")
	second.inBy("sue")
	require.NotContains(t, first.get(conference("shop")), "Ann Real")
	require.Equal(t, "Susan", first.session().Name)

	p.account("sue", claims("Susan", []string{"other"}, "shop"))
	third := in.browser()
	require.Equal(t, "no value of the claim of roles is in the map", in.refused(third, third.logIn(third.begin("/"), "sue"), http.StatusForbidden, noRole))
	require.Empty(t, first.session().User)
	require.Empty(t, second.session().User)
	p.account("sue", claims("Susan", []string{"qos-support"}, "shop"))
	first.inBy("sue")
	for _, apps := range [][]string{{}, {""}, strings.Split(strings.Repeat("x,", access.MaxScopeApps)+"y", ",")} {
		for i := range apps {
			apps[i] += strings.Repeat("z", i) // all are different
		}
		p.account("sue", claims("Susan", []string{"qos-support"}, apps...))
		in.refused(third, third.logIn(third.begin("/"), "sue"), http.StatusForbidden, noApps)
	}
	require.Empty(t, first.session().User)

	p.account("new", claims("New", nil, "*"))
	stranger := in.browser()
	in.refused(stranger, stranger.logIn(stranger.begin("/"), "new"), http.StatusForbidden, noRole)
	users, err := in.store.Settings().SettingsPage(t.Context(), "user", "", 0)
	require.NoError(t, err)
	require.Len(t, users, 2, "the first administrator and Sue: a stranger leaves nothing behind")
}

// A collector finishes what another has begun, and any collector serves the login.
//
// spec: DASH-03
func TestAnotherCollectorFinishes(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	in.access("qosaccess/2", p.config())
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	here := in.browser()
	there := &browser{t, in.dashboard("qosaccess/2"), here.http} // cookies ignore ports
	answer := here.logIn(here.begin("/conference?app=shop&id=a&at=1"), "sue")
	status, body, head := there.do(http.MethodGet, answer, "")
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Equal(t, "/conference?app=shop&id=a&at=1", head.Get("Location"))
	require.Equal(t, "Sue", here.session().Name)
	require.Equal(t, "Sue", there.session().Name)
	in.refusedAgain(here, answer)
}

const begunElsewhere = "This sign-in was begun in another browser, or more than 10 minutes ago. Begin again."

// refusedAgain requires that an answer of the provider is refused. Who is signed in remains so.
func (in *installation) refusedAgain(b *browser, answer string) {
	in.t.Helper()
	status, body, _ := b.do(http.MethodGet, answer, "")
	require.Equal(in.t, http.StatusForbidden, status, body)
	require.Contains(in.t, body, begunElsewhere)
}

// An answer is good once, in the browser that began, for the sign-in that it is of.
//
// spec: DASH-03
func TestForgedAndReplayedAnswers(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	p.account("eve", claims("Eve", []string{"qos-support"}, "*"))
	sue, eve := in.browser(), in.browser()

	// Login CSRF: Eve's answer in Sue's browser.
	planted := eve.logIn(eve.begin("/"), "eve")
	in.refused(sue, planted, http.StatusForbidden, begunElsewhere)
	sue.begin("/") // an attempt of her own does not help
	in.refused(sue, planted, http.StatusForbidden, begunElsewhere)

	// Code injection: Eve has Sue's code, and uses it with an attempt of her own.
	stolen, err := url.Parse(sue.logIn(sue.begin("/"), "sue"))
	require.NoError(t, err)
	own, err := url.Parse(eve.begin("/"))
	require.NoError(t, err)
	inject := stolen.Query()
	inject.Set("state", own.Query().Get("state"))
	require.Contains(t, in.refused(eve, "/signin/provider/callback?"+inject.Encode(), http.StatusForbidden,
		"The answer of the identity provider was used already, or it is too old. Begin again."), "invalid_grant", "the verifier is another one")

	// Replay: the whole request with its cookies, after it was used.
	used := sue.logIn(sue.begin("/"), "sue")
	at, err := url.Parse(in.base)
	require.NoError(t, err)
	kept := sue.http.Jar.Cookies(at)
	status, body, _ := sue.do(http.MethodGet, used, "")
	require.Equal(t, http.StatusSeeOther, status, body)
	thief := in.browser()
	thief.http.Jar.SetCookies(at, kept)
	in.refused(thief, used, http.StatusForbidden, "The answer of the identity provider was used already, or it is too old. Begin again.")

	// Mix-up, errors and nonsense.
	answer := func(change ...string) string {
		u, err := url.Parse(eve.begin("/"))
		require.NoError(t, err)
		q := url.Values{"state": {u.Query().Get("state")}, "iss": {p.issuer}, "code": {"c0de-4711"}}
		for i := 0; i < len(change); i += 2 {
			if q.Set(change[i], change[i+1]); change[i+1] == "" {
				q.Del(change[i])
			}
		}
		return "/signin/provider/callback?" + q.Encode()
	}
	const invalid = "The answer of the identity provider is not valid for this sign-in. Begin again."
	in.refused(eve, answer("iss", "https://evil.example"), http.StatusBadGateway, invalid)
	in.refused(eve, answer("iss", ""), http.StatusBadGateway, invalid)
	in.refused(eve, answer("code", ""), http.StatusBadGateway, invalid)
	in.refused(eve, answer("error", "access_denied", "error_description", "<script>"), http.StatusForbidden, "The identity provider did not sign you in.")
	in.refused(eve, answer("error", "<script>"), http.StatusBadGateway, invalid)
	for _, state := range []string{"", "x", access.NewToken(), "../../etc"} {
		in.refused(eve, "/signin/provider/callback?code=c0de-4711&state="+url.QueryEscape(state), http.StatusForbidden, begunElsewhere)
	}

	// The page of another site has no link that begins.
	for _, path := range []string{"/signin/provider", "/signin/provider?start=x", "/signin/provider?start=" + access.NewToken()} {
		status, body, head := eve.do(http.MethodGet, path, "")
		require.Equal(t, http.StatusForbidden, status)
		require.Contains(t, body, "This form is too old")
		require.Empty(t, head.Get("Location"))
	}
	status, body, head := eve.do(http.MethodGet, eve.logIn(eve.begin("https://evil.example/"), "eve"), "")
	require.Equal(t, http.StatusSeeOther, status, body)
	require.Equal(t, "/", head.Get("Location"), "no open redirect")
}

// One network that sends wrong answers has to wait; others do not.
//
// spec: DASH-03
func TestWrongAnswersAreLimited(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	b, attempts, waits, began := in.browser(), 0, 0, time.Now()
	for ; waits < 10; attempts++ {
		u, err := url.Parse(b.begin("/"))
		require.NoError(t, err)
		status, body, head := b.do(http.MethodGet, "/signin/provider/callback?error=x&state="+u.Query().Get("state"), "")
		if status == http.StatusTooManyRequests {
			waits++
			require.Contains(t, body, "Try again in")
			require.NotEmpty(t, head.Get("Retry-After"))
		}
	}
	const atOnce, oneIn = 30, 10 * time.Second
	require.GreaterOrEqual(t, attempts-waits, atOnce)
	require.LessOrEqual(t, attempts-waits, atOnce+1+int(time.Since(began)/oneIn))
	require.LessOrEqual(t, in.logs.FilterMessage("the sign-in at the identity provider failed").Len(), attempts)
}

// A provider that is away stops neither the start nor local users. It is used as soon as it answers.
//
// spec: DASH-03
func TestProviderAway(t *testing.T) {
	t.Parallel()
	const away = "The identity provider does not answer at the moment. Try again later, or sign in with a password."
	p := startProvider(t)
	port := p.issuer[strings.LastIndex(p.issuer, ":")+1:]
	p.do(`{"down":true}`)
	in := start(t, p.config())
	in.put("local", access.User{Roles: []access.Role{access.Support}, Scope: access.Scope{All: true}})
	in.in("local")
	b := in.browser()
	link := func() string {
		return strings.ReplaceAll(providerLink.FindStringSubmatch(b.get("/signin"))[1], "&amp;", "&")
	}
	require.Contains(t, in.refused(b, link(), http.StatusServiceUnavailable, away), "connection refused")

	p.listen(port)
	p.register()
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	require.Eventually(t, func() bool { // one attempt a second
		status, _, _ := b.do(http.MethodGet, link(), "")
		return status == http.StatusSeeOther
	}, 10*time.Second, 50*time.Millisecond)
	b.inBy("sue")

	// It goes away between the visitor's return and the exchange of the code.
	c := in.browser()
	answer := c.logIn(c.begin("/"), "sue")
	p.do(`{"down":true}`)
	in.refused(c, answer, http.StatusServiceUnavailable, away)
	require.Equal(t, "Sue", b.session().Name, "logins need no provider")
	in.in("local")
	p.listen(port)
	p.register()
	c.inBy("sue")
}

// A slow provider is waited for, as long as the configuration says.
//
// spec: DASH-03
func TestASlowProvider(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t, func(c *accessextension.OIDCConfig) { c.HTTP.Timeout = 4 * time.Second })
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	p.do(`{"delayMs":200}`)
	b := in.browser()
	b.inBy("sue")
	answer := b.logIn(b.begin("/"), "sue")
	p.do(`{"delayMs":60000}`)
	c := in.browser()
	c.http.Jar = b.http.Jar
	status, body, _ := c.do(http.MethodGet, answer, "")
	require.Equal(t, http.StatusServiceUnavailable, status, body)
	require.Contains(t, body, "The identity provider does not answer at the moment.")
	require.Equal(t, "Sue", b.session().Name, "who is signed in remains so")
}

// Clocks that differ by ten minutes are named; four minutes are no problem.
//
// spec: DASH-03
func TestTheProvidersClock(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	const differ = "The clocks of qos and of the identity provider differ by more than 5 minutes. An administrator of qos can find the reason in the collector's log."
	for ms, right := range map[string]bool{"600000": false, "-600000": false, "240000": true, "-240000": true} {
		p.do(`{"clockMs":` + ms + `}`)
		b := in.browser()
		if right {
			b.inBy("sue")
			continue
		}
		require.Contains(t, in.refused(b, b.logIn(b.begin("/"), "sue"), http.StatusBadGateway, differ), "was issued at")
	}
}

// Keys that the provider has changed between two sign-ins are fetched.
//
// spec: DASH-03
func TestTheProvidersKeysRotate(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	in.browser().inBy("sue")
	p.do(`{"rotate":true}`)
	b := in.browser()
	b.inBy("sue")
	require.Equal(t, "Sue", b.session().Name)
}

// Sign-out ends the login, and offers to end the session at the provider.
//
// spec: DASH-03
func TestSignOutOfAProvidersUser(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	b := in.browser()
	b.inBy("sue")
	form := formToken.FindStringSubmatch(b.get("/password"))[1]
	status, _, head := b.do(http.MethodPost, "/signout", "form="+form, "Content-Type", "application/x-www-form-urlencoded")
	require.Equal(t, http.StatusSeeOther, status)
	require.Empty(t, b.session().User)
	page := b.get(head.Get("Location"))
	require.Contains(t, page, "You are signed out. You may still be signed in with Example ID.")
	require.Contains(t, page, p.issuer+"/session/end?client_id=qos&amp;post_logout_redirect_uri=http%3A%2F%2F127.0.0.1%3A1%2Fsignin")
}

// A provider that the configuration has no longer signs in nobody, and its logins end.
//
// spec: DASH-03
func TestAnotherProvider(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t)
	p.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	here := in.browser()
	here.inBy("sue")
	user := here.session().User
	in.access("qosaccess/none")
	none := &browser{t, in.dashboard("qosaccess/none"), here.http}
	require.Empty(t, none.session().User)
	require.NotContains(t, none.get("/signin"), "/signin/provider")

	other := startProvider(t)
	other.register()
	other.account("sue", claims("Sue", []string{"qos-support"}, "*"))
	in.access("qosaccess/other", other.config())
	base := in.dashboard("qosaccess/other")
	require.Empty(t, (&browser{t, base, here.http}).session().User)
	b := in.browser()
	b.base = base
	b.inBy("sue")
	require.NotEqual(t, user, b.session().User, "the same subject of another issuer")
}

// The audit log has the user in attempts that failed, too.
//
// spec: DASH-03
func TestFailedSignInsAtAProviderAreAudited(t *testing.T) {
	t.Parallel()
	in, p := withProvider(t, func(c *accessextension.OIDCConfig) { c.Apps.Claim, c.Apps.List = "", []string{"shop"} })
	p.account("sue", claims("Sue", []string{"other"}))
	b := in.browser()
	in.refused(b, b.logIn(b.begin("/"), "sue"), http.StatusForbidden, "Your account has no role in qos. An administrator can give you one.")
	entries, err := in.store.Accounts().AuditPage(t.Context(), storage.AuditQuery{})
	require.NoError(t, err)
	require.Len(t, entries, 1)
	require.Equal(t, access.ActionSignInFail, entries[0].Action)
	identity := access.Identity{Issuer: p.issuer, Subject: "sue"}
	require.Equal(t, identity.UserName(), entries[0].Actor)
	require.JSONEq(t, `{"reason":"role","network":"127.0.0.0/24"}`, string(entries[0].Body))
}
