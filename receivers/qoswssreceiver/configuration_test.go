package qoswssreceiver

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// testTURN is an extension with a TURN server made by a test.
type testTURN struct {
	component.StartFunc
	component.ShutdownFunc
	calls bool
	none  bool
}

func (x testTURN) server(label, appID, userID string, expires time.Time) []turnrest.Server {
	return []turnrest.Server{{
		Label: label, URLs: []string{"turn:turn.example.org?transport=udp"}, Username: appID + "/" + userID, Credential: "c-" + label, Expires: expires,
	}}
}

func (x testTURN) TestServers(appID, userID string, now time.Time) []turnrest.Server {
	if x.none {
		return nil
	}
	return x.server("eu-1", appID, userID, now.Add(time.Hour))
}

func (x testTURN) CallServers(appID, userID string, now time.Time) []turnrest.Server {
	if !x.calls {
		return nil
	}
	return x.server("calls", appID, userID, now.Add(2*time.Minute))
}

func (testTURN) TestLimits() turnrest.TestLimits {
	return turnrest.TestLimits{MaxDuration: 15 * time.Second, MaxBytes: 4_000_000, MaxThroughputBps: 10_000_000}
}

const testDefaults = `{"peerConnection":{"iceServers":[{"urls":"stun:s.example"},{"urls":["turn:t.example"],"username":"u","credential":"p"}]},"media":{"audio":true}}`

func withTURN(x testTURN) option {
	return func(c *collector) {
		id := component.MustNewID("qosturn")
		c.host[id], c.receiver.cfg.TURN = x, id
	}
}

func withDefaults(text string) option {
	return func(c *collector) {
		apps := c.host[component.MustNewID("qosapps")].(*testApps)
		apps.defaults = map[string]json.RawMessage{"demo": json.RawMessage(text)}
	}
}

// configuration requests the configuration, and expects an answer.
func (c *collector) configuration(token, more string) *protocol.Configuration {
	c.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+"configuration",
		strings.NewReader(fmt.Sprintf(`{"type":"configuration","token":%q%s}`, token, more)))
	require.NoError(c.t, err)
	req.Header.Set("Origin", testOrigin)
	resp, err := c.client.Do(req)
	require.NoError(c.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(c.t, err)
	require.Equal(c.t, http.StatusOK, resp.StatusCode, string(text))
	require.Equal(c.t, "application/json", resp.Header.Get("Content-Type"))
	require.Equal(c.t, "no-store", resp.Header.Get("Cache-Control"))
	require.Equal(c.t, "*", resp.Header.Get("Access-Control-Allow-Origin"))
	answer, err := protocol.DecodeServer(text)
	require.NoError(c.t, err)
	return answer.(*protocol.Configuration)
}

const bothMedia = `{"audio":true,"video":true}`

// spec: PRE-05, API-08
func TestConfigurationOfNothing(t *testing.T) {
	c := startCollector(t, withTURN(testTURN{none: true}))
	answer := c.configuration(c.login("demo", testOrigin).Token, "")
	require.InDelta(t, time.Now().UnixMilli(), answer.At, float64(time.Minute.Milliseconds()))
	empty := protocol.CallConfig{PeerConnection: json.RawMessage("{}"), Media: json.RawMessage(bothMedia)}
	require.Equal(t, &protocol.Configuration{
		At: answer.At, Default: empty, Recommended: protocol.RecommendedConfig{CallConfig: empty, Reasons: []protocol.Reason{}},
		ICEServers: []protocol.ICEServer{},
	}, answer)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_configuration_requests", "answered"))
}

// spec: PRE-05, API-08
func TestConfigurationOfAnApp(t *testing.T) {
	c := startCollector(t, withDefaults(testDefaults))
	token := c.login("demo", testOrigin).Token
	answer := c.configuration(token, `,"siteID":"hq","preCall":{"providers":[]}`)
	text, err := json.Marshal(answer.Default)
	require.NoError(t, err)
	require.JSONEq(t, testDefaults, string(text))
	require.Equal(t, []protocol.ICEServer{
		{URLs: []string{"stun:s.example"}}, {URLs: []string{"turn:t.example"}, Username: "u", Credential: "p"},
	}, answer.ICEServers, "without call credentials")
	require.Zero(t, answer.ExpiresInMs)
	require.Nil(t, answer.PreCall)

	// The media of both always ask for something; what cannot be read is empty.
	for configured, media := range map[string]string{
		`[`: bothMedia, `{"peerConnection":{}}`: bothMedia, `{"media":{}}`: bothMedia, `{"media":{"audio":false,"video":null}}`: bothMedia,
		`{"media":{"video":true}}`: `{"video":true}`, `{"media":{"audio":true,"video":false}}`: `{"audio":true,"video":false}`,
	} {
		c.host[component.MustNewID("qosapps")].(*testApps).defaults["demo"] = json.RawMessage(configured)
		answer := c.configuration(token, "")
		require.JSONEq(t, media, string(answer.Default.Media), configured)
		require.JSONEq(t, media, string(answer.Recommended.Media), configured)
	}
}

// spec: LIB-09, PRE-05
func TestConfigurationHasCredentials(t *testing.T) {
	c := startCollector(t, withDefaults(testDefaults), withTURN(testTURN{calls: true}))
	answer := c.configuration(c.login("demo", testOrigin).Token, "")
	require.Equal(t, []protocol.ICEServer{{URLs: []string{"turn:turn.example.org?transport=udp"}, Username: "demo/alice", Credential: "c-calls"}}, answer.ICEServers)
	require.InDelta(t, (2 * time.Minute).Milliseconds(), answer.ExpiresInMs, 1, "the first that expires")
	require.Equal(t, &protocol.TestSettings{
		Servers: []protocol.TestServer{{Label: "eu-1", ICEServer: protocol.ICEServer{
			URLs: []string{"turn:turn.example.org?transport=udp"}, Username: "demo/alice", Credential: "c-eu-1",
		}}},
		MaxDurationMs: 15_000, MaxBytes: 4_000_000, MaxThroughputBps: 10_000_000,
	}, answer.PreCall)
}

// spec: AUTH-03, SRV-02
func TestConfigurationRefusals(t *testing.T) {
	c := startCollector(t)
	token := c.login("strict", testOrigin).Token
	f := func(origin, body string, code protocol.Code) heard {
		t.Helper()
		resp, lines := c.post("configuration", origin, body)
		return c.refused(resp, lines, code)
	}
	of := func(token string) string { return fmt.Sprintf(`{"type":"configuration","token":%q}`, token) }
	require.False(t, f(testOrigin, "{", protocol.CodeMalformed).Retry)
	require.Equal(t, "token", f(testOrigin, `{"type":"configuration"}`, protocol.CodeFieldMissing).Field)
	f(testOrigin, strings.Repeat("x", protocol.MaxFrameBytes+1), protocol.CodeFrameTooLarge)
	require.False(t, f(testOrigin, of("x"), protocol.CodeAuthFailed).Retry)
	f("https://evil.example.org", of(token), protocol.CodeOriginDenied)
	resp, lines := c.post("configuration?token=x", testOrigin, of(token))
	c.refused(resp, lines, protocol.CodeMalformed)
	resp, _ = c.do(http.MethodGet, "configuration", testOrigin, "")
	require.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
	require.EqualValues(t, 1, c.counted("receiver_qoswss_configuration_requests", "origin_denied"))
	c.configuration(token, "")
	c.host[component.MustNewID("qosapps")].(*testApps).remove("strict")
	f(testOrigin, of(token), protocol.CodeAuthFailed)
}

// spec: SRV-04
func TestConfigurationIsThrottled(t *testing.T) {
	c := startCollector(t, with(func(r *wssReceiver) {
		r.cfg.TrustedProxies = []string{"127.0.0.1"}
		r.cfg.Throttle.Configurations = endpointRates{PerApp: perSecond(0.01, 100), PerAddress: perSecond(0.01, 3), PerUser: perSecond(0.01, 2)}
	}))
	token := c.login("demo", testOrigin).Token
	f := func(token string, want protocol.Code) heard {
		t.Helper()
		resp, lines := c.post("configuration", testOrigin, fmt.Sprintf(`{"type":"configuration","token":%q}`, token))
		if want == "" {
			require.Equal(t, http.StatusOK, resp.StatusCode)
			return heard{}
		}
		return c.refused(resp, lines, want)
	}
	f(token, "")
	f(token, "")
	h := f(token, protocol.CodeThrottled)
	require.Contains(t, h.Message, "of this user")
	require.Positive(t, h.RetryAfterMs)
	require.True(t, h.Retry)
	f("wrong", protocol.CodeAuthFailed) // the third of the address: that of the user's refusal was given back
	require.Contains(t, f("wrong", protocol.CodeThrottled).Message, "from this address")
	require.Positive(t, c.counted("receiver_qoswss_throttle_decisions", "configuration"))
}

func TestTURNIsFound(t *testing.T) {
	id, other := component.MustNewID("qosturn"), component.MustNewID("qosapps")
	host := hosttest.Host{id: testTURN{}, other: &testApps{}}
	f := func(id component.ID, want string) {
		t.Helper()
		_, err := findTURN(host, id)
		require.ErrorContains(t, err, want)
	}
	f(component.MustNewID("nothing"), `turn: there is no extension "nothing"`)
	f(other, `turn: extension "qosapps" has no TURN servers`)
	for _, id := range []component.ID{id, {}} {
		provider, err := findTURN(host, id)
		require.NoError(t, err)
		require.Equal(t, id == component.ID{}, provider == nil)
	}
	r := startCollector(t).receiver
	r2, err := newReceiver(r.set, &Config{Apps: other, TURN: component.MustNewID("nothing")}, r.next)
	require.NoError(t, err)
	require.ErrorContains(t, r2.Start(t.Context(), newTestHost()), "turn: ")
	require.NoError(t, r2.Shutdown(t.Context()))
}
