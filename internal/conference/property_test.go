package conference_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/live"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/instance"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

var eventNames = []string{
	"fabricAdded", "remoteDescriptionSet", "fabricSetup", "fabricSetupFailed", "fabricTerminated", "audioMute",
	"audioUnmute", "fabricHold", "fabricResume", "iceDisruptionStart", "iceDisruptionEnd", "iceRestart",
	"selectedCandidatePairChange", "userIDChange", "associateMstWithUserID", "customEvent", "videoPause", "videoResume",
	"wifiStats", "activeDeviceList",
}

func genValue(lo, hi float64) *rapid.Generator[event.Value] {
	return rapid.Custom(func(t *rapid.T) event.Value {
		return event.Value{V: rapid.Float64Range(lo, hi).Draw(t, "v"), Known: rapid.Bool().Draw(t, "known")}
	})
}

var genStats = rapid.Custom(func(t *rapid.T) *event.Measurement {
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

// genWild draws a measurement with numbers that no browser has.
var genWild = rapid.Custom(func(t *rapid.T) *event.Measurement {
	m := genStats.Draw(t, "stats")
	wild := func(name string) float64 {
		return rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, -1, math.MaxFloat64, -math.MaxFloat64, 1e-300})).Draw(t, name)
	}
	m.IntervalMs = wild("interval")
	for k := range protocol.NumMeasures {
		m.Put(k, event.Value{V: wild("value"), Known: rapid.Bool().Draw(t, "known")})
	}
	return m
})

// TestWildNumbersMakeASummary: values that are out of range cause neither a panic nor an invalid
// document.
//
// spec: CONF-03
func TestWildNumbersMakeASummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := conference.New("app", "c")
		for seq := range rapid.IntRange(1, 12).Draw(t, "frames") {
			c.Apply(&event.Event{
				AppID: "app", ConferenceID: "c", Session: "s", Seq: uint64(seq + 1), Fabric: 1, ConferenceAtMs: base,
				AtMs: base + int64(seq)*10_000, Kind: event.KindStats, Measured: genWild.Draw(t, "wild"),
			})
		}
		s := c.Summary(quality.DefaultBounds())
		asJSON(t, s)
		for _, issue := range s.Issues {
			if issue.SinceMs > issue.UntilMs || issue.Count == 0 || issue.TotalMs < 0 {
				t.Fatalf("%+v", issue)
			}
		}
	})
}

func genData(t *rapid.T, name string) *event.Data {
	text := fmt.Sprintf(`{"alreadyConnected":%t,"setupMs":%g,"durationMs":%g,"reason":%q,"iceConnectionState":%q,"ssrc":%d,"userID":%q,"newUserID":%q,"userIDType":%q,"relayProtocol":%q,"rssi":%d,"deviceList":[{"deviceId":%q}]}`,
		rapid.Bool().Draw(t, "already"), rapid.Float64Range(0, 5000).Draw(t, "setupMs"), rapid.Float64Range(0, 5000).Draw(t, "durationMs"),
		rapid.SampledFrom([]string{"failed", "closed", "application"}).Draw(t, "reason"),
		rapid.SampledFrom([]string{"disconnected", "failed"}).Draw(t, "ice"), rapid.IntRange(1, 3).Draw(t, "ssrc"),
		rapid.SampledFrom([]string{"x", "y"}).Draw(t, "user"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "newUser"),
		rapid.SampledFrom([]string{"local", "remote"}).Draw(t, "userIDType"), rapid.SampledFrom([]string{"udp", "tcp"}).Draw(t, "relay"),
		rapid.IntRange(-90, 10).Draw(t, "rssi"), rapid.SampledFrom([]string{"x", "y"}).Draw(t, "device"))
	return event.ParseData(name, []byte(text))
}

// genEvent draws a record of a session with a given number.
func genEvent(t *rapid.T, session string, seq uint64, index int, spread int64) event.Event {
	e := event.Event{
		AppID: "app", ConferenceID: "c", Session: session, UserID: session, Seq: seq, Index: index,
		AtMs: base + rapid.Int64Range(0, spread).Draw(t, "at"), Fabric: rapid.IntRange(0, 2).Draw(t, "fabric"),
		Kind: event.Kind(rapid.IntRange(1, 6).Draw(t, "kind")),
	}
	e.ConferenceAtMs = base + rapid.Int64Range(0, spread).Draw(t, "place")
	if e.Fabric != 0 { // a fabric was added once
		e.ConferenceAtMs = base + int64(e.Fabric)*10_000
	}
	switch e.Kind {
	case event.KindStats:
		e.Measured = genStats.Draw(t, "stats")
	case event.KindEvent:
		e.Name = rapid.SampledFrom(eventNames).Draw(t, "name")
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

func genEvents(t *rapid.T, spread int64) []event.Event {
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

// shuffled draws another order of events, some of them twice.
func shuffled(t *rapid.T, events []event.Event) []event.Event {
	again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 10).Draw(t, "again")
	return rapid.Permutation(append(slices.Clone(events), again...)).Draw(t, "order")
}

func asJSON(t require.TestingT, s conference.Summary) string {
	s.Revision = 0
	text, err := json.Marshal(s)
	require.NoError(t, err)
	return string(text)
}

// TestFoldDependsOnTheSetAlone: any order of arrival and any repetition give the same
// summary, to the last digit.
//
// spec: CONF-02, CONF-03, SRV-03
func TestFoldDependsOnTheSetAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := genEvents(t, 25_000)
		want := asJSON(t, conference.Fold(events, quality.DefaultBounds()))
		require.JSONEq(t, want, asJSON(t, conference.Fold(shuffled(t, events), quality.DefaultBounds())))
	})
}

// TestApplyReportsRepetitions: only the first arrival of a record counts.
func TestApplyReportsRepetitions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := conference.New("app", "c")
		seen := map[string]bool{}
		for _, e := range shuffled(t, genEvents(t, 25_000)) {
			id := fmt.Sprint(e.Session, e.Seq, e.Index)
			require.Equal(t, seen[id], c.Seen(&e))
			require.Equal(t, seen[id], c.Apply(&e))
			seen[id] = true
		}
	})
}

// components is the model with which a Set is compared: the conferences, computed from all
// events at once, and the number of unattached annotations.
func components(events []event.Event) (spans []instance.Span, parts [][]event.Event, unattached int) {
	for i := range events {
		if events[i].Activity() {
			spans = joinModel(spans, instance.At(events[i].AtMs))
		}
	}
	owner := func(at int64) int {
		best, least := -1, int64(0)
		for i, span := range spans {
			far := max(0, span.Start-at, at-span.End)
			if span.Start-30_000 <= at && at <= span.End+24*3600_000 && (best < 0 || far < least || far == least && span.Start < spans[best].Start) {
				best, least = i, far
			}
		}
		return best
	}
	parts = make([][]event.Event, len(spans))
	for _, e := range events {
		at := e.ConferenceAtMs
		if e.Activity() {
			at = e.AtMs
		}
		if part := owner(at); part >= 0 {
			parts[part] = append(parts[part], e)
		} else {
			unattached++
		}
	}
	return spans, parts, unattached
}

func joinModel(spans []instance.Span, s instance.Span) []instance.Span {
	merged, absorbed := instance.Merge(spans, s)
	for _, i := range slices.Backward(absorbed) {
		spans = slices.Delete(spans, i, i+1)
	}
	return append(spans, merged)
}

// TestSetFindsConferences: for any order of arrival, repetition, division into batches and times
// of Tick, the newest summary of each conference is the fold of its events, and revisions
// only increase.
//
// spec: CONF-01, CONF-02, SRV-03
func TestSetFindsConferences(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := genEvents(t, 200_000)
		set := live.NewSet(live.Config{MaxConferences: 1000, KeepEndedMs: 3_600_000, Labels: quality.DefaultBounds()})
		now := int64(base + 150_000)
		var out []conference.Summary
		seen := map[string]bool{}
		for _, e := range shuffled(t, events) {
			id := fmt.Sprint(e.Session, e.Seq, e.Index)
			require.Equal(t, seen[id], set.Seen(&e))
			switch got := set.Apply(&e, now); {
			case seen[id]:
				require.Equal(t, live.Duplicate, got)
			case e.Activity():
				require.Equal(t, live.Applied, got)
			default:
				require.Contains(t, []live.Result{live.Applied, live.Waiting}, got)
			}
			seen[id] = true
			if rapid.Bool().Draw(t, "tick") {
				now += rapid.Int64Range(0, 40_000).Draw(t, "advance")
				out = append(out, tick(set, now)...)
			}
		}
		out = append(out, tick(set, now+200_000)...)
		require.Zero(t, set.Live())
		checkNewest(t, events, out, set)
	})
}

func checkNewest(t *rapid.T, events []event.Event, out []conference.Summary, set *live.Set) {
	spans, parts, unattached := components(events)
	require.Equal(t, len(spans), set.Len(), "conferences in memory")
	require.GreaterOrEqual(t, set.Unattached(), unattached, "annotations that no conference owns, for so long")
	for i, span := range spans {
		var newest *conference.Summary
		highest := 0 // of the earlier ones, also of what was joined
		for k := range out {
			if out[k].StartMs >= span.Start && out[k].EndMs <= span.End {
				if newest != nil {
					highest = max(highest, newest.Revision)
				}
				newest = &out[k]
			}
		}
		require.NotNil(t, newest, "no summary of %v", span)
		require.Greater(t, newest.Revision, highest, "the store keeps the highest revision")
		require.JSONEq(t, asJSON(t, conference.Fold(parts[i], quality.DefaultBounds())), asJSON(t, *newest))
	}
}
