package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// origins are who may speak from where, and for whom.
//
// spec: AUTH-02, AUTH-03
func (s *site) origins() map[string]subject {
	return map[string]subject{
		"OtherOrigin": s.isElsewhere, "StolenToken": s.stealsToken, "StolenSession": s.stealsSession, "SameOrigin": s.isOnTheOrigin,
	}
}

// isElsewhere: a page of an origin that is not listed is refused at the login, and gets the reason.
func (s *site) isElsewhere(t *testing.T, w *windows) {
	t.Helper()
	for name, secret := range map[string]string{
		"elsewhere":       quote(appSecret),
		"elsewhere-token": gives(s.agent.sign(t, appID, "eve", time.Hour)),
	} {
		v := w.visit(t, otherOrigin, name, "")
		v.begin(appID, secret, "eve", s.collector.receiver)
		d := v.rests("authError")
		require.Contains(t, d.Account.Init[0][1], "origin")
		require.Equal(t, http.StatusForbidden, d.Posts[len(d.Posts)-1].Status)
		require.Empty(t, d.Hellos)
	}
	v := w.visit(t, otherOrigin, "anywhere", "")
	v.begin(openAppID, quote(openAppSecret), "eve", s.collector.receiver)
	v.connects() // an application without a list takes pages from anywhere
}

// stealsToken: a token that a page got is of no use at another origin, whatever the list.
func (s *site) stealsToken(t *testing.T, w *windows) {
	t.Helper()
	for app, secret := range map[string]string{appID: appSecret, openAppID: openAppSecret} {
		victim := w.visit(t, appOrigin, "robbed-"+app, "")
		victim.begin(app, quote(secret), "eve", s.collector.receiver)
		d := victim.connects()

		thief := w.visit(t, otherOrigin, "thief-"+app, "")
		thief.eval("forge = () => "+quote(d.Posts[1].Text), nil)
		thief.begin(app, gives("anything"), "eve", s.collector.receiver)
		said := thief.rests("success", "authError").Hellos
		require.Len(t, said, 2, "one fresh login, no more")
		require.Equal(t, d.Hellos[0].Token, said[1].Token)
		require.Equal(t, d.Hellos[0].Session, said[1].Session)
		require.Equal(t, []string{"success"}, victim.diary().csErrors())
	}
}

// stealsSession: who is logged in as another user cannot go on with a session.
func (s *site) stealsSession(t *testing.T, w *windows) {
	t.Helper()
	victim := w.visit(t, appOrigin, "session", "")
	victim.begin(appID, quote(appSecret), "eve", s.collector.receiver)
	session := victim.connects().Hellos[0].Session

	thief := w.visit(t, appOrigin, "session-thief", "")
	thief.eval(`forge = (text) => text.replace(/"session":"[^"]*"/, '"session":"`+session+`"')`, nil)
	thief.begin(appID, gives(s.agent.sign(t, appID, "mallory", time.Hour)), "mallory", s.collector.receiver)
	d := thief.rests("success", "authError")
	require.Equal(t, session, d.Hellos[0].Session)
	require.Equal(t, []string{"success"}, victim.diary().csErrors())
}

// isOnTheOrigin: the collector stands on the application's own origin, for which the browser
// has a cookie. checkLogs sees what became of it.
func (s *site) isOnTheOrigin(t *testing.T, w *windows) {
	t.Helper()
	v := w.visit(t, appOrigin, "same-origin", "")
	v.beginAt(appID, quote(appSecret), "eve", appOrigin+"/qos/"+v.name+"/"+port(t, s.collector.receiver)+"/")
	v.connects()
}

// tokenStart is how tokens start, those of agents and those of collectors: {"  in base64.
const tokenStart = "eyJ"

// checkLogs: what everybody can read who has the logs. No token and no secret stands there,
// and the collector got no cookie.
func (s *site) checkLogs(t *testing.T) {
	posts, cookies := 0, 0
	for _, one := range s.accesses(t) {
		require.NotContains(t, one.Request+one.Referer, tokenStart)
		switch {
		case one.Host == "qos.test":
			require.Empty(t, one.Cookie, one.Request)
		case strings.HasPrefix(one.Request, "POST /qos/"):
			require.Empty(t, one.Cookie, one.Request)
			posts++
		case strings.HasPrefix(one.Request, "POST /token") && strings.Contains(one.Cookie, "login="):
			cookies++
		}
	}
	require.GreaterOrEqual(t, posts, 2*len(browserKinds()), "each browser logged in on the application's origin")
	require.GreaterOrEqual(t, cookies, 3*len(browserKinds()), "each browser has a cookie for it, which the agent got")
	log := s.collector.out.String()
	for _, hidden := range []string{tokenStart, appSecret, openAppSecret, sharedKey} {
		require.NotContains(t, log, hidden)
	}
	require.Contains(t, log, otherOrigin, "an origin that is refused is logged")
}
