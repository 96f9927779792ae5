package qoswssreceiver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// Addresses that the library collects are cut before anything else gets them: those of candidates,
// of Wi-Fi statistics and of the SDP of errors, and those in the data of any other event.
//
// spec: INIT-04, PRIV-01
func TestTranslateCutsAddresses(t *testing.T) {
	tr := testTranslator()
	scope := protocol.Scope{Fabric: testFabric()}
	own := `{"localAddress":"192.0.2.7","usage":"10.1.2.3"}`
	for i, event := range [][3]string{
		{"fabricSetup", `{"setupMs":900.50,"localAddress":"192.0.2.7","localAddresses":["192.0.2.7","x.local","2001:db8:1:2::7"]}`, `{"localAddress":"192.0.2.0","localAddresses":["192.0.2.0","2001:db8:1::"],"setupMs":900.50}`},
		{"selectedCandidatePairChange", `{"localAddress":"::ffff:10.1.2.3","relatedAddress":"fe80::1:2%en0"}`, `{"localAddress":"10.1.2.0","relatedAddress":"fe80::"}`},
		{"wifiStats", `{"rssi":-61,"addresses":["192.168.7.8","no address"]}`, `{"addresses":["192.168.7.0"],"rssi":-61}`},
		{"fabricSetup", `{"setupMs":1}`, `{"setupMs":1}`},
		{"customEvent", own, `{"localAddress":"192.0.2.0","usage":"10.1.2.0"}`},
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

// sdpParts gives the parts of a text to a translator and returns what their records have.
func sdpParts(t *testing.T, tr *translator, offset int, parts ...string) (text string, ends []int64) {
	t.Helper()
	for i, part := range parts {
		tr.add(&protocol.SDPPart{
			Header: header(uint64(10 + offset + i)), Scope: protocol.Scope{Fabric: testFabric()},
			Error: 9, Field: "remoteSDP", Offset: offset, Text: part,
		}, arrival)
		offset += len(part)
		attrs := records(tr.take())[0].Attributes()
		got, _ := attrs.Get(semconv.SDPText)
		at, _ := attrs.Get(semconv.SDPOffset)
		bytes, shorter := attrs.Get(semconv.SDPBytes)
		if text += got.AsString(); !shorter {
			bytes = pcommon.NewValueInt(int64(len(got.AsString())))
		}
		ends = append(ends, at.Int()+bytes.Int())
	}
	return text, ends
}

// An SDP that arrives in parts is cut as in one piece, wherever it is divided. Of one whose earlier part
// is unknown, no end of an address is kept.
//
// spec: PRIV-01
func TestTranslateCutsPartsOfAnSDP(t *testing.T) {
	const whole = "c=IN IP4 192.0.2.7\r\nc=IN IP6 2001:db8:1:2::7\r\na=candidate:1 1 udp 1 192.0.2.8 9 typ srflx raddr fe80::1:22 rport 9\r\n"
	const cut = "c=IN IP4 192.0.2.0\r\nc=IN IP6 2001:db8:1::\r\na=candidate:1 1 udp 1 192.0.2.0 9 typ srflx raddr fe80:: rport 9\r\n"
	for i := 1; i < len(whole)-1; i++ {
		text, ends := sdpParts(t, testTranslator(), 0, whole[:i], whole[i:])
		require.Equal(t, cut, text, "at byte %d", i)
		require.Equal(t, []int64{int64(i), int64(len(whole))}, ends)
		text, ends = sdpParts(t, testTranslator(), i, whole[i:])
		require.NotRegexp(t, `2\.[78]\b|::7|1:22`, text, "from byte %d", i)
		require.Equal(t, []int64{int64(len(whole))}, ends)
	}
}
