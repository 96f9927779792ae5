package accessextension

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/netip"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// flood uses up the limits of ada from everywhere.
func (r *running) flood() {
	for n := range 200 {
		network := netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(n), 1}), 32)
		r.lockout.Begin(access.Source{User: "ada", Network: network}, r.clock.now())
	}
}

// A user whom strangers lock out from everywhere signs in where they signed in before, at each collector, and
// nowhere else: the cookie names its user.
//
// spec: DASH-03
func TestKnownDeviceIsNotLockedOut(t *testing.T) {
	store := newStore(t)
	r, second := startOn(t, store), startOn(t, store)
	r.user("ada")
	r.user("eve")
	known, foreign := r.in("ada", good), r.in("eve", good)
	r.flood()
	second.flood()
	require.Equal(t, http.StatusTooManyRequests, r.browser().signIn("ada", good).status)
	require.Equal(t, http.StatusTooManyRequests, foreign.signIn("ada", good).status)
	require.Equal(t, http.StatusSeeOther, known.signIn("ada", good).status)
	there := &browser{t, second.url, known.http} // cookies ignore ports
	require.Equal(t, http.StatusSeeOther, there.signIn("ada", good).status, "any collector knows any device")

	for range 10 {
		require.Equal(t, http.StatusUnauthorized, known.signIn("ada", other).status)
	}
	a := known.signIn("ada", good)
	require.Equal(t, http.StatusTooManyRequests, a.status, "who has the device has no more tries than others")
	require.Equal(t, "60", a.header.Get("Retry-After"))
	r.clock.set(t0.Add(time.Minute))
	require.Equal(t, http.StatusSeeOther, known.signIn("ada", good).status)

	r.clock.set(t0.Add(time.Minute + access.DeviceLife))
	r.flood()
	require.Equal(t, http.StatusTooManyRequests, known.signIn("ada", good).status, "the cookie has ended")
}

// The page on which a visitor changes the password is not locked by strangers, and has a limit of its own.
//
// spec: DASH-03
func TestVisitorIsNotLockedOut(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b := r.in("ada", good)
	r.flood()
	change := func(current string) int {
		return b.fill("/password", "/password", "current", current, "next", other, "again", other).status
	}
	for range 10 {
		require.Equal(t, http.StatusForbidden, change("a wrong password"))
	}
	require.Equal(t, http.StatusTooManyRequests, change(good))
	r.clock.set(t0.Add(time.Minute))
	require.Equal(t, http.StatusSeeOther, change(good))
}

// The cookie is one that scripts and other sites do not get, and is another one after each sign-in. Users of a
// provider have none.
//
// spec: DASH-03
func TestDeviceCookie(t *testing.T) {
	r := startOn(t, newStore(t))
	r.user("ada")
	b := r.browser()
	device := func() string {
		t.Helper()
		a := b.signIn("ada", good)
		require.Equal(t, http.StatusSeeOther, a.status)
		for _, line := range a.header.Values("Set-Cookie") {
			c, err := http.ParseSetCookie(line)
			require.NoError(t, err)
			if c.Name == access.DeviceCookie {
				require.True(t, c.HttpOnly)
				require.Equal(t, http.SameSiteLaxMode, c.SameSite)
				require.Equal(t, int(access.DeviceLife/time.Second), c.MaxAge)
				return c.Value
			}
		}
		return ""
	}
	first := device()
	require.NotEmpty(t, first)
	require.NotEqual(t, first, device())
	require.Equal(t, http.StatusUnauthorized, r.browser().do(http.MethodGet, "/api/session", "", "Cookie", access.DeviceCookie+"="+first).status, "it is no login")
	a := b.signIn("ada", other)
	require.Equal(t, http.StatusUnauthorized, a.status)
	require.NotContains(t, fmt.Sprint(a.header.Values("Set-Cookie")), access.DeviceCookie)
}

// Collectors that start or roll the keys at the same time have the same ones.
//
// spec: DASH-03
func TestDeviceKeysOfAllCollectors(t *testing.T) {
	store := newStore(t)
	var all [4]*running
	for i := range all {
		all[i] = prepare(t, store)
		all[i].settings = store
	}
	for month := range 8 {
		var wg sync.WaitGroup
		for _, r := range all {
			r.clock.set(t0.AddDate(0, month, 0))
			wg.Go(func() {
				if err := r.readDevices(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, r := range all[1:] {
			require.Equal(t, *all[0].devices.Load(), *r.devices.Load())
		}
	}
	s, err := store.Setting(t.Context(), kindDevices, idDevices)
	require.NoError(t, err)
	s.Body = []byte(`{"keys":[{"key":""}]}`)
	_, err = store.PutSetting(t.Context(), s)
	require.NoError(t, err)
	require.Error(t, all[0].readDevices(t.Context()))
	require.NotEmpty(t, all[0].devices.Load().Keys, "the keys that were read before verify still")
	require.NotErrorIs(t, err, storage.ErrConflict)
}

// 40 sign-ins at once from new addresses hold nobody up: neither a known device nor another new address is refused.
//
// spec: DASH-03
func TestFloodOfSignIns(t *testing.T) {
	r := startOn(t, newStore(t), func(c *Config) { c.TrustedProxies = []string{"127.0.0.1"} })
	r.user("ada")
	r.user("bob")
	known := r.in("ada", good)
	at, err := url.Parse(r.url)
	require.NoError(t, err)
	fresh := r.browser()
	form := formToken.FindStringSubmatch(fresh.get("/signin").body)[1]
	cookies := fresh.http.Jar.Cookies(at)
	from := func(n int, user, password string) int {
		jar, _ := cookiejar.New(nil)
		jar.SetCookies(at, cookies)
		b := &browser{t, r.url, http.Client{Jar: jar, CheckRedirect: fresh.http.CheckRedirect}}
		return b.do(http.MethodPost, "/signin", url.Values{"user": {user}, "password": {password}, "form": {form}}.Encode(),
			"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", fmt.Sprintf("203.0.113.%d", n)).status
	}
	var wg sync.WaitGroup
	statuses := make(chan int, 40)
	for n := range 40 {
		wg.Go(func() { statuses <- from(n, fmt.Sprintf("user%d", n), other) })
	}
	require.Equal(t, http.StatusSeeOther, known.signIn("ada", good).status)
	require.Equal(t, http.StatusSeeOther, from(200, "bob", good))
	wg.Wait()
	close(statuses)
	for status := range statuses {
		require.Equal(t, http.StatusUnauthorized, status)
	}
}
