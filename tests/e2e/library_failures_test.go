package e2e

import (
	"fmt"
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// neverConnects has calls fail before they are connected, at each stage, and says which.
//
// spec: FAB-05, FAB-06, FAB-07
func neverConnects(t *testing.T, l *lab, b *browser.Browser) {
	t.Helper()
	p := l.open(t, b, "never connects")
	p.logsIn("{}")
	nobody, err := net.ListenPacket("udp4", "127.0.0.1:0") // takes everything and answers nothing
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, nobody.Close()) })
	p.does(fmt.Sprintf(`window.stage = (name) => name + ' of ' + room;
		pair(stage('silence')); monitor(stage('silence'));
		await ends[stage('silence')].near.setLocalDescription();
		await call(stage('nowhere'), { candidates: false });
		const { near, far } = ends[stage('nowhere')];
		for (const pc of [near, far])
			await pc.addIceCandidate({ candidate: 'candidate:1 1 udp 2122260223 127.0.0.1 %d typ host', sdpMid: '0', sdpMLineIndex: 0 });
		await call(stage('a false name'), { describe: (sdp) => sdp.replace(/^(a=fingerprint:\S+ )(..:..)/gm,
			(all, head, first) => head + (first === 'AA:AA' ? 'BB:BB' : 'AA:AA')) })`, nobody.LocalAddr().(*net.UDPAddr).Port))
	p.sees(patience, "events('fabricSetupFailed').filter(({ data }) => data.reason === 'failed').length === 2")
	p.does("for (const name of ['silence', 'nowhere', 'a false name']) hangUp(stage(name))")
	p.sees(patience, "['silence', 'nowhere', 'a false name'].every((name) => states(stage(name)).at(-1) === 'terminated')")
	for name, want := range map[string][2]string{
		"silence":      {"noRemoteDescription", "terminated"},
		"nowhere":      {"connectivity", "failed"},
		"a false name": {"dtls", "failed"},
	} {
		room := name + " of " + p.room
		whole := l.keeps(t, room, "a summary", ended)
		failed := whole.events("fabricSetupFailed")
		require.Len(t, failed, 1, name)
		require.Equal(t, want, [2]string{failed[0]["stage"].(string), failed[0]["reason"].(string)}, name)
		require.Greater(t, failed[0]["localCandidates"], 0.0, name)
		require.Empty(t, whole.events("fabricSetup"), name)
		fabric := whole.Summary.Participants[0].Fabrics[0]
		require.Equal(t, want, [2]string{fabric.FailureStage, fabric.FailureReason}, name)
		require.InDelta(t, object(failed[0]).number("failureMs"), *fabric.FailureMs, 0, name)
		require.Positive(t, *fabric.FailureMs, name)
		require.Nil(t, fabric.SetupMs, name)
		var states []string
		p.Get("states("+quote(room)+")", &states)
		require.Equal(t, []string{"initialising", "terminated"}, states, name)
	}
	require.Len(t, p.results("init", "appConnectivityError"), 2, "one for each that failed")
}
