package e2e

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/network"
)

// precallSite is a collector whose configuration the test answers, and the page in front of it.
type precallSite struct {
	url   string
	chain string // the folder of a certificate for qos.test
	turn  string // address of the collector's TURN server, if it has one

	mu            sync.Mutex
	configuration map[string]any
	requests      []map[string]any // for a configuration
}

// startPrecallSites starts one collector behind several sites.
func startPrecallSites(t *testing.T, n int) (sites []*precallSite, authority string) {
	t.Helper()
	c := newCollector(t)
	chain := t.TempDir()
	authority = makeChain(t, chain, "qos.test")
	for range n {
		s := &precallSite{chain: chain}
		s.serve(t, c, map[string]http.HandlerFunc{"POST /configuration": s.configure})
		sites = append(sites, s)
	}
	c.start()
	return sites, authority
}

// serve serves the page in front of a collector that is not started yet, and more.
func (s *precallSite) serve(t *testing.T, c *collector, more map[string]http.HandlerFunc) {
	t.Helper()
	behind, err := url.Parse(c.receiver)
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/", httputil.NewSingleHostReverseProxy(behind))
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata", "pages", "precall.html"))
	})
	for pattern, handler := range more {
		mux.HandleFunc(pattern, handler)
	}
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.url = server.URL
	c.origins = append(c.origins, s.url)
}

func (s *precallSite) configure(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request map[string]any
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || s.configuration == nil {
		http.NotFound(w, r)
		return
	}
	s.requests = append(s.requests, request)
	_ = json.NewEncoder(w).Encode(s.configuration)
}

// answers sets the answer of the collector for the pages that follow; nil: it knows of no configuration.
func (s *precallSite) answers(configuration map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.configuration, s.requests = configuration, nil
}

func (s *precallSite) requested() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// turnServer is one of a test's list.
func turnServer(label string, urls ...string) map[string]any {
	return map[string]any{"label": label, "urls": urls, "username": network.TURNUser, "credential": network.TURNPassword}
}

// offering is a configuration with servers for tests.
func offering(servers ...map[string]any) map[string]any {
	return map[string]any{
		"type": "configuration", "expiresInMs": 3_600_000,
		"defaultConfig":     map[string]any{"peerConnection": map[string]any{"iceTransportPolicy": "all"}, "media": map[string]any{}},
		"recommendedConfig": map[string]any{"peerConnection": map[string]any{}, "media": map[string]any{"audio": true}},
		"iceServers":        []any{map[string]any{"urls": []string{"turn:call.example"}}},
		"preCall":           map[string]any{"servers": servers, "maxDurationMs": 60_000, "maxBytes": 4_000_000, "maxThroughputBps": 3_000_000},
	}
}

// precallFrame is a record of a test as the library sends it.
type precallFrame struct {
	Trigger, Status, Reason     string
	Interrupted                 bool
	MediaConnectivity           bool
	RTTMs                       *float64 `json:"rttMs"`
	LossFraction, ThroughputBps *float64
	BytesSent, DurationMs       float64
	Providers                   []precallProvider
}

type precallProvider struct {
	Provider                    string
	Acceptable                  bool
	Reason                      string
	RTTMs                       *float64 `json:"rttMs"`
	JitterMs                    *float64
	LossFraction, ThroughputBps *float64
	Transports                  []struct {
		RelayProtocol, Error string
		Connected            bool
		ConnectMs            *float64
	}
}

// precallPage is a page of the site.
type precallPage struct{ *page }

func (s *precallSite) open(t *testing.T, b *browser.Browser, name string) precallPage {
	t.Helper()
	b.Opening.Lock()
	p := precallPage{openPage(t, b, name+" in "+b.Kind, s.url+"/page")}
	b.Opening.Unlock()
	t.Cleanup(func() {
		var errors []string
		p.Get("errors", &errors)
		require.Empty(t, errors, "errors that reached the page")
		p.Until(patience, "open() === 0") // every PeerConnection of a test is closed
		p.CloseTab()
	})
	return p
}

// beginsTest logs in and waits until the test has a connection through the first server.
func (p precallPage) beginsTest() {
	p.T.Helper()
	p.Run("begin()")
	p.Until(patience, "ends.length === 2 && ends.every((pc) => pc.connectionState === 'connected')")
}

// frame waits for the record of a test.
func (p precallPage) frame() (f precallFrame) {
	p.T.Helper()
	p.Until(patience, "recorded().length > 0")
	p.Get("recorded()[0]", &f)
	return f
}

// precallSubject is one thing that tests of the network are put through.
type precallSubject struct {
	name string
	test func(*testing.T, *precallSite, *browser.Browser)
}

// precallLanes are subjects that wait most of their time. Lanes go on at once.
var precallLanes = [][]precallSubject{
	{{"Blocked", allBlocked}, {"Joins", joins}},
	{{"Servers", ranksServers}, {"Dies", serverDies}, {"SavesData", savesData}},
}

// TestBeforeTheCall measures a network, in a page that goes on, is interrupted and is hidden. It runs alone: milliseconds
// count.
//
// spec: PRE-01, PRE-02, PRE-04, PRE-06, API-08, API-11
func TestBeforeTheCall(t *testing.T) {
	browser.Require(t, browserKinds()...)
	testenv.Program(t, "certutil")
	sites, authority := startPrecallSites(t, 1)
	for _, kind := range browserKinds() {
		b := browser.StartTrusting(t, kind, authority)
		for _, one := range []precallSubject{{"Automatic", testsByItself}, {"Interrupted", isInterrupted}, {"Hidden", isHidden}} {
			t.Run(kind+one.name, func(t *testing.T) { one.test(t, sites[0], b) })
		}
	}
}

// TestBeforeTheCallFails puts the test of the network through what networks, servers and applications do.
//
// spec: PRE-01, PRE-02, PRE-04, PRE-06, API-08, API-11
func TestBeforeTheCallFails(t *testing.T) {
	browser.Require(t, browserKinds()...)
	testenv.Program(t, "certutil")
	sites, authority := startPrecallSites(t, len(precallLanes))
	for _, kind := range browserKinds() {
		b := browser.StartTrusting(t, kind, authority)
		t.Run(kind, func(t *testing.T) {
			for i, lane := range precallLanes {
				t.Run(strconv.Itoa(i), func(t *testing.T) {
					t.Parallel()
					for _, one := range lane {
						t.Run(one.name, func(t *testing.T) { one.test(t, sites[i], b) })
					}
				})
			}
		})
	}
}

// TestBeforeTheCallOften has twenty servers, and applications that test often.
//
// spec: PRE-02, PRE-04, PRE-06, API-11
func TestBeforeTheCallOften(t *testing.T) {
	browser.Require(t, browser.Chromium, browser.Firefox)
	testenv.Program(t, "certutil")
	kinds := []string{browser.Chromium, browser.Firefox}
	sites, authority := startPrecallSites(t, 2*len(kinds))
	for k, kind := range kinds {
		b := browser.StartTrusting(t, kind, authority)
		for i, one := range []precallSubject{{"Habits", hasHabits}, {"Many", manyServers}} {
			t.Run(one.name+kind, func(t *testing.T) {
				t.Parallel()
				one.test(t, sites[2*k+i], b)
			})
		}
	}
}

// testsByItself: the login is followed by a test over UDP, TCP and TLS.
func testsByItself(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain), startRelayOver(t, "tcp", s.chain), startRelayOver(t, "tls", s.chain))))
	p := s.open(t, b, "automatic")
	p.Run("begin({ siteID: 'hq' })")
	f := p.frame()
	require.Equal(t, []any{"initialize", "success", "", false, true}, []any{f.Trigger, f.Status, f.Reason, f.Interrupted, f.MediaConnectivity})
	require.Len(t, f.Providers, 1)
	for i, protocol := range []string{"udp", "tcp", "tls"} {
		require.Equal(t, []any{protocol, true, ""}, []any{f.Providers[0].Transports[i].RelayProtocol, f.Providers[0].Transports[i].Connected, f.Providers[0].Transports[i].Error})
	}
	require.True(t, f.Providers[0].Acceptable, jsonOf(f))
	require.Less(t, *f.RTTMs, 30.0)
	require.Less(t, *f.LossFraction, 0.05)
	require.Greater(t, *f.ThroughputBps, 1e6)
	require.LessOrEqual(t, f.BytesSent, 4e6)
	require.Less(t, f.DurationMs, 16_000.0)
	p.Until(patience, "of('recommendedConfig').length === 2 && of('preCallTestResults').length === 1")
	var results struct{ Default, Recommended, Results []json.RawMessage }
	p.Get("({ default: of('defaultConfig'), recommended: of('recommendedConfig'), results: of('preCallTestResults')[0] })", &results)
	require.Len(t, results.Default, 1)
	require.JSONEq(t, `"success"`, string(results.Results[0]))
	require.JSONEq(t, jsonOf(map[string]any{
		"mediaConnectivity": true, "rtt": f.RTTMs, "fractionalLoss": f.LossFraction, "throughput": *f.ThroughputBps / 1000,
	}), string(results.Results[1]))
	requests := s.requested()
	require.Equal(t, "hq", requests[0]["siteID"])
	require.NotEmpty(t, requests[0]["token"])
	require.InDelta(t, *f.RTTMs, requests[1]["preCall"].(map[string]any)["rttMs"], 0)
	var servers []map[string]any
	p.Get("new qos().getTurnCredentials('demo', 'demo-secret')", &servers)
	require.Equal(t, []map[string]any{{"urls": []any{"turn:call.example"}}}, servers)
	var refusal string
	p.Get("new qos().getTurnCredentials('demo', 'wrong').then(() => 'none', (error) => error.message)", &refusal)
	require.NotEqual(t, "none", refusal)
}

// isInterrupted: a call that starts ends the test at once, and its results are partial.
func isInterrupted(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain))))
	p := s.open(t, b, "interrupted")
	p.beginsTest()
	var took float64
	p.Get(`new Promise((resolve) => setTimeout(async () => {
		const call = new Genuine(), from = performance.now();
		monitor.addNewFabric(call, 'bob', 'audio', 'room');
		while (open()) await new Promise((next) => setTimeout(next));
		call.close();
		resolve(performance.now() - from);
	}, 1500))`, &took)
	require.Less(t, took, 100.0)
	f := p.frame()
	require.Equal(t, []any{"success", "a call started", true, true}, []any{f.Status, f.Reason, f.Interrupted, f.MediaConnectivity})
	require.NotNil(t, f.RTTMs)
	require.Nil(t, f.ThroughputBps)
	p.Until(patience, "of('preCallTestResults').length === 1")
}

// manyServers: twenty servers within the time of a test, on a path where UDP is blocked.
func manyServers(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering())
	p := s.open(t, b, "many")
	p.Run("begin({ disablePrecalltest: true })")
	silent := silentServer(t)
	var servers []map[string]any
	tcp := startRelayOver(t, "tcp", s.chain)
	for i := range 20 {
		servers = append(servers, turnServer(strconv.Itoa(i), "turn:"+silent+"?transport=udp", tcp))
	}
	p.Run("monitor.startPrecallTests(" + jsonOf(servers) + ", 30)")
	f := p.frame()
	p.Run("monitor.stopPrecallTests()")
	require.Equal(t, []any{"startPrecallTests", "success", "", false, true}, []any{f.Trigger, f.Status, f.Reason, f.Interrupted, f.MediaConnectivity})
	require.Len(t, f.Providers, 20)
	require.Less(t, f.DurationMs, 16_000.0)
	best := f.Providers[0]
	require.False(t, best.Transports[0].Connected)
	require.NotEmpty(t, best.Transports[0].Error)
	require.Equal(t, []any{"tcp", true}, []any{best.Transports[1].RelayProtocol, best.Transports[1].Connected})
	require.NotNil(t, best.RTTMs)
}

// ranksServers: each of a list of good and bad servers has its result.
func ranksServers(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(nil)
	p := s.open(t, b, "servers")
	p.Run("begin({ disablePrecalltest: true })")
	good := startRelayOver(t, "udp", s.chain)
	expired := turnServer("expired", good)
	expired["credential"] = "of yesterday"
	servers := []map[string]any{
		turnServer("malformed", "turn:", "turn:[", "http://a.example"),
		turnServer("unreachable", "turn:127.0.0.1:9?transport=tcp"),
		expired,
		turnServer("", good),
		{"urls": 7, "username": []int{1}},
		{"label": "no credential", "urls": good},
	}
	servers[3]["label"] = nil
	var answered answer
	p.Get("monitor.startPrecallTests("+jsonOf(servers)+")", &answered)
	require.Equal(t, answer{Status: "success", Msg: "interval is 60 s", Message: "interval is 60 s"}, answered)
	p.Until(patience, "of('connectionRecommendation').length === 1")
	p.Run("monitor.stopPrecallTests()")
	var recommendation struct {
		AggregatedStats []struct {
			Provider                                        string
			RoundTripTime, Jitter, FractionLost, Throughput *float64
		}
		ProviderRanking []struct {
			Provider   string
			Acceptable bool
		}
	}
	p.Get("of('connectionRecommendation')[0][0]", &recommendation)
	require.Len(t, recommendation.ProviderRanking, 6)
	require.Equal(t, "127.0.0.1", recommendation.ProviderRanking[0].Provider)
	require.True(t, recommendation.ProviderRanking[0].Acceptable)
	require.NotNil(t, recommendation.AggregatedStats[0].Throughput)
	for i := range 5 {
		require.False(t, recommendation.ProviderRanking[i+1].Acceptable)
		require.Nil(t, recommendation.AggregatedStats[i+1].RoundTripTime)
	}
	p.Run("monitor.startPrecallTests([], 5)")
	p.Until(patience, "of('connectionRecommendation').length === 2")
	var last []any
	p.Get("of('preCallTestResults').at(-1)", &last)
	require.Equal(t, "failure", last[0])
}

// serverDies: what was measured before is reported.
func serverDies(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	relay := startDarkRelay(t)
	s.answers(offering(turnServer("eu-1", relay.url)))
	p := s.open(t, b, "dies")
	p.beginsTest()
	p.Run("new Promise((resolve) => setTimeout(resolve, 1000))")
	relay.dark.Store(true)
	f := p.frame()
	require.Equal(t, []any{"success", "", false, true}, []any{f.Status, f.Reason, f.Interrupted, f.MediaConnectivity})
	require.False(t, f.Providers[0].Acceptable, jsonOf(f))
	require.Greater(t, *f.LossFraction, 0.1, "the line loses nothing before")
	require.InDelta(t, 0, *f.ThroughputBps, 0)
}
