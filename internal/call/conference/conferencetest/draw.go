package conferencetest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// EventNames are names of events of a fabric.
var EventNames = []string{
	"fabricAdded", "remoteDescriptionSet", "fabricSetup", "fabricSetupFailed", "fabricTerminated", "audioMute",
	"audioUnmute", "fabricHold", "fabricResume", "iceDisruptionStart", "iceDisruptionEnd", "iceRestart",
	"selectedCandidatePairChange", "userIDChange", "associateMstWithUserID", "customEvent", "videoPause", "videoResume",
	"wifiStats", "activeDeviceList", "screenShareStart", "screenShareStop", "streamAdded", "limitsChange",
}

func genValue(lo, hi float64) *rapid.Generator[event.Value] {
	return rapid.Custom(func(t *rapid.T) event.Value {
		return event.Value{V: rapid.Float64Range(lo, hi).Draw(t, "v"), Known: rapid.Bool().Draw(t, "known")}
	})
}

// Measurement draws a measurement.
var Measurement = rapid.Custom(func(t *rapid.T) *event.Measurement {
	m := &event.Measurement{
		StatsType: rapid.SampledFrom([]string{"inbound-rtp", "outbound-rtp", "candidate-pair", "new"}).Draw(t, "type"),
		MediaType: rapid.SampledFrom([]string{"audio", "video"}).Draw(t, "media"),
		SSRC:      rapid.Int64Range(1, 3).Draw(t, "ssrc"), Codec: rapid.SampledFrom([]string{"", "opus", "VP8"}).Draw(t, "codec"),
		IntervalMs: rapid.Float64Range(1, 20_000).Draw(t, "interval"),
	}
	shift := map[protocol.Measure]float64{protocol.PacketsLost: 100}
	for _, k := range []protocol.Measure{protocol.Bytes, protocol.Packets, protocol.PacketsLost, protocol.Samples, protocol.ConcealedSamples, protocol.Freezes} {
		if rapid.IntRange(0, 9).Draw(t, k.String()+" unknown") > 0 {
			m.Set(k, float64(rapid.IntRange(0, 5000).Draw(t, k.String()))-shift[k])
		}
	}
	if m.Video() {
		m.Screen = rapid.Bool().Draw(t, "screen")
		m.Put(protocol.Width, genValue(100, 2000).Draw(t, "width"))
		m.Set(protocol.Height, 360)
	}
	m.Set(protocol.FreezeMs, rapid.Float64Range(0, 1000).Draw(t, "freezeMs"))
	for _, level := range []struct {
		k    protocol.Measure
		most float64
	}{
		{protocol.RemotePacketsLost, 100},
		{protocol.JitterMs, 200},
		{protocol.RTTMs, 900},
		{protocol.FPS, 60},
		{protocol.AudioLevel, 0.002},
		{protocol.JitterBufferDelayMs, 400},
		{protocol.ExternalDelayMs, 400},
		{protocol.ConcealmentEvents, 9},
		{protocol.FramesDecoded, 2},
		{protocol.PLIs, 20},
		{protocol.CPULimitedMs, 9000},
		{protocol.EncodeMs, 20_000},
	} {
		m.Put(level.k, genValue(0, level.most).Draw(t, level.k.String()))
	}
	if m.Score.MOS = genValue(1, 4.5).Draw(t, "mos"); m.Score.MOS.Known {
		m.Score.Label = quality.Label(m.Score.MOS.V, quality.DefaultBounds())
	}
	return m
})

// Wild draws a measurement with numbers that no browser reports.
var Wild = rapid.Custom(func(t *rapid.T) *event.Measurement {
	m := Measurement.Draw(t, "stats")
	wild := func(name string) float64 {
		return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, math.MaxFloat64, -math.MaxFloat64, 1e-300})).Draw(t, name)
	}
	m.IntervalMs = wild("interval")
	for k := range protocol.NumMeasures {
		m.Put(k, event.Value{V: wild("value"), Known: rapid.Bool().Draw(t, "known")})
	}
	return m
})

func genData(t *rapid.T, name string) *event.Data {
	text := fmt.Sprintf(`{"alreadyConnected":%t,"setupMs":%g,"durationMs":%g,"reason":%q,"iceConnectionState":%q,"ssrc":%d,"userID":%q,"newUserID":%q,"userIDType":%q,"relayProtocol":%q,"rssi":%d,"deviceList":[{"deviceId":%q}],"statsType":"outbound-rtp","mediaType":"video","trackState":%q,"maxFramerate":%d,"maxBitrate":%d}`,
		rapid.Bool().Draw(t, "already"), rapid.Float64Range(0, 5000).Draw(t, "setupMs"), rapid.Float64Range(0, 5000).Draw(t, "durationMs"),
		rapid.SampledFrom([]string{"failed", "closed", "application"}).Draw(t, "reason"),
		rapid.SampledFrom([]string{"disconnected", "failed"}).Draw(t, "ice"), rapid.IntRange(1, 3).Draw(t, "ssrc"),
		rapid.SampledFrom([]string{"x", "y"}).Draw(t, "user"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "newUser"),
		rapid.SampledFrom([]string{"local", "remote"}).Draw(t, "userIDType"), rapid.SampledFrom([]string{"udp", "tcp"}).Draw(t, "relay"),
		rapid.IntRange(-90, 10).Draw(t, "rssi"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "device"), rapid.SampledFrom([]string{"live", "ended"}).Draw(t, "track"),
		rapid.SampledFrom([]int{5, 30}).Draw(t, "maxFramerate"), rapid.SampledFrom([]int{0, 200_000}).Draw(t, "maxBitrate"))
	return event.ParseData(name, []byte(text))
}

// genEvent draws a record of a session with a given number.
func genEvent(t *rapid.T, session string, seq uint64, index int, spread int64) event.Event {
	e := event.Event{
		AppID: "app", ConferenceID: "c", Session: session, UserID: session, Seq: seq, Index: index,
		AtMs: Base + rapid.Int64Range(0, spread).Draw(t, "at"), Fabric: rapid.IntRange(0, 2).Draw(t, "fabric"),
		Kind: event.Kind(rapid.IntRange(1, 6).Draw(t, "kind")),
	}
	e.ConferenceAtMs = Base + rapid.Int64Range(0, spread).Draw(t, "place")
	if e.Fabric != 0 { // a fabric was added once
		e.ConferenceAtMs = Base + int64(e.Fabric)*10_000
	}
	switch e.Kind {
	case event.KindStats:
		e.Measured = Measurement.Draw(t, "stats")
	case event.KindEvent:
		e.Name = rapid.SampledFrom(EventNames).Draw(t, "name")
		e.Data = genData(t, e.Name)
	case event.KindError:
		e.Function = rapid.SampledFrom([]string{"getUserMedia", "createOffer"}).Draw(t, "function")
	case event.KindFeedback:
		overall := rapid.IntRange(1, 5).Draw(t, "overall")
		e.Feedback = &event.Feedback{Overall: &overall}
	case event.KindSkip:
		e.Lost = event.Lost{Stats: rapid.IntRange(0, 9).Draw(t, "lost")}
	case event.KindLog:
	}
	return e
}

// Events draws the records of a conference "c" whose times are within spread ms after Base, of one
// to three sessions.
func Events(t *rapid.T, spread int64) []event.Event {
	var events []event.Event
	for s := range rapid.IntRange(1, 3).Draw(t, "sessions") {
		for seq := range rapid.IntRange(1, 15).Draw(t, "frames") {
			for index := range rapid.IntRange(1, 2).Draw(t, "records") {
				events = append(events, genEvent(t, fmt.Sprint("s", s), uint64(seq+1), index, spread))
			}
		}
	}
	return events
}

// Shuffled draws another order of events, some of them twice.
func Shuffled(t *rapid.T, events []event.Event) []event.Event {
	again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 10).Draw(t, "again")
	return rapid.Permutation(append(slices.Clone(events), again...)).Draw(t, "order")
}

// JSON returns a summary without its revision as JSON.
func JSON(t require.TestingT, s conference.Summary) string {
	s.Revision = 0
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}
