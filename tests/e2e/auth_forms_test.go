package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
)

// A session token is good for two hours and renewed at about 90 % of them.
const (
	tokenMs      = 7_200_000
	renewalMinMs = 6_120_000
	renewalMaxMs = 6_840_000
)

// forms are both forms of initialize(), from the login through a call to its end.
func (s *site) forms() map[string]subject {
	return map[string]subject{
		"Secret": func(t *testing.T, w *windows) {
			t.Helper()
			d := w.liveOn(t, "secret", quote(appSecret))
			require.Empty(t, d.Asked)
			for _, p := range d.Posts {
				require.NotContains(t, p.Body, appSecret, "the secret stays in the page")
			}
		},
		"Agent": func(t *testing.T, w *windows) {
			t.Helper()
			d := w.liveOn(t, "agent", "agent('/token')")
			require.Equal(t, []bool{false, true, false}, d.Asked, "a renewal takes nothing from a cache")
			w.checkAudit(t, d)
		},
	}
}

// liveOn goes through a call whose session outlives its tokens: one is renewed in time, the
// connection breaks, another is over. All of it is one session, and nothing is lost or
// stands twice.
//
// spec: AUTH-02
func (w *windows) liveOn(t *testing.T, name, secret string) diary {
	t.Helper()
	f := startFront(t, false, w.collector)
	v := w.visit(t, appOrigin, name, "")
	room := "a call by " + v.name
	one := &story{kind: w.kind, outcome: "success", stores: newStores(t, w.collector), tab: &tab{page: v.page, front: f, room: room}}
	v.begin(appID, secret, w.user(), f.url)
	v.connects()
	v.eval("call("+quote(room)+")", nil)
	one.tab.delivers(10)

	var renewed int
	v.eval(fmt.Sprintf("elapse(%d, %d)", renewalMinMs, renewalMaxMs), &renewed)
	require.Equal(t, 1, renewed, "it waits to renew its token")
	v.waits("has a second token", func(d diary) bool { return len(d.grants(t)) == 2 })
	one.tab.delivers(4)
	require.Equal(t, 1, one.tab.hellos(), "a renewal disturbs no connection")
	f.reset()
	one.tab.reconnects(1)
	f.say(`{"type":"bye","code":"token_expired","csError":"authError","message":"over","retry":true}`)
	one.tab.reconnects(2)

	d := v.diary()
	checkTokens(t, d)
	var said string
	v.eval("finish("+quote(room)+")", &said)
	require.Equal(t, "success", said)
	d = v.diary()
	require.Equal(t, []string{"success"}, d.csErrors(), "the page never hears of it")
	one.tabs = append(one.tabs, d.Account)
	w.logins.tell(one)
	return d
}

// checkTokens: three tokens, each used for the connection after it came; one session.
func checkTokens(t *testing.T, d diary) {
	t.Helper()
	grants := d.grants(t)
	require.Len(t, grants, 3)
	require.Len(t, d.Hellos, 3)
	for i, said := range d.Hellos {
		require.Equal(t, grants[i].Token, said.Token)
		require.True(t, strings.HasPrefix(said.Token, tokenStart))
		require.Equal(t, grants[0].Session, said.Session, "the session of the first token")
		require.Equal(t, tokenMs, int(grants[i].ExpiresInMs))
	}
	require.NotEqual(t, grants[0].Token, grants[1].Token)
	require.NotEqual(t, grants[1].Token, grants[2].Token)
	require.True(t, slices.ContainsFunc(d.Waiting, func(ms float64) bool { return ms >= renewalMinMs && ms <= renewalMaxMs }), "the last one is renewed too")
}

// say has every WebSocket that is open hear a message that the collector did not send.
func (f *front) say(message string) {
	f.each(func(l *link) {
		l.gate.Lock() // nobody else writes meanwhile
		defer l.gate.Unlock()
		_ = l.page.WriteMessage(websocket.TextMessage, []byte(message)) // the page may be gone
	})
}

// checkAudit: the collector's log names each token of the agent and its key, and has none.
//
// spec: AUTH-04
func (w *windows) checkAudit(t *testing.T, d diary) {
	t.Helper()
	log := w.collector.out.String()
	var named []string
	for _, p := range d.Posts {
		var sent struct{ Type, JWT string }
		if json.Unmarshal([]byte(p.Body), &sent) != nil || sent.Type != "jwt" {
			continue
		}
		claims := claimsOf(t, sent.JWT)
		require.Equal(t, w.agent.key.ID(), claims.KeyID)
		require.Equal(t, w.user(), claims.UserID)
		require.False(t, slices.Contains(named, claims.ID), "each has a jti of its own")
		named = append(named, claims.ID)
		i := strings.Index(log, claims.ID)
		require.Positive(t, i, "the audit log has the jti")
		line, _, _ := strings.Cut(log[strings.LastIndex(log[:i], "\n")+1:], "\n")
		for _, part := range []string{claims.KeyID, w.user(), appOrigin} {
			require.Contains(t, line, part)
		}
	}
	require.Len(t, named, 3)
}

// claimsOf reads a token of the agent.
func claimsOf(t *testing.T, token string) agent.Claims {
	t.Helper()
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	require.NoError(t, err)
	var claims agent.Claims
	require.NoError(t, json.Unmarshal(payload, &claims))
	return claims
}
