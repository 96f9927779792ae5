package delivery

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// network is a proxy between clients and a collector that does what networks do.
type network struct {
	t     *testing.T
	proxy *toxiproxy.Proxy
}

// newNetwork has toxics for its whole life: the proxy may lock up when one is taken away
// in mid-write.
func newNetwork(t *testing.T, upstream string, toxics ...string) *network {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	n := &network{t: t, proxy: toxiproxy.NewProxy(server, "network", harness.FreeAddress(t), upstream)}
	for _, toxic := range toxics {
		_, err := n.proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
		require.NoError(t, err)
	}
	require.NoError(t, n.proxy.Start())
	t.Cleanup(n.proxy.Stop)
	return n
}

func (n *network) url() string { return "http://" + n.proxy.Listen + "/" }

// cut ends all connections and takes no new ones for a while.
func (n *network) cut(ctx context.Context, length time.Duration) {
	n.t.Helper()
	n.proxy.Stop()
	harness.Pause(ctx, length)
	require.NoError(n.t, freeport.Released(n.proxy.Listen))
	require.NoError(n.t, n.proxy.Start())
}

// illnesses are what networks have. A stall lets nothing through and tells nobody.
var illnesses = map[string][]string{
	"latency": {
		`{"name":"up","type":"latency","stream":"upstream","attributes":{"latency":80,"jitter":60}}`,
		`{"name":"down","type":"latency","stream":"downstream","attributes":{"latency":80,"jitter":60}}`,
	},
	"answers stall":         {`{"name":"down","type":"timeout","stream":"downstream","attributes":{"timeout":0}}`},
	"requests stall":        {`{"name":"up","type":"timeout","stream":"upstream","attributes":{"timeout":0}}`},
	"a stall that ends":     {`{"name":"up","type":"timeout","stream":"upstream","attributes":{"timeout":150}}`},
	"reset by the server":   {`{"name":"down","type":"reset_peer","stream":"downstream","attributes":{"timeout":100}}`},
	"reset by the client":   {`{"name":"up","type":"reset_peer","stream":"upstream","attributes":{"timeout":100}}`},
	"cut in mid-frame":      {`{"name":"up","type":"limit_data","stream":"upstream","attributes":{"bytes":5003}}`},
	"cut in mid-answer":     {`{"name":"down","type":"limit_data","stream":"downstream","attributes":{"bytes":1501}}`},
	"slow":                  {`{"name":"up","type":"bandwidth","stream":"upstream","attributes":{"rate":40}}`},
	"in slices":             {`{"name":"up","type":"slicer","stream":"upstream","attributes":{"average_size":40,"size_variation":30,"delay":200}}`},
	"slow to close":         {`{"name":"down","type":"slow_close","stream":"downstream","attributes":{"delay":200}}`},
	"slow, late, in slices": {`{"name":"a","type":"latency","stream":"upstream","attributes":{"latency":50}}`, `{"name":"b","type":"bandwidth","stream":"upstream","attributes":{"rate":60}}`, `{"name":"c","type":"slicer","stream":"downstream","attributes":{"average_size":16,"size_variation":8,"delay":100}}`},
}

// TestNetworksThatFail has clients that come over one network after another, each ill in
// its own way but one, and that one is cut again and again. Clients end their own half,
// too (harness.Wire.HalfClose).
//
// spec: SRV-03
func TestNetworksThatFail(t *testing.T) {
	t.Parallel()
	r := newRun(t, 6*time.Second)
	networks := []*network{newNetwork(t, r.collector.Address())}
	for _, name := range slices.Sorted(maps.Keys(illnesses)) {
		networks = append(networks, newNetwork(t, r.collector.Address(), illnesses[name]...))
	}
	for range 8 { // in an order of its own each
		var urls []string
		for _, n := range networks {
			urls = append(urls, n.url())
		}
		rand.New(rand.NewPCG(uint64(r.seed), uint64(len(r.clients)))).Shuffle(len(urls), func(i, j int) { urls[i], urls[j] = urls[j], urls[i] })
		r.add(1, harness.Habits{}, urls...)
	}
	r.load(func(ctx context.Context) {
		dice := rand.New(rand.NewPCG(uint64(r.seed), 3))
		for ctx.Err() == nil {
			harness.Pause(ctx, time.Duration(dice.IntN(400))*time.Millisecond)
			networks[0].cut(ctx, time.Duration(dice.IntN(100))*time.Millisecond)
		}
	})
	for _, n := range networks {
		n.proxy.Stop() // and with it what is still half-open behind it
	}
	a := r.settled()
	a.balance(t, r.balance())
}
