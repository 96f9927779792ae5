package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBeforeTheCallWhole: library, collector and the collector's TURN server together. After the login the
// configuration arrives and a test runs; its results are stored, counted and found by site; the credentials for calls
// connect one.
//
// spec: PRE-01, PRE-02, PRE-03, PRE-05, API-08, INIT-08, LIB-09
func TestBeforeTheCallWhole(t *testing.T) {
	need(t, append(programs[chromium], programs[firefox]...)...)
	for _, kind := range []string{chromium, firefox} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			s := &precallSite{}
			s.serve(t, c, nil)
			turn := freeAddress(t)
			c.more = fmt.Sprintf(`
extensions:
  qosturn:
    server: {label: ours, udp: {endpoint: %q}, tcp: {endpoint: %q}, relay_address: 127.0.0.1}
    test: {max_throughput_bps: 2000000}
    call: {enabled: true}
  qosapps:
    apps: [{id: %s, secrets: [%s], origins: [%s], default_configuration: {peerConnection: {bundlePolicy: max-bundle}, media: {audio: true, video: true}}}]
receivers:
  qoswss: {turn: qosturn, storage: qosstorage}
service:
  extensions: [healthcheckv2, qosapps, qosrules, qosstorage, qosdashboard, qosdemo, qosturn]
`, turn, turn, appID, appSecret, strings.Join(c.origins, ", "))
			c.start()
			b := startBrowser(t, kind)
			p := s.open(t, b, "whole")
			p.run("begin({ siteID: 'hq', applicationVersion: '2.3' })")
			f := p.frame()
			require.Equal(t, []any{"initialize", "success", "", true}, []any{f.Trigger, f.Status, f.Reason, f.MediaConnectivity})
			require.Equal(t, "ours", f.Providers[0].Provider)
			for i, protocol := range []string{"udp", "tcp"} {
				require.Equal(t, []any{protocol, true}, []any{f.Providers[0].Transports[i].RelayProtocol, f.Providers[0].Transports[i].Connected}, jsonOf(f))
			}
			p.until(patience, "of('recommendedConfig').length === 2")
			var configs []struct {
				PeerConnection struct {
					BundlePolicy string
					ICEServers   []any `json:"iceServers"`
				}
				Media map[string]any
			}
			p.get("[of('defaultConfig')[0][0], of('recommendedConfig')[1][0]]", &configs)
			require.Equal(t, "max-bundle", configs[0].PeerConnection.BundlePolicy)
			require.Equal(t, map[string]any{"audio": true, "video": true}, configs[0].Media)
			require.Equal(t, "max-bundle", configs[1].PeerConnection.BundlePolicy)
			require.NotEmpty(t, configs[1].PeerConnection.ICEServers, "with fresh credentials")
			require.Equal(t, true, configs[1].Media["audio"])
			require.NotEqual(t, true, configs[1].Media["video"], "2 Mbit/s bear less than the default")
			var relayed string
			p.get(`(async () => {
				const iceServers = await new qos().getTurnCredentials('demo', 'demo-secret');
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
			})()`, &relayed)
			require.Equal(t, "connected", relayed, "the credentials for calls open an allocation")

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
		})
	}
}

// preCalls reads the results of tests that a search finds.
func (c *collector) preCalls(t *testing.T, search url.Values, into any) {
	t.Helper()
	search.Set("app", appID)
	require.NoError(t, json.Unmarshal([]byte(c.read(c.dashboard+"/api/precalls?"+search.Encode())), into))
}
