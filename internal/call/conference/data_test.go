package conference

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// TestWhichDevices: the same devices are the same in any order; one that is another, or of
// another kind, makes another list.
//
// spec: CONF-03
func TestWhichDevices(t *testing.T) {
	of := func(list string) event.Devices {
		t.Helper()
		d := event.ParseData("activeDeviceList", []byte(`{"deviceList":`+list+`}`))
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
	seen := map[event.Devices]string{}
	for _, list := range lists {
		require.Empty(t, seen[of(list)], list)
		seen[of(list)] = list
	}
	require.False(t, of(`[`+a+`,`+b+`]`).Replaces(of(`[`+a+`]`)), "a first camera")
	require.False(t, of(`[`+a+`]`).Replaces(of(`[]`)))
	require.True(t, of(`[`+a+`]`).Replaces(of(`[`+a+`,`+b+`]`)), "the camera is gone")
	require.True(t, of(`[{"kind":"audioinput","deviceId":"3"},`+b+`]`).Replaces(of(`[`+a+`]`)))
	require.Equal(t, of(`[`+a+`]`), of(`[{"kind":"audioinput","deviceId":"1","label":"renamed"}]`), "a label is not the identity where there is an id")
	require.Equal(t, of(`[{"kind":"audioinput","deviceId":"z"}]`), of(`[{"kind":"audioinput","label":"z"}]`), "where there is none it is")
}

// Models are known by their USB ID; other labels may have a user's name.
func TestDeviceModels(t *testing.T) {
	c := New("app", "c", nil, quality.DefaultBounds())
	apply := func(seq uint64, labels ...string) {
		var list []map[string]string
		for _, label := range labels {
			list = append(list, map[string]string{"kind": "audioinput", "label": label})
		}
		data, err := json.Marshal(map[string]any{"deviceList": list})
		require.NoError(t, err)
		c.Apply(&event.Event{
			AppID: "app", ConferenceID: "c", Session: "s", Seq: seq, Kind: event.KindEvent, Name: "activeDeviceList", AtMs: 1000, ConferenceAtMs: 1000,
			Client: &event.Client{UserAgent: "Mozilla/5.0 (X11; CrOS x86_64)"}, Data: event.ParseData("activeDeviceList", data),
		})
	}
	apply(1, "Webcam C920 (046d:082d)", "AirPods of Ada", "Default - Jabra Evolve 65 (0b0e:030a)")
	apply(2, "Jabra Evolve 65 (0b0e:030a)", "(046d:082d)", "Camera (046D:082d)")
	s := c.Summary(quality.DefaultBounds())
	require.Len(t, s.Participants, 1)
	require.Equal(t, Machine{OS: event.ChromeOS, Devices: []string{"Jabra Evolve 65 (0b0e:030a)", "Webcam C920 (046d:082d)"}}, s.Participants[0].Machine)
	for i := range 40 {
		apply(uint64(3+i), fmt.Sprintf("Many (0000:%04x)", i))
	}
	require.Len(t, c.Summary(quality.DefaultBounds()).Participants[0].Machine.Devices, maxModels)
}

// TestSignal: of the two members the first that can be dBm.
//
// spec: CONF-03
func TestSignal(t *testing.T) {
	f := func(data string, want event.Value) {
		t.Helper()
		require.Equal(t, want, event.ParseData("wifiStats", []byte(data)).SignalDBm, data)
	}
	f(`{"rssi":-61,"signal":-40}`, event.Known(-61))
	f(`{"rssi":0,"signal":-40}`, event.Known(-40))
	f(`{"rssi":61,"signal":-40}`, event.Known(-40))
	f(`{"rssi":-200.5,"signal":-200}`, event.Known(-200))
	f(`{"rssi":-200}`, event.Known(-200))
	f(`{"signal":-0.5}`, event.Known(-0.5))
	f(`{"rssi":61,"signal":70}`, event.Value{})
	f(`{}`, event.Value{})
}

// TestDelaysOfEvents: each is from its own member.
//
// spec: CONF-03, FAB-05
func TestDelaysOfEvents(t *testing.T) {
	d := event.ParseData("fabricSetup", []byte(`{"setupMs":1,"gatheringMs":2,"connectivityMs":3,"failureMs":4,"durationMs":5,
		"localCandidateType":"host","remoteCandidateType":"srflx","relayProtocol":"udp","stage":"dtls","reason":"closed"}`))
	require.Equal(t, []event.Value{event.Known(1), event.Known(2), event.Known(3), event.Known(4), event.Known(5)},
		[]event.Value{d.SetupMs, d.GatheringMs, d.ConnectivityMs, d.FailureMs, d.DurationMs})
	require.Equal(t, []string{"host", "srflx", "udp", "dtls", "closed"},
		[]string{d.LocalCandidateType, d.RemoteCandidateType, d.RelayProtocol, d.Stage, d.Reason})
	d = event.ParseData("fabricSetup", []byte(`{"setupMs":null,"failureMs":-1}`))
	require.Equal(t, []event.Value{{}, {}, {}}, []event.Value{d.SetupMs, d.GatheringMs, d.FailureMs})
}
