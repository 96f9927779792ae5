package cause_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/tests/kit/rapidfuzz"
)

// oddCalls finds the cause of calls that cannot be, with people in two orders.
func oddCalls(t *rapid.T) {
	call := anyCall.Draw(t, "call")
	for i := range call.People {
		p := &call.People[i]
		p.WeakWiFi = rapid.Float64().Draw(t, "wifi")
		if len(p.Fabrics) > 0 {
			p.Fabrics[0].Stage = rapid.String().Draw(t, "stage")
			p.Fabrics[0].Relay = rapid.SampledFrom([]string{"", "udp", "tcp", "\xff"}).Draw(t, "relay")
		}
	}
	call.Errors = map[string]int{rapid.SampledFrom([]string{"", "createOffer", "x"}).Draw(t, "nobody's"): rapid.Int().Draw(t, "errors")}
	verdict := cause.Find(call)
	call.People = rapid.Permutation(call.People).Draw(t, "order")
	again, err := json.Marshal(cause.Find(call))
	require.NoError(t, err)
	first, err := json.Marshal(verdict)
	require.NoError(t, err, "no number that is none")
	require.JSONEq(t, string(first), string(again))
	require.Len(t, verdict.People, len(call.People))
	for _, f := range verdict.People {
		require.True(t, f.Confidence >= 0 && f.Confidence <= 1 && len(f.Evidence) <= 8 && len(f.Others) <= 3, "%+v", f)
		require.Contains(t, cause.Causes, f.Cause)
	}
}

// TestOddCalls: whatever is known of a call, the verdict is one, and the same in any order.
func TestOddCalls(t *testing.T) { rapid.Check(t, oddCalls) }

// FuzzFind is TestOddCalls led by what code the call reaches.
func FuzzFind(f *testing.F) { rapidfuzz.Run(f, oddCalls) }
