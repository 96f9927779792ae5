package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Addresses that the library collects are cut before anything else gets them: those of candidates,
// of Wi-Fi statistics and of the SDP of errors. Events of applications are theirs.
//
// spec: INIT-04, PRIV-01
func TestTranslateCutsAddresses(t *testing.T) {
	tr := testTranslator()
	scope := protocol.Scope{Fabric: testFabric()}
	own := `{"localAddress":"192.0.2.7"}`
	for i, event := range [][3]string{
		{"fabricSetup", `{"setupMs":900.50,"localAddress":"192.0.2.7","localAddresses":["192.0.2.7","x.local","2001:db8:1:2::7"]}`, `{"localAddress":"192.0.2.0","localAddresses":["192.0.2.0","2001:db8:1::"],"setupMs":900.50}`},
		{"selectedCandidatePairChange", `{"localAddress":"::ffff:10.1.2.3","relatedAddress":"fe80::1:2%en0"}`, `{"localAddress":"10.1.2.0","relatedAddress":"fe80::"}`},
		{"wifiStats", `{"rssi":-61,"addresses":["192.168.7.8","no address"]}`, `{"addresses":["192.168.7.0"],"rssi":-61}`},
		{"fabricSetup", `{"setupMs":1}`, `{"setupMs":1}`},
		{"customEvent", own, own},
	} {
		tr.add(&protocol.Event{Header: header(uint64(i + 1)), Scope: scope, Event: event[0], Data: []byte(event[1])}, arrival)
		r := records(tr.take())[0]
		got, _ := r.Attributes().Get(semconv.EventData)
		require.Equal(t, event[2], got.AsString(), event[1])
	}
	tr.add(&protocol.ErrorReport{
		Header: header(9), Scope: scope, Function: "createOffer",
		LocalSDP:  "c=IN IP4 192.0.2.7\r\na=candidate:1 1 udp 1 192.0.2.8 9 typ srflx raddr 10.1.2.3 rport 9\r\n",
		RemoteSDP: "c=IN IP6 2001:db8:1:2::7\r\n",
	}, arrival)
	attrs := records(tr.take())[0].Attributes()
	local, _ := attrs.Get(semconv.ErrorLocalSDP)
	remote, _ := attrs.Get(semconv.ErrorRemoteSDP)
	require.Equal(t, "c=IN IP4 192.0.2.0\r\na=candidate:1 1 udp 1 192.0.2.0 9 typ srflx raddr 10.1.2.0 rport 9\r\n", local.AsString())
	require.Equal(t, "c=IN IP6 2001:db8:1::\r\n", remote.AsString())
}
