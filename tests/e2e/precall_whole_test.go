package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// sharedTurnSecret is that of the collector's TURN server.
const sharedTurnSecret = "a-secret-of-a-turn-server-that-a-test-knows"

// TestBeforeTheCallWhole: library, collector and the collector's TURN server together, over UDP, TCP and TLS. After the
// login the configuration arrives and a test runs; its results are stored, counted and found by site; the credentials
// for calls connect one, also those that a token generator gets without a session; expired ones connect nothing.
//
// spec: PRE-01, PRE-02, PRE-03, PRE-04, PRE-05, API-08, INIT-08, LIB-09
func TestBeforeTheCallWhole(t *testing.T) {
	browser.Require(t, browserKinds()...)
	testenv.Program(t, "certutil")
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			s := &precallSite{chain: t.TempDir()}
			authority := makeChain(t, s.chain, "qos.test")
			s.serve(t, c, nil)
			c.more = wholeConfiguration(t, s, c)
			c.start()
			b := browser.StartTrusting(t, kind, authority)
			p := s.open(t, b, "whole")
			generator := gives(signShared(t, appID, "shared", sharedKey))
			p.connects("await new qos().getTurnCredentials('demo', " + generator + ")") // nobody is logged in yet
			p.Run("begin({ siteID: 'hq', applicationVersion: '2.3' })")
			f := p.frame()
			require.Equal(t, []any{"initialize", "success", "", true}, []any{f.Trigger, f.Status, f.Reason, f.MediaConnectivity})
			require.Equal(t, "ours", f.Providers[0].Provider)
			for i, protocol := range []string{"udp", "tcp", "tls"} {
				require.Equal(t, []any{protocol, true}, []any{f.Providers[0].Transports[i].RelayProtocol, f.Providers[0].Transports[i].Connected}, jsonOf(f))
			}
			p.Until(patience, "of('recommendedConfig').length === 2")
			var configs []struct {
				PeerConnection struct {
					BundlePolicy string
					ICEServers   []any `json:"iceServers"`
				}
				Media map[string]any
			}
			p.Get("[of('defaultConfig')[0][0], of('recommendedConfig')[1][0]]", &configs)
			require.Equal(t, "max-bundle", configs[0].PeerConnection.BundlePolicy)
			require.Equal(t, map[string]any{"audio": true, "video": true}, configs[0].Media)
			require.Equal(t, "max-bundle", configs[1].PeerConnection.BundlePolicy)
			require.NotEmpty(t, configs[1].PeerConnection.ICEServers, "with fresh credentials")
			require.Equal(t, true, configs[1].Media["audio"])
			require.NotEqual(t, true, configs[1].Media["video"], "2 Mbit/s bear less than the default")
			var tracks []string
			p.Get(`navigator.mediaDevices.getUserMedia(of('recommendedConfig')[1][0].media).then((stream) =>
				stream.getTracks().map((track) => { track.stop(); return track.kind; }).sort())`, &tracks)
			require.Equal(t, []string{"audio", "video"}, tracks)
			p.connects("await new qos().getTurnCredentials('demo', 'demo-secret')")
			p.connects("of('recommendedConfig')[1][0].peerConnection.iceServers")

			m := samples(t, c.read(c.metrics+"/metrics"))
			require.InDelta(t, 1, m.Sum("qos_precall_tests_total", `app="demo"`, `status="success"`), 0)
			var list struct {
				PreCalls []struct {
					Participant struct {
						User    string
						Details map[string]string
					}
					ThroughputBps float64
				}
			}
			c.preCalls(t, url.Values{"site": {"hq"}}, &list)
			require.Len(t, list.PreCalls, 1)
			who := list.PreCalls[0].Participant
			require.Equal(t, "ada", who.User)
			require.Contains(t, jsonOf(who.Details), `"hq"`)
			require.Contains(t, jsonOf(who.Details), `"2.3"`)
			require.InDelta(t, *f.ThroughputBps, list.PreCalls[0].ThroughputBps, 1)
			c.preCalls(t, url.Values{"site": {"elsewhere"}}, &list)
			require.Empty(t, list.PreCalls)
			p.expires(s)
		})
	}
}

// wholeConfiguration has a TURN server that outlives nothing but this test.
func wholeConfiguration(t *testing.T, s *precallSite, c *collector) string {
	t.Helper()
	secret := filepath.Join(s.chain, "turn.secret")
	require.NoError(t, os.WriteFile(secret, []byte(sharedTurnSecret), 0o600))
	s.turn = freeAddress(t)
	tls := freeAddress(t)
	_, tlsPort, err := net.SplitHostPort(tls)
	require.NoError(t, err)
	// Chromium looks up the host of a server over UDP elsewhere than all others.
	urls := jsonOf([]string{"turn:" + s.turn + "?transport=udp", "turn:" + s.turn + "?transport=tcp", "turns:qos.test:" + tlsPort + "?transport=tcp"})
	return fmt.Sprintf(`
extensions:
  qosturn:
    server:
      label: ours
      urls: %s
      secret_file: %s
      udp: {endpoint: %q}
      tcp: {endpoint: %q}
      tls: {endpoint: %q, cert_file: %s, key_file: %s}
      relay_address: 127.0.0.1
    test: {max_throughput_bps: 2000000}
    call: {enabled: true}
  qosapps:
    apps:
      - id: %s
        secrets: [%s]
        keys: [{key_id: shared, algorithm: HS256, secret: %s}]
        origins: [%s]
        default_configuration: {peerConnection: {bundlePolicy: max-bundle}, media: {audio: true, video: true}}
receivers:
  qoswss: {turn: qosturn, storage: qosstorage}
service:
  extensions: [healthcheckv2, qosapps, qosrules, qosstorage, qosdashboard, qosdemo, qosturn]
`, urls, secret, s.turn, s.turn, tls, filepath.Join(s.chain, "chain.pem"), filepath.Join(s.chain, "key.pem"),
		appID, appSecret, sharedKey, strings.Join(c.origins, ", "))
}

// connects connects the page with itself through nothing but relays of these servers.
func (p precallPage) connects(servers string) {
	p.T.Helper()
	var state string
	p.Get(`(async () => {
		const iceServers = `+servers+`;
		const [near, far] = [0, 1].map(() => new Genuine({ iceServers, iceTransportPolicy: 'relay' }));
		near.onicecandidate = ({ candidate }) => candidate && far.addIceCandidate(candidate);
		far.onicecandidate = ({ candidate }) => candidate && near.addIceCandidate(candidate);
		near.createDataChannel('call');
		await near.setLocalDescription();
		await far.setRemoteDescription(near.localDescription);
		await far.setLocalDescription();
		await near.setRemoteDescription(far.localDescription);
		for (let i = 0; i < 200 && near.connectionState !== 'connected'; i++) await new Promise((next) => setTimeout(next, 100));
		const { connectionState } = near;
		near.close();
		far.close();
		return connectionState;
	})()`, &state)
	require.Equal(p.T, "connected", state, "%s open an allocation", servers)
}

// expires tests the collector's server with credentials of yesterday, then with good ones: the test runs, and has no
// result but for the good ones.
func (p precallPage) expires(s *precallSite) {
	p.T.Helper()
	var servers []map[string]any
	for label, at := range map[string]time.Time{"old": time.Now().Add(-24 * time.Hour), "new": time.Now()} {
		username, credential, _ := turnrest.Credentials([]byte(sharedTurnSecret), turnrest.Test, appID, "ada", time.Hour, at)
		servers = append(servers, map[string]any{
			"label": label, "urls": "turn:" + s.turn, "username": username, "credential": credential,
		})
	}
	p.Run("monitor.startPrecallTests(" + jsonOf(servers) + ")")
	p.Until(patience, "of('connectionRecommendation').length === 1")
	p.Run("monitor.stopPrecallTests()")
	var f precallFrame
	p.Get("recorded()[1]", &f)
	require.Equal(p.T, []any{"success", "", true}, []any{f.Status, f.Reason, f.MediaConnectivity})
	require.Equal(p.T, []any{"new", true, "old", false}, []any{f.Providers[0].Provider, f.Providers[0].Acceptable, f.Providers[1].Provider, f.Providers[1].Acceptable})
	require.NotNil(p.T, f.Providers[0].RTTMs)
	require.Nil(p.T, f.Providers[1].RTTMs)
	require.NotEmpty(p.T, f.Providers[1].Transports[0].Error)
}

// preCalls reads the results of tests that a search finds.
func (c *collector) preCalls(t *testing.T, search url.Values, into any) {
	t.Helper()
	search.Set("app", appID)
	require.NoError(t, json.Unmarshal([]byte(c.read(c.dashboard+"/api/precalls?"+search.Encode())), into))
}
