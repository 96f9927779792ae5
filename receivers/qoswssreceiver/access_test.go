package qoswssreceiver

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
)

const thirdSecret = "a secret that an origin server has"

// thirdParty is the POST of a token that the origin server of "third" signed for a user.
func thirdParty(t *testing.T, userID string, change func(jwt.MapClaims)) string {
	t.Helper()
	claims := jwt.MapClaims{"appID": "third", "userID": userID, "keyID": "hs"}
	change(claims)
	token, err := jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(thirdSecret))
	require.NoError(t, err)
	body, err := json.Marshal(map[string]string{"type": "jwt", "appID": "third", "userID": userID, "jwt": token})
	require.NoError(t, err)
	return string(body)
}

func unchanged(jwt.MapClaims) {}

// grant asks the endpoint for a session token at some time.
func (c *collector) grant(t *testing.T, body string, at time.Time) *protocol.TokenReply {
	t.Helper()
	request, refusal := protocol.DecodeAuth([]byte(body))
	require.Nil(t, refusal)
	reply, _, refusal := c.receiver.shared.auth.JWT(request.(*protocol.JWTRequest), testOrigin, at)
	require.Nil(t, refusal)
	return &reply
}

// spec: AUTH-02, AUTH-03, AUTH-04, AUTH-05
func TestThirdPartyToken(t *testing.T) {
	c := startCollector(t)
	resp, lines := c.post("auth", testOrigin, thirdParty(t, "alice", unchanged))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, "token", lines[0].Type)
	p := c.dial(testOrigin)
	p.hello(c.grant(t, thirdParty(t, "alice", unchanged), time.Now()), 0)
	p.hear("welcome")

	refused := func(origin, body string, code protocol.Code) {
		t.Helper()
		resp, lines := c.post("auth", origin, body)
		c.refused(resp, lines, code)
	}
	for _, origin := range []string{"", "null", "https://evil.example.org"} {
		refused(origin, thirdParty(t, "alice", unchanged), protocol.CodeOriginDenied)
	}
	refused(testOrigin, thirdParty(t, "alice", func(c jwt.MapClaims) { c["userID"] = "bob" }), protocol.CodeAuthFailed)
	refused(testOrigin, thirdParty(t, "alice", func(c jwt.MapClaims) { c["exp"] = 1 }), protocol.CodeAuthFailed)
	refused(testOrigin, strings.Replace(thirdParty(t, "alice", unchanged), `"third"`, `"demo"`, 1), protocol.CodeAuthFailed)
	require.EqualValues(t, 3, c.counted("receiver_qoswss_auth_decisions", "origin_denied"))
	require.EqualValues(t, 1, c.counted("receiver_qoswss_auth_decisions", "claim_user"))
	require.EqualValues(t, 1, c.counted("receiver_qoswss_auth_decisions", "key_unknown"))
}

// The library renews its token before it ends. The connection that the old one opened lives
// until then; the same session goes on under the new one, without loss.
//
// spec: AUTH-02, SRV-03
func TestSessionGoesOnUnderARenewedToken(t *testing.T) {
	c := startCollector(t)
	begin := time.Now()
	first := c.grant(t, thirdParty(t, "alice", unchanged), begin)
	renewed := c.grant(t, thirdParty(t, "alice", unchanged), begin.Add(108*time.Minute))
	foreign := c.grant(t, thirdParty(t, "bob", unchanged), begin.Add(108*time.Minute))
	renewed.Session = first.Session
	foreign.Session = first.Session

	open := func(grant *protocol.TokenReply, acked uint64, at time.Time) (*session, *ending, *[]heard) {
		said := new([]heard)
		s := newSession(c.receiver.shared, testOrigin, func(msg []byte) {
			var h heard
			require.NoError(t, json.Unmarshal(msg, &h))
			*said = append(*said, h)
		})
		t.Cleanup(s.close)
		return s, s.message([]byte(helloText(grant, acked)), at), said
	}
	say := func(s *session, seq uint64, at time.Time) {
		t.Helper()
		for _, text := range []string{fmt.Sprintf(fabricText, at.UnixMilli()), logText(seq)} {
			require.Nil(t, s.message([]byte(text), at))
		}
		s.flush(at)
	}
	old, end, _ := open(first, 0, begin)
	require.Nil(t, end)
	say(old, 1, begin.Add(time.Hour))
	last := begin.Add(protocol.TokenLifetime - 2*time.Second)
	require.Nil(t, old.checkExpiry(last))
	say(old, 2, last)
	over := begin.Add(protocol.TokenLifetime)
	bye := old.checkExpiry(over)
	require.NotNil(t, bye)
	require.Equal(t, protocol.CodeTokenExpired, bye.bye.Code)
	require.True(t, bye.bye.Retry)
	require.Zero(t, bye.bye.RetryAfterMs, "at once: the new token is there")

	next, end, said := open(renewed, 2, over)
	require.Nil(t, end)
	say(next, 3, over)
	require.Equal(t, "ack", (*said)[len(*said)-1].Type)
	require.EqualValues(t, 3, (*said)[len(*said)-1].Seq)
	require.Equal(t, []int64{1, 2, 3}, c.seqs())

	_, end, _ = open(foreign, 3, over)
	require.Equal(t, protocol.CodeAuthFailed, end.bye.Code, "somebody else's token takes nobody's session up")
	_, end, _ = open(first, 3, over)
	require.Equal(t, protocol.CodeTokenExpired, end.bye.Code)
}

// The registry learns which secret or key let somebody in, so that it can tell which ones are
// still in use.
//
// spec: AUTH-01, AUTH-04
func TestRegistryLearnsWhatIsUsed(t *testing.T) {
	c := startCollector(t)
	apps := c.receiver.shared.apps.(*testApps)
	p := c.connect("demo")
	_, _ = c.post("auth", testOrigin, thirdParty(t, "alice", unchanged))
	_, _ = c.post("auth", "", thirdParty(t, "alice", unchanged))
	p.say(logText(1))
	p.acked(1)
	apps.mu.Lock()
	defer apps.mu.Unlock()
	require.Equal(t, []string{"demo " + apps.apps["demo"].Verifiers[0].ID, "third hs"}, apps.used)
}

// spec: SRV-03, AUTH-02
func TestSessionOfAnother(t *testing.T) {
	c := startCollector(t)
	mine, other := c.login("demo", testOrigin), c.login("strict", testOrigin)
	mine.Session = other.Session
	p := c.dial(testOrigin)
	p.hello(mine, 0)
	p.bye(protocol.CodeAuthFailed, false, websocket.ClosePolicyViolation)
	resp, lines := c.post("frames", testOrigin, helloText(mine, 0)+"\n"+strings.ReplaceAll(fabricText, "%d", "1")+"\n"+logText(1))
	c.refused(resp, lines, protocol.CodeAuthFailed)
	require.Empty(t, c.seqs())
	require.EqualValues(t, 2, c.counted("receiver_qoswss_auth_decisions", "session_wrong"))
}

// What is taken away from an application ends its open connections; what it had sent
// before is taken, and others go on.
//
// spec: AUTH-02, AUTH-03
func TestRevokedConnectionsEnd(t *testing.T) {
	t.Parallel()
	c := startCollector(t, with(func(r *wssReceiver) { r.timing.pollApps = 5 * time.Millisecond }))
	apps := c.receiver.shared.apps.(*testApps)
	bystander := c.connect("demo")
	taken := uint64(0)
	f := func(code protocol.Code, change func(*auth.App)) {
		t.Helper()
		whole, _ := apps.App("strict")
		p := c.connect("strict")
		p.say(logText(1))
		p.acked(1)
		apps.change("strict", change)
		p.bye(code, false, websocket.ClosePolicyViolation)
		apps.change("strict", func(app *auth.App) { *app = whole })
		taken++
		bystander.say(logText(taken))
		bystander.acked(taken)
	}
	f(protocol.CodeOriginDenied, func(app *auth.App) { app.Origins = []string{"https://other.example.org"} })
	f(protocol.CodeAuthFailed, func(app *auth.App) { app.Disabled = true })
	f(protocol.CodeAuthFailed, func(app *auth.App) { app.Verifiers = nil })
	f(protocol.CodeAuthFailed, func(app *auth.App) { app.RevokedBefore = time.Now().Add(time.Second) })
	f(protocol.CodeAuthFailed, func(app *auth.App) {
		app.RevokedUsers = map[string]time.Time{"a1": time.Now().Add(time.Second)}
	})
	p := c.connect("strict")
	apps.remove("strict")
	p.bye(protocol.CodeAuthFailed, false, websocket.ClosePolicyViolation)

	q := c.dial(testOrigin)
	q.hello(c.grant(t, thirdParty(t, "alice", unchanged), time.Now()), 0)
	q.hear("welcome")
	apps.change("third", func(app *auth.App) {
		app.Keys = []auth.VerificationKey{{ID: "rolled", Algorithm: auth.AlgorithmHS256, Secret: []byte(thirdSecret)}}
	})
	q.bye(protocol.CodeAuthFailed, false, websocket.ClosePolicyViolation)
	require.EqualValues(t, 3, c.counted("receiver_qoswss_auth_decisions", "credential_gone")+c.counted("receiver_qoswss_auth_decisions", "app_unknown"))
}

// spec: AUTH-01
func TestNoTokenInAURL(t *testing.T) {
	c := startCollector(t)
	grant := c.login("demo", testOrigin)
	for _, query := range []string{"?token=" + grant.Token, "?jwt=x", "?access_token=x", "?x"} {
		resp, lines := c.post("auth"+query, testOrigin, thirdParty(t, "alice", unchanged))
		c.refused(resp, lines, protocol.CodeMalformed)
		resp, lines = c.post("frames"+query, testOrigin, helloText(grant, 0))
		c.refused(resp, lines, protocol.CodeMalformed)
		resp, lines = c.do(http.MethodGet, "ws"+query, testOrigin, "")
		c.refused(resp, lines, protocol.CodeMalformed)
		ws, answer, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(c.url, "http")+"ws"+query, http.Header{"Origin": {testOrigin}})
		require.ErrorIs(t, err, websocket.ErrBadHandshake)
		require.Nil(t, ws)
		require.Equal(t, http.StatusBadRequest, answer.StatusCode)
		require.NoError(t, answer.Body.Close())
	}
}

// The endpoints neither set cookies nor read any, nor any other credential that a browser
// sends by itself: another site's page can make a visitor's browser send nothing that
// counts (CSRF).
//
// spec: AUTH-01, AUTH-03
func TestNoCookies(t *testing.T) {
	c := startCollector(t)
	grant := c.login("demo", testOrigin)
	for _, path := range []string{"auth", "frames"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+path, strings.NewReader(helloText(&protocol.TokenReply{Token: "x", Session: grant.Session}, 0)))
		require.NoError(t, err)
		req.Header.Set("Origin", testOrigin)
		req.Header.Set("Cookie", "token="+grant.Token)
		req.Header.Set("Authorization", "Bearer "+grant.Token)
		resp, err := c.client.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.GreaterOrEqual(t, resp.StatusCode, 400)
		require.Empty(t, resp.Cookies())
	}
	resp, _ := c.post("auth", testOrigin, thirdParty(t, "alice", unchanged))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Empty(t, resp.Cookies())
}

// Who sends two origins is not on the list for one of them.
//
// spec: AUTH-03
func TestTwoOrigins(t *testing.T) {
	c := startCollector(t)
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"auth", strings.NewReader(thirdParty(t, "alice", unchanged)))
	require.NoError(t, err)
	req.Header["Origin"] = []string{testOrigin, "https://evil.example.org"}
	resp, err := c.client.Do(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}
