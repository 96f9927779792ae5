package conference

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWhichDevices: the same devices are the same in any order; one that is another, or of
// another kind, makes another list.
//
// spec: CONF-03
func TestWhichDevices(t *testing.T) {
	of := func(list string) uint64 {
		t.Helper()
		d := ParseData("activeDeviceList", []byte(`{"deviceList":`+list+`}`))
		require.NotNil(t, d)
		return d.Devices
	}
	const a, b = `{"kind":"audioinput","deviceId":"1","label":"x"}`, `{"kind":"videoinput","deviceId":"2","label":"y"}`
	require.Zero(t, of(`[]`))
	require.Equal(t, of(`[`+a+`,`+b+`]`), of(`[`+b+`,`+a+`]`))
	lists := []string{
		`[]`, `[` + a + `]`, `[` + b + `]`, `[` + a + `,` + b + `]`, `[` + a + `,` + a + `]`,
		`[{"kind":"audiooutput","deviceId":"1","label":"x"}]`, `[{"kind":"audioinput","deviceId":"11"}]`,
		`[{"kind":"audioinput1","deviceId":""}]`, `[{"kind":"audioinput","label":"z"}]`, `[{"kind":"audioinput"}]`,
	}
	seen := map[uint64]string{}
	for _, list := range lists {
		require.Empty(t, seen[of(list)], list)
		seen[of(list)] = list
	}
	require.Equal(t, of(`[`+a+`]`), of(`[{"kind":"audioinput","deviceId":"1","label":"renamed"}]`), "a label is not the identity where there is an id")
	require.Equal(t, of(`[{"kind":"audioinput","deviceId":"z"}]`), of(`[{"kind":"audioinput","label":"z"}]`), "where there is none it is")
}

// TestSignal: of the two members the first that can be dBm.
//
// spec: CONF-03
func TestSignal(t *testing.T) {
	f := func(data string, want Value) {
		t.Helper()
		require.Equal(t, want, ParseData("wifiStats", []byte(data)).SignalDBm, data)
	}
	f(`{"rssi":-61,"signal":-40}`, Known(-61))
	f(`{"rssi":0,"signal":-40}`, Known(-40))
	f(`{"rssi":61,"signal":-40}`, Known(-40))
	f(`{"rssi":-200.5,"signal":-200}`, Known(-200))
	f(`{"rssi":-200}`, Known(-200))
	f(`{"signal":-0.5}`, Known(-0.5))
	f(`{"rssi":61,"signal":70}`, Value{})
	f(`{}`, Value{})
}

// TestDelaysOfEvents: each is from its own member.
//
// spec: CONF-03, FAB-05
func TestDelaysOfEvents(t *testing.T) {
	d := ParseData("fabricSetup", []byte(`{"setupMs":1,"gatheringMs":2,"connectivityMs":3,"failureMs":4,"durationMs":5,
		"localCandidateType":"host","remoteCandidateType":"srflx","relayProtocol":"udp","stage":"dtls","reason":"closed"}`))
	require.Equal(t, []Value{Known(1), Known(2), Known(3), Known(4), Known(5)},
		[]Value{d.SetupMs, d.GatheringMs, d.ConnectivityMs, d.FailureMs, d.DurationMs})
	require.Equal(t, []string{"host", "srflx", "udp", "dtls", "closed"},
		[]string{d.LocalCandidateType, d.RemoteCandidateType, d.RelayProtocol, d.Stage, d.Reason})
	d = ParseData("fabricSetup", []byte(`{"setupMs":null,"failureMs":-1}`))
	require.Equal(t, []Value{{}, {}, {}}, []Value{d.SetupMs, d.GatheringMs, d.FailureMs})
}
