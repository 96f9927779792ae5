package e2e

import (
	"net"
	"net/url"
	"testing"

	"github.com/pion/stun/v3"
	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/network"
)

// stunOnly starts a server that answers STUN requests and, like coturn with --stun-only, nothing of TURN.
func stunOnly(t *testing.T) (address string) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		buffer := make([]byte, 1500)
		for {
			n, from, err := socket.ReadFrom(buffer)
			if err != nil {
				return
			}
			m := &stun.Message{Raw: append([]byte(nil), buffer[:n]...)}
			if m.Decode() != nil || m.Type != stun.BindingRequest {
				continue
			}
			to := from.(*net.UDPAddr)
			_, _ = socket.WriteTo(stun.MustBuild(m, stun.BindingSuccess, &stun.XORMappedAddress{IP: to.IP, Port: to.Port}, stun.Fingerprint).Raw, to)
		}
	}()
	t.Cleanup(func() {
		require.NoError(t, socket.Close())
		<-done
	})
	return socket.LocalAddr().String()
}

// deafRelay starts a TURN server whose relays pass nothing on.
func deafRelay(t *testing.T) (address string) {
	t.Helper()
	socket, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	network.ServeTURN(t, turn.ServerConfig{PacketConnConfigs: []turn.PacketConnConfig{{
		PacketConn: socket, RelayAddressGenerator: network.OnLoopback(),
		PermissionHandler: func(net.Addr, net.IP) bool { return false },
	}}})
	return socket.LocalAddr().String()
}

// failingServer is a server without a result, and its reason.
type failingServer struct {
	urls   []string
	reason string
}

// failingServers are the servers by their label.
func failingServers(t *testing.T, s *precallSite, kind string) map[string]failingServer {
	t.Helper()
	silent, nobody, stun := silentServer(t), freeAddress(t), stunOnly(t)
	host := "qos.test" // Firefox uses no address over TLS
	if kind == browser.Chromium {
		host = "127.0.0.1" // where it asks by STUN, it looks up the name elsewhere
	}
	return map[string]failingServer{
		"silent":           {[]string{"turn:" + silent}, "unreachable"},
		"nobody over TCP":  {[]string{"turn:" + nobody + "?transport=tcp"}, "unreachable"},
		"nobody":           {[]string{"turn:" + nobody, "turn:" + nobody + "?transport=tcp"}, "unreachable"},
		"nobody over TLS":  {[]string{"turns:" + host + ":" + portOf(t, nobody)}, "unreachable"},
		"wrong over UDP":   {[]string{"turn:" + s.turn}, "credentials"},
		"wrong over TCP":   {[]string{"turn:" + s.turn + "?transport=tcp"}, "credentials"},
		"STUN only":        {[]string{"turn:" + stun}, "noRelay"},
		"no such name":     {[]string{"turn:nothing.invalid:3478"}, "nameNotResolved"},
		"no such name TCP": {[]string{"turn:nothing.invalid:3478?transport=tcp"}, "nameNotResolved"},
		"no such name TLS": {[]string{"turns:nothing.invalid:5349"}, "nameNotResolved"},
		"no URL":           {[]string{"turn:", "turn:["}, "badUrl"},
		"no port":          {[]string{"turn:a.example:99999"}, "badUrl"},
		"blocked port":     {[]string{"turn:127.0.0.1:25?transport=tcp"}, "badUrl"},
		"not of TURN":      {[]string{"stun:a.example"}, "badUrl"},
		"refused, nobody":  {[]string{"turn:[", "turn:" + nobody + "?transport=tcp"}, "unreachable"},
		"no credentials":   {[]string{"turn:" + s.turn}, "credentials"},
		"passes nothing":   {[]string{"turn:" + deafRelay(t)}, "relayBlocked"},
		"one of two":       {[]string{"turn:nothing.invalid", "turn:" + s.turn + "?transport=tcp"}, "credentials"},
	}
}

func portOf(t *testing.T, address string) string {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// TestBeforeTheCallReasons puts a page before servers that fail in all ways: each has its reason in the event, in the
// record, in the metric and in the stored result.
//
// spec: PRE-02, PRE-04, API-08
func TestBeforeTheCallReasons(t *testing.T) {
	browser.Require(t, browser.Chromium, browser.Firefox)
	testenv.Program(t, "certutil")
	for _, kind := range []string{browser.Chromium, browser.Firefox} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			s := &precallSite{chain: t.TempDir()}
			authority := makeChain(t, s.chain, "qos.test")
			s.serve(t, c, nil)
			c.more = wholeConfiguration(t, s, c)
			c.start()
			b := browser.StartTrusting(t, kind, authority)
			p := s.open(t, b, "reasons")
			p.Run("begin({ disablePrecalltest: true })")
			p.Until(patience, "of('preCallTestResults').length === 1") // that it is disabled
			for label, one := range failingServers(t, s, kind) {
				p.hasReason(c, label, one)
			}
		})
	}
}

// hasReason tests one server.
func (p precallPage) hasReason(c *collector, label string, one failingServer) {
	p.T.Helper()
	want := one.reason
	server := turnServer(label, one.urls...)
	server["credential"] = "of yesterday"
	switch label {
	case "passes nothing":
		server = turnServer(label, one.urls...)
	case "no credentials":
		delete(server, "username")
		delete(server, "credential")
	}
	p.Run("void (heard.splice(0), frames.splice(0))")
	p.Run("monitor.startPrecallTests(" + jsonOf([]any{server}) + ")")
	f := p.frame()
	p.Run("monitor.stopPrecallTests()")
	p.T.Logf("| %s | %s | %s | %.1f s | %s |", label, p.Browser.Kind, f.Providers[0].Reason, f.DurationMs/1000, jsonOf(f.Providers[0].Transports))
	require.Equal(p.T, want, f.Providers[0].Reason, "%s: %s", label, jsonOf(f))
	require.False(p.T, f.Providers[0].Acceptable)
	var event struct{ Aggregated, Results string }
	p.Get("({ aggregated: of('connectionRecommendation')[0][0].aggregatedStats[0].reason, results: of('preCallTestResults')[0][2] })", &event)
	require.Equal(p.T, want, event.Aggregated)
	if f.Status == "success" { // otherwise it is why no server could be tested
		require.Equal(p.T, want, event.Results)
	}
	labels := []string{`provider="` + label + `"`, `acceptable="false"`, `reason="` + want + `"`}
	browser.Eventually(p.T, patience, label+" in store and metrics", func() (bool, string) {
		var list struct {
			PreCalls []struct{ Providers []precallProvider }
		}
		c.preCalls(p.T, url.Values{"provider": {label}}, &list)
		counted := samples(p.T, c.read(c.metrics+"/metrics")).Sum("qos_precall_provider_tests_total", labels...)
		stored := len(list.PreCalls) == 1 && list.PreCalls[0].Providers[0].Reason == want
		return stored && counted == 1, jsonOf(list)
	})
}
