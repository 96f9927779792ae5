package e2e

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// silentServer is an address over UDP where nothing answers.
func silentServer(t *testing.T) string {
	t.Helper()
	silent, err := net.ListenPacket("udp4", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, silent.Close()) })
	return silent.LocalAddr().String()
}

// allBlocked: a network that lets nothing through to the TURN server. The test ran, and has no values.
func allBlocked(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	silent := silentServer(t)
	s.answers(offering(turnServer("eu-1", "turn:"+silent+"?transport=udp", "turn:"+silent+"?transport=tcp", "turns:"+silent+"?transport=tcp")))
	p := s.open(t, b, "blocked")
	p.Run("begin()")
	f := p.frame()
	require.Equal(t, []any{"success", "", false, false}, []any{f.Status, f.Reason, f.Interrupted, f.MediaConnectivity})
	require.Equal(t, []*float64{nil, nil, nil}, []*float64{f.RTTMs, f.LossFraction, f.ThroughputBps})
	require.False(t, f.Providers[0].Acceptable)
	require.Len(t, f.Providers[0].Transports, 3)
	for _, transport := range f.Providers[0].Transports {
		require.False(t, transport.Connected)
		require.NotEmpty(t, transport.Error, transport.RelayProtocol)
	}
	require.Less(t, f.DurationMs, 16_000.0)
	p.Until(patience, "of('preCallTestResults').length === 1 && of('recommendedConfig').length === 2")
	var results []any
	p.Get("of('preCallTestResults')[0]", &results)
	require.Equal(t, []any{"success", map[string]any{"mediaConnectivity": false, "rtt": nil, "fractionalLoss": nil, "throughput": nil}, "unreachable"}, results)
}

// savesData: a user who saves data is not tested. Not every browser tells, so the page does.
func savesData(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain))))
	p := s.open(t, b, "saves data")
	p.Run("void Object.defineProperty(navigator, 'connection', { value: { saveData: true } })")
	p.Run("begin()")
	f := p.frame()
	require.Equal(t, []any{"failure", "the user saves data", false}, []any{f.Status, f.Reason, f.MediaConnectivity})
	require.InDelta(t, 0, f.BytesSent, 0)
	var made int
	p.Get("ends.length", &made)
	require.Zero(t, made)
}

// isHidden: a test ends when its page is hidden, and none begins while it is.
func isHidden(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain))))
	p := s.open(t, b, "hidden")
	p.beginsTest()
	p.Run(`new Promise((resolve) => setTimeout(() => {
		Object.defineProperty(document, 'hidden', { value: true });
		document.dispatchEvent(new Event('visibilitychange'));
		resolve();
	}, 1500))`)
	f := p.frame()
	require.Equal(t, []any{"success", "the page was hidden", true}, []any{f.Status, f.Reason, f.Interrupted})
	require.NotNil(t, f.RTTMs)
	p.Run("void monitor.makePrecallTest()")
	p.Until(patience, "of('preCallTestResults').length === 2")
	var results []any
	p.Get("of('preCallTestResults')[1]", &results)
	require.Equal(t, []any{"failure", "the page is hidden"}, []any{results[0], results[2]})
}

// hasHabits: what former applications do with tests. They ask before the login, in turns that are too quick, several
// times at once, and wait for a callback in a promise.
func hasHabits(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain))))
	p := s.open(t, b, "habits")
	own := jsonOf([]map[string]any{turnServer("own", startRelayOver(t, "udp", s.chain))})
	var heard [][]any
	p.Get(`(async () => {
		const twice = [];
		monitor.on('preCallTestResults', (...args) => twice.push(args));
		begin({ disablePrecalltest: true });
		const promised = () => new Promise((resolve) => monitor.makePrecallTest((...args) => resolve(args)));
		const results = await Promise.all([promised(), promised()]); // before the login
		for (let i = 0; i < 3; i++) {
			monitor.startPrecallTests(`+own+`, 30);
			monitor.stopPrecallTests();
		}
		const last = await promised();
		return [...results, last, twice.map(([status]) => status), twice[1], twice.at(-1)];
	})()`, &heard)
	require.Equal(t, "success", heard[0][0])
	require.Equal(t, heard[0], heard[1], "both are one test")
	require.Equal(t, []any{"failure", "success", "failure", "failure", "failure", "success"}, heard[3], "the first for the test after the login, which is disabled")
	require.Equal(t, heard[0], heard[4], "two callbacks of one event hear the same as the one of the call")
	require.Equal(t, heard[2], heard[5])
	var triggers []string
	p.Until(patience, "recorded().length === 5")
	p.Get("recorded().map(({ trigger }) => trigger)", &triggers)
	require.Equal(t, []string{"makePrecallTest", "startPrecallTests", "startPrecallTests", "startPrecallTests", "makePrecallTest"}, triggers)
	var recommended []any
	p.Get("of('connectionRecommendation').flat()", &recommended)
	nothing := map[string]any{"aggregatedStats": []any{}, "providerRanking": []any{}}
	require.Equal(t, []any{nothing, nothing, nothing}, recommended, "a server that was not tested is not called unacceptable")
}

// joins: the page builds its PeerConnection in defaultConfig, lets its user join after preCallTestResults, and asks for
// the results again when they are long known.
func joins(t *testing.T, s *precallSite, b *browser.Browser) {
	t.Helper()
	s.answers(offering(turnServer("eu-1", startRelayOver(t, "udp", s.chain))))
	p := s.open(t, b, "joins")
	var joined struct {
		Order        []string
		Policy, Late string
		Fabric       answer
	}
	p.Get(`(async () => {
		const order = [];
		const call = new Promise((resolve) => monitor.on('defaultConfig', ({ peerConnection }) => {
			order.push('defaultConfig');
			resolve(new Genuine(peerConnection));
		}));
		const tested = new Promise((resolve) => monitor.on('preCallTestResults', (status) => {
			order.push(status);
			resolve();
		}));
		begin();
		const pc = await call;
		await tested;
		const fabric = monitor.addNewFabric(pc, 'bob', 'audio', 'room');
		const late = await new Promise((resolve) => monitor.on('preCallTestResults', resolve));
		const { iceTransportPolicy } = pc.getConfiguration();
		pc.close();
		return { order, policy: iceTransportPolicy, late, fabric };
	})()`, &joined)
	require.Equal(t, []string{"defaultConfig", "success"}, joined.Order)
	require.Equal(t, []string{"all", "success", "success"}, []string{joined.Policy, joined.Late, joined.Fabric.Status})
}
