package cause_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

func anyValue(t *rapid.T, name string) event.Value {
	return event.Value{V: rapid.Float64().Draw(t, name), Known: rapid.Bool().Draw(t, name+" known")}
}

func anyMs(t *rapid.T, name string) float64 {
	return rapid.SampledFrom([]float64{0, 1, 7000, 1e5, -3, math.Inf(1), math.MaxFloat64}).Draw(t, name)
}

var anyStream = rapid.Custom(func(t *rapid.T) cause.Stream {
	return cause.Stream{
		SSRC: rapid.Int64Range(0, 4).Draw(t, "ssrc"), Sends: rapid.Bool().Draw(t, "sends"),
		Media: rapid.SampledFrom([]string{"audio", "video"}).Draw(t, "media"), User: rapid.SampledFrom([]string{"", "a", "b", "z"}).Draw(t, "user"),
		TimeMs: anyMs(t, "time"), Packets: anyMs(t, "packets"), LostMs: anyMs(t, "lost"), GapMs: anyMs(t, "gap"), SeenMs: anyMs(t, "seen"), Loss: anyValue(t, "loss"),
		JitteryMs: anyMs(t, "jittery"), LimitedMs: anyMs(t, "limited"), CPUMs: anyMs(t, "cpu"), StuckMs: anyMs(t, "stuck"), ChoppyMs: anyMs(t, "choppy"),
		BusyMs: anyMs(t, "busy"), NoneMs: anyMs(t, "none"), WeakMs: anyMs(t, "weak"), QuietMs: anyMs(t, "quiet"), Jitter: anyValue(t, "jitter"),
	}
})

var anyFabric = rapid.Custom(func(t *rapid.T) cause.Fabric {
	return cause.Fabric{
		Remote: []string{rapid.SampledFrom([]string{"", "a", "b", "c", "nobody"}).Draw(t, "remote")}, Server: rapid.Bool().Draw(t, "server"),
		Media: rapid.Bool().Draw(t, "media"), Sends: rapid.Bool().Draw(t, "sends"), Connected: rapid.Bool().Draw(t, "connected"),
		Described: rapid.Bool().Draw(t, "described"), Failed: rapid.Bool().Draw(t, "failed"), Broken: rapid.Bool().Draw(t, "broken"),
		SilentMs: anyMs(t, "silent"), FlowedMs: anyMs(t, "flowed"), CutAtMs: rapid.Int64().Draw(t, "cut"), ClosedMs: rapid.Int64().Draw(t, "closed"),
		LifeMs: anyMs(t, "life"), BrokenMs: anyMs(t, "broken ms"), RTTMs: anyValue(t, "rtt"), SlowMs: anyMs(t, "slow"), RTTSeenMs: anyMs(t, "rtt seen"),
		Candidates: anyValue(t, "candidates"), EndedTrackMs: map[string]float64{"video": anyMs(t, "dead")},
		Streams: rapid.SliceOfN(anyStream, 0, 5).Draw(t, "streams"),
	}
})

var anyCall = rapid.Custom(func(t *rapid.T) cause.Call {
	var call cause.Call
	for i := range rapid.IntRange(0, 5).Draw(t, "people") {
		call.People = append(call.People, cause.Person{
			Session: fmt.Sprint("s", i), Users: []string{rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "user")},
			Measured: rapid.SampledFrom([]int{0, 5, 6, 20, -1, math.MaxInt}).Draw(t, "measured"), OffBeat: rapid.SampledFrom([]int{0, 1, 6, 20, -1, math.MaxInt}).Draw(t, "off beat"),
			Bad: rapid.Bool().Draw(t, "bad"), Fabrics: rapid.SliceOfN(anyFabric, 0, 3).Draw(t, "fabrics"),
			Errors: map[string]int{rapid.SampledFrom([]string{"getUserMedia", "createOffer", "signalingError", "iceConnectionFailure", "other"}).Draw(t, "function"): rapid.IntRange(0, 3).Draw(t, "errors")},
		})
	}
	return call
})

// TestNeverBreaks: whatever is measured, the verdict is of the list, in range, bounded, JSON,
// and names nobody who was not there.
func TestNeverBreaks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		call := anyCall.Draw(t, "call")
		v := cause.Find(call)
		require.Len(t, v.People, len(call.People))
		findings := []cause.Finding{v.Call}
		for _, p := range call.People {
			findings = append(findings, v.People[p.Session])
		}
		for _, f := range findings {
			require.Contains(t, cause.Causes, f.Cause)
			require.True(t, f.Confidence >= 0 && f.Confidence <= 1, "%v", f.Confidence)
			require.LessOrEqual(t, len(f.Evidence), 8)
			require.LessOrEqual(t, len(f.Others), 3)
			for _, session := range []string{f.Session, f.Peer} {
				there := slices.ContainsFunc(call.People, func(p cause.Person) bool { return p.Session == session })
				require.True(t, there || session == "", session)
			}
			_, err := json.Marshal(f)
			require.NoError(t, err)
		}
	})
}
