package accessextension

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/qosrtc/qos/extensions/accessextension/internal/metadatatest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

const (
	good  = "correct horse battery"
	other = "another horse battery"
)

// The first start makes an administrator, whose password is printed once and must be changed.
//
// spec: DASH-03
func TestTheFirstAdministrator(t *testing.T) {
	store := newStore(t)
	r := startOn(t, store)
	first := r.password()
	require.Empty(t, startOn(t, store).printed.String(), "the next start, or another collector")

	b := r.browser()
	a := b.signIn("admin", first)
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/password", a.header.Get("Location"))
	require.Equal(t, http.StatusForbidden, b.get("/api/v1/users").status, "nothing before the change")
	require.Contains(t, b.get("/password").body, "Another person has seen your password")
	for next, want := range map[string]string{"short": "must have 12 to 128", "password1234": "must not be a common", first: "is the present one"} {
		a = b.fill("/password", "/password", "current", first, "next", next, "again", next)
		require.Equal(t, http.StatusUnprocessableEntity, a.status)
		require.Contains(t, a.body, want)
	}
	require.Contains(t, b.fill("/password", "/password", "current", first, "next", good, "again", other).body, "differ")
	a = b.fill("/password", "/password", "current", "wrong", "next", good, "again", good)
	require.Equal(t, http.StatusForbidden, a.status)
	require.Contains(t, a.body, "The present password is wrong")
	require.Equal(t, http.StatusSeeOther, b.fill("/password", "/password", "current", first, "next", good, "again", good).status)
	require.Equal(t, http.StatusOK, b.get("/api/v1/users").status)
	require.Equal(t, http.StatusUnauthorized, r.browser().signIn("admin", first).status, "the printed password has ended")
	require.Equal(t, "admin", r.in(" Admin ", good).who())
	require.Equal(t, []string{"admin signIn", "admin password admin", "admin signIn", "admin signInFailed", "admin signIn"}, r.audited())
}

// A wrong password and an unknown user get the same answer.
//
// spec: DASH-03
func TestNoEnumeration(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	r.user("eve", func(u *access.User) { u.Disabled = true })
	r.user("sso", func(u *access.User) { u.Password = "" })
	var texts []string
	for _, attempt := range [][2]string{{"ada", other}, {"bob", good}, {"eve", good}, {"sso", good}, {"no name", good}, {"ada", ""}, {"ada", strings.Repeat("x", 4000)}} {
		b := r.browser()
		a := b.signIn(attempt[0], attempt[1])
		require.Equal(t, http.StatusUnauthorized, a.status, attempt[0])
		require.Empty(t, b.who())
		text := formToken.ReplaceAllString(a.body, "")
		texts = append(texts, strings.ReplaceAll(text, `value="`+attempt[0]+`"`, ""))
		if attempt[1] != "" {
			require.NotContains(t, a.body, attempt[1])
		}
	}
	for _, text := range texts {
		require.Equal(t, texts[0], text)
	}
	for _, line := range r.audited() {
		require.NotContains(t, line, "bob", "an unknown name may be a password in the wrong field")
	}
}

// Failed attempts have to wait, and time forgives them.
//
// spec: DASH-03
func TestLockOut(t *testing.T) {
	t.Parallel()
	r := startOn(t, newStore(t))
	r.user("ada")
	r.user("bob")
	b := r.browser()
	for range 5 {
		require.Equal(t, http.StatusUnauthorized, b.signIn("ada", other).status)
	}
	a := b.signIn("ada", good)
	require.Equal(t, http.StatusTooManyRequests, a.status, "the right password, too")
	require.Equal(t, "60", a.header.Get("Retry-After"))
	require.Contains(t, a.body, "Try again in 60 seconds")
	require.Equal(t, "bob", r.in("bob", good).who())
	r.clock.set(r.clock.now().Add(time.Minute - time.Millisecond))
	a = b.signIn("ada", good)
	require.Equal(t, http.StatusTooManyRequests, a.status)
	require.Equal(t, "1", a.header.Get("Retry-After"))
	r.clock.set(t0.Add(time.Minute))
	require.Equal(t, "ada", r.in("ada", good).who(), "the promise is kept")

	throttled := 0
	for range 40 { // one network, many names
		if b.signIn("user"+access.NewToken()[:6], other).status == http.StatusTooManyRequests {
			throttled++
		}
	}
	require.Positive(t, throttled)
}

// Forged, stale, replayed and foreign forms change nothing.
//
// spec: DASH-03
func TestForms(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b := r.browser()
	foreign := formToken.FindStringSubmatch(r.browser().get("/signin").body)[1]
	b.get("/signin")
	for _, form := range []string{"", "x", foreign, access.NewToken()} {
		a := b.submit("/signin", "user", "ada", "password", good, "form", form)
		require.Equal(t, http.StatusForbidden, a.status)
		require.Contains(t, a.body, "This form is too old")
		require.Empty(t, b.who())
	}
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, "/signin", strings.Repeat("x", maxFormBytes+1), "Content-Type", "application/x-www-form-urlencoded").status)
	require.Equal(t, http.StatusForbidden, b.do(http.MethodPost, "/signin", "{}", "Content-Type", "application/json").status)

	b = r.in("ada", good)
	for _, form := range []string{"", foreign} {
		require.Equal(t, http.StatusForbidden, b.submit("/signout", "form", form).status)
		require.Equal(t, http.StatusForbidden, b.submit("/password", "form", form, "current", good, "next", other, "again", other).status)
	}
	require.Equal(t, "ada", b.who())
	require.Equal(t, "ada", r.in("ada", good).who(), "the password is as it was")
	metadatatest.AssertEqualQosaccessSignIns(t, r.telemetry, []metricdata.DataPoint[int64]{outcomes("form", 6), outcomes("success", 2)},
		metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func outcomes(outcome string, n int64) metricdata.DataPoint[int64] {
	return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("outcome", outcome))}
}

// Sign-out ends the login, not only the cookie.
//
// spec: DASH-03
func TestSignOut(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b, second := r.in("ada", good), r.in("ada", good)
	at, err := url.Parse(r.url)
	require.NoError(t, err)
	kept := b.http.Jar.Cookies(at)
	a := b.fill("/password", "/signout")
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/signin?out", a.header.Get("Location"))
	require.Contains(t, b.get("/signin?out").body, "You are signed out.")
	require.Empty(t, b.who())
	b.http.Jar.SetCookies(at, kept)
	require.Empty(t, b.who(), "a cookie that somebody kept")
	require.Equal(t, "ada", second.who(), "another browser")
	require.Equal(t, []string{"ada signIn", "ada signIn", "ada signOut"}, r.audited())
}

// A login ends with time, and is used as long as it is used.
//
// spec: DASH-03
func TestLoginsEnd(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	idle, used := r.in("ada", good), r.in("ada", good)
	for range 12 {
		require.Equal(t, "ada", used.who())
		r.clock.set(r.clock.now().Add(59 * time.Minute))
	}
	require.Empty(t, idle.who())
	require.Equal(t, "ada", used.who())
	r.clock.set(t0.Add(12 * time.Hour))
	require.Empty(t, used.who(), "the absolute limit")
	r.clock.set(r.clock.now().Add(time.Second))
	r.sweep(t.Context(), r.clock.now())
	_, err := r.store.Login(t.Context(), access.Digest(cookieOf(used)))
	require.ErrorIs(t, err, storage.ErrNoLogin)
}

func cookieOf(b *browser) string {
	at, _ := url.Parse(b.base)
	for _, c := range b.http.Jar.Cookies(at) {
		if c.Name == access.LoginCookie {
			return c.Value
		}
	}
	return ""
}

// A user who is disabled, or has another password or role, is so at once at every collector.
//
// spec: DASH-03
func TestChangesOfAUserTakeEffectAtOnce(t *testing.T) {
	store := newStore(t)
	r, second := startOn(t, store), startOn(t, store)
	r.user("ada")
	change := func(f func(*access.User)) {
		t.Helper()
		u, revision, err := r.readUser(t.Context(), "ada")
		require.NoError(t, err)
		f(&u)
		_, err = r.putUser(t.Context(), "ada", u, revision)
		require.NoError(t, err)
	}
	here := r.in("ada", good)
	there := &browser{t, second.url, here.http} // cookies ignore ports
	require.Equal(t, "ada", there.who(), "any collector serves any login")
	require.Equal(t, http.StatusForbidden, there.get("/api/v1/users").status)
	change(func(u *access.User) { u.Roles = []access.Role{access.Admin} })
	require.Equal(t, http.StatusOK, there.get("/api/v1/users").status)
	change(func(u *access.User) { u.Scope = access.Scope{Apps: []string{"a"}} })
	require.Equal(t, http.StatusForbidden, there.get("/api/v1/users").status)
	change(func(u *access.User) { u.Disabled = true })
	require.Empty(t, there.who())
	change(func(u *access.User) { u.Disabled = false })
	require.Equal(t, "ada", there.who())
	change(func(u *access.User) { u.Generation++ })
	require.Empty(t, there.who())

	old := second.in("ada", good)
	current := r.in("ada", good)
	require.Equal(t, http.StatusSeeOther, current.fill("/password", "/password", "current", good, "next", other, "again", other).status)
	require.Equal(t, "ada", current.who(), "who changes it stays signed in")
	require.Empty(t, old.who())
	require.NoError(t, store.DeleteSetting(t.Context(), kindUser, "ada", revisionOf(r, "ada")))
	require.Empty(t, current.who())
}

func revisionOf(r *running, name string) int64 {
	_, revision, err := r.readUser(r.t.Context(), name)
	require.NoError(r.t, err)
	return revision
}

// Cookies that no sign-in made are nobody's.
//
// spec: DASH-03
func TestForgedCookies(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b := r.in("ada", good)
	value := cookieOf(b)
	planted := r.browser()
	for _, cookie := range []string{
		"", "qos-login=", "qos-login=x", "qos-login=" + access.NewToken(), "qos-login=" + value[1:], "__Host-qos-login=" + value,
		"qos-login=" + value + "; qos-login=" + access.NewToken(), "qos-form=" + value, "qos-login=" + access.FormToken(value),
	} {
		require.Equal(t, http.StatusUnauthorized, planted.do(http.MethodGet, "/api/session", "", "Cookie", cookie).status, cookie)
	}
	require.Equal(t, http.StatusOK, planted.do(http.MethodGet, "/api/session", "", "Cookie", "qos-login="+value).status)
	page, err := r.store.AuditPage(t.Context(), storage.AuditQuery{})
	require.NoError(t, err)
	for i := range page {
		require.NotContains(t, string(page[i].Body), value)
	}
	l, err := r.store.Login(t.Context(), access.Digest(value))
	require.NoError(t, err)
	require.NotContains(t, string(l.ID), value, "the store has a digest")
}

// Sign-in makes a new login: a cookie that was planted before is not the user's (session fixation).
//
// spec: DASH-03
func TestNoFixation(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	r.user("eve")
	b := r.in("eve", good)
	before := cookieOf(b)
	require.Equal(t, http.StatusSeeOther, b.signIn("ada", good).status)
	require.NotEqual(t, before, cookieOf(b))
	require.Equal(t, http.StatusUnauthorized, r.browser().do(http.MethodGet, "/api/session", "", "Cookie", "qos-login="+before).status)
}

// Sign-in leads to where the visitor wanted to go, on this server only.
func TestWhereSignInLeads(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	a := r.browser().get("/password?x=1")
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, "/signin?to=%2Fpassword%3Fx%3D1", a.header.Get("Location"))
	for to, want := range map[string]string{
		"/conference?app=a&id=b": "/conference?app=a&id=b", "": "/", "https://evil.example": "/", "//evil.example": "/", `/\evil.example`: "/",
		"/\t/evil.example": "/", "/signin": "/", "/" + strings.Repeat("x", 2000): "/",
	} {
		b := r.browser()
		a := b.fill("/signin?to="+url.QueryEscape(to), "/signin", "user", "ada", "password", good, "to", to)
		require.Equal(t, http.StatusSeeOther, a.status)
		require.Equal(t, want, a.header.Get("Location"), to)
	}
}

// A link signs in once, for some minutes.
//
// spec: DASH-03
func TestLink(t *testing.T) {
	withLink := func(c *Config) { c.SignInURL = "http://localhost:8481/" }
	store := newStore(t)
	r := startOn(t, store, withLink)
	token := func(r *running) string {
		t.Helper()
		_, link, ok := strings.Cut(r.printed.String(), "http://localhost:8481/signin/link?token=")
		require.True(t, ok, r.printed.String())
		return strings.TrimSpace(link)
	}
	used, page := token(r), "/signin/link?token="
	b := r.browser()
	require.Equal(t, http.StatusOK, b.get(page+used).status)
	require.Empty(t, b.who(), "following it does not sign in")
	a := b.fill(page+used, "/signin/link", "token", used)
	require.Equal(t, "/", a.header.Get("Location"), a.body)
	require.Equal(t, "admin", b.who())
	again := r.browser()
	require.Equal(t, http.StatusUnauthorized, again.fill(page+used, "/signin/link", "token", used).status, "once")
	require.Empty(t, again.who())
	require.Equal(t, http.StatusOK, b.get("/api/v1/users").status, "the password is not asked for, and need not be changed")
	a = b.fill("/password", "/password", "next", good, "again", good)
	require.Equal(t, http.StatusSeeOther, a.status, "a lost password is replaced like this: %s", a.body)
	require.Equal(t, "admin", r.in("admin", good).who())

	late := startOn(t, store, withLink)
	stale := token(late)
	late.clock.set(t0.Add(linkFor + time.Second))
	for _, bad := range []string{used, stale, "", "x", access.NewToken()} {
		c := late.browser()
		a := c.fill(page+url.QueryEscape(bad), "/signin/link", "token", bad)
		require.Equal(t, http.StatusUnauthorized, a.status)
		require.Contains(t, a.body, "This link was used, or it is too old.")
		require.Empty(t, c.who())
	}
	startOn(t, store, withLink)
	late.clock.set(t0.Add(time.Hour))
	late.sweep(t.Context(), late.clock.now())
	links, err := store.SettingsPage(t.Context(), kindLink, "", 0)
	require.NoError(t, err)
	require.Empty(t, links)
}

// While the store does not answer nobody gets in, nobody is taken for a stranger, and nothing is lost.
//
// spec: DASH-03
func TestStoreAway(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b, c := r.in("ada", good), r.browser()
	c.get("/signin")
	r.accounts.err = errors.New("the connection broke")
	require.Equal(t, http.StatusServiceUnavailable, b.get("/api/session").status)
	a := c.signIn("ada", good)
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.Contains(t, a.body, "The store does not answer")
	require.Empty(t, a.header.Get("Set-Cookie"), "no login without its audit entry")
	r.accounts.err = nil
	require.Equal(t, "ada", b.who())
	require.Empty(t, c.who())
}

// A change of the password that the store fails is no failed attempt, and leaves the password as it is.
//
// spec: DASH-03
func TestPasswordWhileTheStoreIsAway(t *testing.T) {
	t.Parallel()
	r := startOn(t, newStore(t))
	r.user("ada")
	b := r.in("ada", good)
	change := func() answer {
		return b.fill("/password", "/password", "current", good, "next", other, "again", other)
	}
	r.accounts.unwritten = errors.New("the connection broke")
	for range 10 {
		a := change()
		require.Equal(t, http.StatusServiceUnavailable, a.status, a.body)
		require.Contains(t, a.body, "The store does not answer")
	}
	require.Equal(t, "ada", b.who())
	r.accounts.unwritten = nil
	require.Equal(t, "ada", r.in("ada", good).who(), "nobody has to wait")
	a := change()
	require.Equal(t, http.StatusSeeOther, a.status, a.body)
	require.Equal(t, "ada", r.in("ada", other).who())
}

func TestStartNeedsAStore(t *testing.T) {
	k := newKeeper(createDefaultConfig().(*Config), component.TelemetrySettings{}, nil)
	require.ErrorContains(t, k.Start(t.Context(), componenttest.NewNopHost()), `extension "qosstorage" is not there`)
	require.ErrorContains(t, k.Start(t.Context(), hostWith(nil, nil)), "has not been started")
}
