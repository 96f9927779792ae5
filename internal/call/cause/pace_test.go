package cause_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/event"
)

// paced says how many of 20 measurements of each were off the beat.
func paced(call cause.Call, offBeat ...int) cause.Call {
	for i, n := range offBeat {
		call.People[i].Measured, call.People[i].OffBeat = 20, n
	}
	return call
}

// unevenAt makes all that one participant sends and gets come unevenly, and round trips long.
func unevenAt(call cause.Call, who string) cause.Call {
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			f := &call.People[i].Fabrics[j]
			jitterMs, jitteryMs := 2.0, 0.0
			if call.People[i].Session == who || f.Remote[0] == who {
				jitterMs, jitteryMs, f.SlowMs, f.RTTMs.V = 30, minute, minute, 500
			}
			for k := range f.Streams {
				f.Streams[k].JitteryMs, f.Streams[k].Jitter = jitteryMs, event.Known(jitterMs)
			}
		}
	}
	return call
}

// TestMachinesWithoutTime: a machine whose measurements come late while nobody else's do has no
// time, if its media are bad as well. Nothing else follows from the pace.
//
// spec: CONF-03
func TestMachinesWithoutTime(t *testing.T) {
	got := cause.Find(paced(unevenAt(mesh("abc"), "b"), 1, 12, 2)).Call
	require.Equal(t, cause.ReceivingMachine, got.Cause)
	require.Equal(t, "b", got.Session)
	require.Equal(t, "lateMeasurementsShare", got.Evidence[0].Metric)
	require.InDelta(t, 0.6, got.Evidence[0].Value, 1e-9)
	require.Less(t, got.Confidence, 0.8, "neither encoder nor decoder says so")

	for what, offBeat := range map[string][]int{
		"all are late, as on one busy host":  {9, 12, 10},
		"another is late too":                {1, 12, 11},
		"so is one who was looked at before": {11, 12, 1},
		"hardly anything is late":            {1, 7, 0},
		"the pace is unknown":                {},
	} {
		got := cause.Find(paced(unevenAt(mesh("abc"), "b"), offBeat...)).Call
		require.NotContains(t, []cause.Cause{cause.ReceivingMachine, cause.SendingMachineCPU}, got.Cause, what)
	}
	elsewhere := unevenAt(mesh("abc"), "b")
	change(elsewhere, "c", "a", func(f *cause.Fabric) { f.Streams[1].JitteryMs, f.Streams[0].JitteryMs = minute, minute })
	require.NotEqual(t, cause.ReceivingMachine, cause.Find(paced(elsewhere, 1, 12, 2)).Call.Cause)
	got = cause.Find(paced(mesh("abc"), 1, 12, 2)).Call
	require.Equal(t, cause.None, got.Cause, "media are well")
	got = cause.Find(paced(mesh("abc", "ab", "cb"), 1, 12, 2)).Call
	require.Equal(t, cause.ReceiverDownlink, got.Cause, "a machine without time loses nothing")
}

// TestFewMeasurementsHaveNoPace: of five nothing follows.
func TestFewMeasurementsHaveNoPace(t *testing.T) {
	call := paced(unevenAt(mesh("ab"), "b"), 0, 12)
	require.Equal(t, cause.ReceivingMachine, cause.Find(call).Call.Cause)
	call.People[0].Measured = 5
	require.Equal(t, cause.Unknown, cause.Find(call).Call.Cause, "of the other too little is known")
}

// TestWhatIsSentByMachinesWithoutTime: only what it sends is bad.
//
// spec: CONF-03
func TestWhatIsSentByMachinesWithoutTime(t *testing.T) {
	call := mesh("abc")
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			if f := &call.People[i].Fabrics[j]; f.Remote[0] == "b" {
				f.Streams[slices.IndexFunc(f.Streams, func(s cause.Stream) bool { return !s.Sends })].JitteryMs = minute
			}
		}
	}
	got := cause.Find(paced(call, 0, 12, 0)).Call
	require.Equal(t, cause.SendingMachineCPU, got.Cause)
	require.Equal(t, "b", got.Session)
}

// TestBusyMachinesMakeJitter: what an encoder or a decoder says explains what is uneven at its
// end, and pictures that are few for it are not the camera's fault.
//
// spec: CONF-03
func TestBusyMachinesMakeJitter(t *testing.T) {
	for want, harm := range map[cause.Cause]func(out, in *cause.Stream){
		cause.ReceivingMachine:  func(_, in *cause.Stream) { in.BusyMs = minute },
		cause.SendingMachineCPU: func(out, _ *cause.Stream) { out.BusyMs, out.WeakMs = minute, minute },
	} {
		call := mesh("abc")
		from, to, who := "a", "b", "b"
		if want == cause.SendingMachineCPU {
			from, to, who = "b", "a", "b"
		}
		stream(call.People, from, to, 99, func(out, in *cause.Stream) {
			out.Media, in.Media = "video", "video"
			harm(out, in)
		})
		got := cause.Find(unevenAt(call, who)).Call
		require.Equal(t, want, got.Cause)
		require.Equal(t, who, got.Session)
		late := cause.Find(paced(unevenAt(call, who), 0, 12, 0)).Call
		require.Equal(t, want, late.Cause)
		require.Greater(t, late.Confidence, got.Confidence, "its measurements came late, too")
		for _, o := range append(got.Others, late.Others...) {
			require.NotEqual(t, cause.SendingCapture, o.Cause)
		}
	}
}

// TestInterruptedAtTheEnd: what ICE calls a disruption as the call ends is no cause of a bad
// call, if nothing was missing for long, or the other had left.
//
// spec: CONF-03
func TestInterruptedAtTheEnd(t *testing.T) {
	f := func(change func(here, there *cause.Fabric), want cause.Cause) {
		t.Helper()
		call := mesh("ab")
		here, there := &call.People[0].Fabrics[0], &call.People[1].Fabrics[0]
		here.Broken, here.CutAtMs = true, minute
		change(here, there)
		require.Equal(t, want, cause.Find(call).Call.Cause)
	}
	f(func(h, _ *cause.Fabric) { h.BrokenMs, h.SilentMs = 500, 500 }, cause.None)
	f(func(h, _ *cause.Fabric) { h.BrokenMs, h.SilentMs = 1500, 1500 }, cause.ICEConnectivity)
	f(func(h, _ *cause.Fabric) { h.BrokenMs, h.SilentMs = 500, 6000 }, cause.ICEConnectivity)
	f(func(h, _ *cause.Fabric) { h.BrokenMs, h.SilentMs = 0, 0 }, cause.None) // media were still received
	f(func(h, _ *cause.Fabric) { h.BrokenMs, h.SilentMs = 9000, 0 }, cause.ICEConnectivity)
	f(func(h, b *cause.Fabric) { h.BrokenMs, h.SilentMs, b.ClosedMs = 12_000, 17_000, minute-5000 }, cause.None)
	f(func(h, b *cause.Fabric) { h.BrokenMs, h.SilentMs, b.ClosedMs = 12_000, 17_000, minute+9000 }, cause.ICEConnectivity)
}

// TestEvidenceIsDistinct: two bad paths to one participant give one piece of evidence, with the worse
// value.
func TestEvidenceIsDistinct(t *testing.T) {
	call := mesh("abc", "ab", "cb")
	for i := range call.People {
		for j := range call.People[i].Fabrics {
			if f := &call.People[i].Fabrics[j]; call.People[i].Session == "b" && f.Remote[0] == "c" {
				for k := range f.Streams {
					f.Streams[k].Loss.V *= 2
				}
			}
		}
	}
	got := cause.Find(call).Call
	require.Equal(t, cause.ReceiverDownlink, got.Cause)
	var values []float64
	for _, e := range got.Evidence {
		if e.Metric == "lossFraction" {
			values = append(values, e.Value)
		}
	}
	require.Equal(t, []float64{0.2}, values)
}

// TestMadeUpSoundExplainsNothing: a network that is uneven makes it too.
func TestMadeUpSoundExplainsNothing(t *testing.T) {
	call := unevenAt(mesh("abc"), "b")
	change(call, "b", "a", func(f *cause.Fabric) {
		for k := range f.Streams {
			f.Streams[k].ChoppyMs = minute
		}
	})
	got := cause.Find(call).Call
	require.Contains(t, []cause.Cause{cause.SenderUplink, cause.ReceiverDownlink}, got.Cause)
	require.Equal(t, "b", got.Session)
}
