package recommend_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/recommend"
	"github.com/qosrtc/qos/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func config(peerConnection, media string) protocol.CallConfig {
	return protocol.CallConfig{PeerConnection: json.RawMessage(peerConnection), Media: json.RawMessage(media)}
}

// codes returns the reasons as "member code".
func codes(c protocol.RecommendedConfig) (codes []string) {
	for _, r := range c.Reasons {
		codes = append(codes, r.Member+" "+r.Code)
	}
	return codes
}

func throughput(bps float64) *protocol.TestResult { return &protocol.TestResult{ThroughputBps: &bps} }

// spec: PRE-05, API-08
func TestNothingKnown(t *testing.T) {
	for _, known := range []recommend.Known{
		{},
		{Default: config(`{"iceServers":[{"urls":"turn:t.example"}]}`, `{"audio":true,"video":true}`), Test: &protocol.TestResult{}},
		{Test: throughput(2_500_000)},
		{Default: config("[", "1"), Paths: recommend.Paths{Direct: 100}},
	} {
		require.Equal(t, protocol.RecommendedConfig{}, recommend.Config(known))
	}
}

// spec: PRE-05
func TestMediaFitsTheThroughput(t *testing.T) {
	f := func(bps float64, media, want string) {
		t.Helper()
		c := recommend.Config(recommend.Known{Default: config(`{"bundlePolicy":"max-bundle"}`, media), Test: throughput(bps)})
		if want == "" {
			require.Empty(t, c)
			return
		}
		require.JSONEq(t, want, string(c.Media), "%v bit/s, %s", bps, media)
		require.JSONEq(t, `{"bundlePolicy":"max-bundle"}`, string(c.PeerConnection), "the rest of the default")
		require.Equal(t, []string{"media.video throughput"}, codes(c))
	}
	const (
		small  = `{"width":{"ideal":320},"height":{"ideal":180},"frameRate":{"ideal":15}}`
		medium = `{"width":{"ideal":640},"height":{"ideal":360},"frameRate":{"ideal":30}}`
		large  = `{"width":{"ideal":1280},"height":{"ideal":720},"frameRate":{"ideal":30}}`
	)
	f(0, "", `{"audio":true,"video":false}`)
	f(149_999, `{"audio":{"echoCancellation":false},"video":true}`, `{"audio":{"echoCancellation":false},"video":false}`)
	f(149_999, `{"audio":false,"video":true}`, `{"audio":false,"video":`+small+`}`)
	f(149_999, `{"video":true}`, `{"video":`+small+`}`)
	f(150_000, "", `{"audio":true,"video":`+small+`}`)
	f(499_999, `{"audio":true,"video":true}`, `{"audio":true,"video":`+small+`}`)
	f(500_000, `{"audio":true,"video":true}`, `{"audio":true,"video":`+medium+`}`)
	f(1_000_000, `{"audio":true,"video":{"deviceId":"d"}}`, `{"audio":true,"video":`+strings.Replace(large, "{", `{"deviceId":"d",`, 1)+`}`)
	f(2_499_999, `{"audio":true,"video":true}`, `{"audio":true,"video":`+large+`}`)
	f(2_500_000, `{"audio":true,"video":true}`, "")
	f(600_000, `{"audio":true,"video":{"width":320,"height":{"max":180},"frameRate":{"max":60,"ideal":15}}}`, "")
	f(600_000, `{"audio":true,"video":{"width":{"exact":1920},"height":180,"frameRate":{"ideal":15}}}`, `{"audio":true,"video":{"width":{"ideal":640},"height":180,"frameRate":{"ideal":15}}}`)
	f(600_000, `{"audio":true,"video":{"mandatory":{"minWidth":1280}}}`, "")
	f(600_000, `{"audio":true,"video":{"optional":[{"minWidth":1280}]}}`, "")
	f(100, `{"audio":true,"video":{"mandatory":{"minWidth":1280}}}`, `{"audio":true,"video":false}`)
	f(100, `{"audio":true,"video":false}`, "")
	f(100, `{"audio":true,"video":null}`, "")
	f(100, `{"audio":true}`, "")
	c := recommend.Config(recommend.Known{Test: throughput(420_400)})
	require.Equal(t, "the pre-call test measured 420 kbit/s, which suffices for 320x180 at 15 frames per second", c.Reasons[0].Text)
}

const turnDefault = `{"iceServers":[{"urls":"stun:s.example"},{"urls":["turn:a.example:3478?transport=udp","turns:a.example"],"username":"u","credential":"p"},{"urls":"turn:[2001:db8::1]:3478","username":"u","credential":"p"}]}`

func tested(name string, acceptable bool, rtt float64) protocol.PreCallProvider {
	p := protocol.PreCallProvider{Provider: name, Acceptable: acceptable}
	if rtt > 0 {
		p.RTTMs = &rtt
	}
	return p
}

// order returns the first URL of each recommended server.
func order(t *testing.T, c protocol.RecommendedConfig) (first []string) {
	t.Helper()
	for _, s := range recommend.ICEServers(c.PeerConnection) {
		first = append(first, s.URLs[0])
	}
	return first
}

// spec: PRE-05
func TestServersAreRanked(t *testing.T) {
	known := recommend.Known{Default: config(turnDefault, ""), Test: &protocol.TestResult{Providers: []protocol.PreCallProvider{
		tested("2001:db8::1", true, 20), tested("a.example", false, 10),
	}}}
	c := recommend.Config(known)
	require.Equal(t, []string{"turn:[2001:db8::1]:3478", "stun:s.example", "turn:a.example:3478?transport=udp"}, order(t, c))
	require.Equal(t, []string{"peerConnection.iceServers ranking"}, codes(c))
	require.JSONEq(t, "{}", string(c.Media))

	fresh := func(label string) recommend.Server {
		return recommend.NewServer(label, protocol.ICEServer{URLs: []string{"turn:" + label + ".example"}, Username: "1:call:demo:u", Credential: "c"})
	}
	known.Servers = []recommend.Server{fresh("slow"), fresh("none"), fresh("fast")}
	known.Test.Providers = []protocol.PreCallProvider{tested("slow", true, 80), tested("fast", true, 12), tested("a.example", true, 0)}
	c = recommend.Config(known)
	require.Equal(t, []string{
		"turn:fast.example", "turn:slow.example", "turn:a.example:3478?transport=udp", "turn:none.example", "stun:s.example", "turn:[2001:db8::1]:3478",
	}, order(t, c))
	require.Equal(t, []string{"peerConnection.iceServers freshCredentials", "peerConnection.iceServers ranking"}, codes(c))
	require.Equal(t, "c", recommend.ICEServers(c.PeerConnection)[0].Credential)

	known.Test = nil
	c = recommend.Config(known)
	require.Equal(t, "turn:slow.example", order(t, c)[0])
	require.Equal(t, []string{"peerConnection.iceServers freshCredentials"}, codes(c))
	known.Default.PeerConnection = json.RawMessage(`{"iceServers":[{"urls":"turn:slow.example","username":"old","credential":"old"}]}`)
	require.Equal(t, []string{"turn:slow.example", "turn:none.example", "turn:fast.example"}, order(t, recommend.Config(known)), "fresh ones replace the same servers")
}

// spec: PRE-05
func TestRelayWhereDirectPathsFail(t *testing.T) {
	f := func(p recommend.Paths, want bool) {
		t.Helper()
		require.Equal(t, want, p.DirectPathsFail(), "%+v", p)
		c := recommend.Config(recommend.Known{Default: config(turnDefault, ""), Paths: p})
		require.Equal(t, want, strings.Contains(string(c.PeerConnection), `"iceTransportPolicy":"relay"`))
		c = recommend.Config(recommend.Known{Default: config(`{"iceServers":[{"urls":"stun:s.example"}]}`, ""), Paths: p})
		require.Empty(t, c, "without a TURN server no call could be connected")
	}
	f(recommend.Paths{Relayed: 4}, false)
	f(recommend.Paths{Relayed: 5}, true)
	f(recommend.Paths{Direct: 3, Relayed: 3}, true)
	f(recommend.Paths{Direct: 4, Relayed: 3}, false)
	f(recommend.Paths{Failed: 10}, false)
	f(recommend.Paths{Failed: 3, Relayed: 1}, false)
	f(recommend.Paths{Failed: 3, Relayed: 1, Direct: 1}, true)
	f(recommend.Paths{Failed: 4, Relayed: 1}, false)
	c := recommend.Config(recommend.Known{Default: config(turnDefault, ""), Paths: recommend.Paths{Direct: 8, Relayed: 9, Failed: 3}})
	require.Equal(t, []protocol.Reason{{
		Member: "peerConnection.iceTransportPolicy", Code: "directPathsFail", Text: "12 of 20 recent connections from this site had no direct path",
	}}, c.Reasons)
	c = recommend.Config(recommend.Known{Default: config(strings.Replace(turnDefault, "{", `{"iceTransportPolicy":"relay",`, 1), ""), Paths: recommend.Paths{Relayed: 9}})
	require.Empty(t, c, "it is the default")
}

// drawKnown draws anything that may be known.
func drawKnown(t *rapid.T) recommend.Known {
	count := rapid.IntRange(0, 12)
	k := recommend.Known{
		Default: config(
			rapid.SampledFrom([]string{"", "{}", turnDefault, `{"iceTransportPolicy":"all","bundlePolicy":"balanced"}`, "null"}).Draw(t, "peerConnection"),
			rapid.SampledFrom([]string{"", "{}", `{"audio":true}`, `{"audio":true,"video":{"height":{"max":400}}}`, `{"video":true}`}).Draw(t, "media"),
		),
		Paths: recommend.Paths{Direct: count.Draw(t, "direct"), Relayed: count.Draw(t, "relayed"), Failed: count.Draw(t, "failed")},
	}
	names := []string{"a.example", "b", "c", "2001:db8::1"}
	for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID[string]).Draw(t, "servers") {
		k.Servers = append(k.Servers, recommend.NewServer(name, protocol.ICEServer{URLs: []string{"turn:" + name}}))
	}
	if !rapid.Bool().Draw(t, "tested") {
		return k
	}
	k.Test = &protocol.TestResult{}
	if rapid.Bool().Draw(t, "measured") {
		k.Test.ThroughputBps = new(rapid.Float64Range(0, 4e6).Draw(t, "bps"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "providers") {
		k.Test.Providers = append(k.Test.Providers, tested(
			rapid.SampledFrom(names).Draw(t, "name"), rapid.Bool().Draw(t, "acceptable"), float64(rapid.IntRange(0, 3).Draw(t, "rtt")),
		))
	}
	return k
}

// Each member that differs from the default has a reason and each reason a member that may differ, relays are not
// recommended without evidence, no server is lost, and servers that compare equal keep their order.
//
// spec: PRE-05
func TestPropertiesOfRecommendations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := drawKnown(t)
		c := recommend.Config(k)
		require.Equal(t, c, recommend.Config(k), "the same is known")
		if len(c.Reasons) == 0 {
			require.Empty(t, c)
			return
		}
		reasoned := map[string]bool{}
		for _, r := range c.Reasons {
			require.NotEmpty(t, r.Text)
			reasoned[r.Member] = true
		}
		changed := map[string]bool{}
		for part, raws := range map[string][2]json.RawMessage{
			"peerConnection": {k.Default.PeerConnection, c.PeerConnection}, "media": {k.Default.Media, c.Media},
		} {
			var before, after map[string]any
			_ = json.Unmarshal(raws[0], &before)
			require.NoError(t, json.Unmarshal(raws[1], &after))
			for name, value := range after {
				if old, there := before[name]; !there || !equal(old, value) {
					changed[part+"."+name] = true
				}
			}
			for name := range before {
				require.Contains(t, after, name, "no member is lost")
			}
		}
		if changed["media.audio"] { // where the application has no constraints at all
			require.True(t, reasoned["media.video"])
			delete(changed, "media.audio")
		}
		require.Equal(t, reasoned, changed)
		if changed["peerConnection.iceTransportPolicy"] {
			require.GreaterOrEqual(t, k.Paths.Total(), recommend.MinFabrics)
			require.GreaterOrEqual(t, k.Paths.Relayed+k.Paths.Failed, k.Paths.Direct)
			require.Positive(t, k.Paths.Relayed)
		}
		checkOrder(t, k, c)
	})
}

func equal(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// checkOrder checks that untested servers keep their order, and that all servers are there.
func checkOrder(t *rapid.T, k recommend.Known, c protocol.RecommendedConfig) {
	was := append(slices.Clone(k.Servers), recommend.ICEServers(k.Default.PeerConnection)...)
	now := recommend.ICEServers(c.PeerConnection)
	require.Len(t, now, len(was))
	untested := func(servers []recommend.Server) (urls []string) {
		for _, s := range servers {
			if k.Test == nil || !slices.ContainsFunc(k.Test.Providers, func(p protocol.PreCallProvider) bool { return strings.Contains(s.URLs[0], p.Provider) }) {
				urls = append(urls, s.URLs[0])
			}
		}
		return urls
	}
	require.Equal(t, untested(was), untested(now))
}
