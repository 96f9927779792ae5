package throttle

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// outcomes of an attempt to enter.
const (
	entered = "entered"
	waits   = "waits"
	full    = "full"
)

// try enters and names the outcome.
func try(g *Gate, key Key, shadow bool) (outcome string, ready chan struct{}) {
	ready, err := g.enter(key, shadow)
	switch {
	case err != nil:
		return full, nil
	case ready != nil:
		return waits, ready
	}
	return entered, nil
}

// A shadow has the outcomes of a class of its own, whatever is busy, and however many other shadows there are.
//
// spec: SRV-04
func TestAShadowIsAdmittedLikeAClass(t *testing.T) {
	const attempts = 20
	f := func(load int, want ...string) {
		t.Helper()
		for _, shadow := range []bool{false, true} {
			g := NewGate(4, 8)
			for key := range Key(load) {
				try(g, key, false)
			}
			if shadow {
				for key := range Key(1000) {
					try(g, 1000+key, true)
				}
			}
			var got []string
			for range attempts {
				outcome, _ := try(g, 99, shadow)
				got = append(got, outcome)
			}
			require.Equal(t, want, got[:len(want)], "load %d, shadow %t", load, shadow)
			for _, outcome := range got[len(want):] {
				require.Equal(t, full, outcome)
			}
		}
	}
	f(0, entered, entered, waits, waits, waits, waits, full)
	f(1, entered, entered, waits, waits, waits, waits, full)
	f(3, entered, waits, waits, waits, waits, full)
	f(4, waits, waits, waits, waits, full)
	f(8, waits, waits, full)
	f(12, full)
}

// Classes that wait are let in at the same moments, whatever shadows do.
//
// spec: SRV-04
func TestShadowsTakeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alone := gateModel{Gate: NewGate(3, 6)}
		beside := gateModel{Gate: NewGate(3, 6)}
		shadows := gateModel{Gate: beside.Gate}
		letIn := func(m *gateModel, key Key, shadow bool) string {
			outcome, ready := try(m.Gate, key, shadow)
			switch outcome {
			case entered:
				m.in = append(m.in, key)
			case waits:
				m.queue = append(m.queue, gateWaiter{key, ready})
			}
			return outcome
		}
		t.Repeat(map[string]func(*rapid.T){
			"enter": func(t *rapid.T) {
				key := Key(rapid.IntRange(1, 4).Draw(t, "key"))
				require.Equal(t, letIn(&alone, key, false), letIn(&beside, key, false))
			},
			"leave": func(t *rapid.T) {
				if len(alone.in) == 0 {
					t.Skip()
				}
				n := rapid.IntRange(0, len(alone.in)-1).Draw(t, "who")
				for _, m := range []*gateModel{&alone, &beside} {
					m.Leave(m.in[n])
					m.in = append(m.in[:n:n], m.in[n+1:]...)
					m.collect()
				}
			},
			"shadow enters": func(t *rapid.T) { letIn(&shadows, Key(rapid.IntRange(11, 20).Draw(t, "key")), true) },
			"shadow leaves": func(t *rapid.T) {
				shadows.collect()
				if len(shadows.in) == 0 {
					t.Skip()
				}
				shadows.Leave(shadows.in[0])
				shadows.in = shadows.in[1:]
			},
			"shadow gives up": func(t *rapid.T) {
				shadows.collect()
				if len(shadows.queue) == 0 {
					t.Skip()
				}
				shadows.cancel(shadows.queue[0].key, shadows.queue[0].ready)
				shadows.queue = shadows.queue[1:]
			},
			"": func(t *rapid.T) {
				require.Equal(t, alone.in, beside.in)
				require.Equal(t, alone.busy, beside.busy)
				require.Equal(t, alone.waiting, beside.waiting)
				shadows.collect()
				require.EqualValues(t, len(beside.queue)+len(shadows.queue), beside.Waiting())
			},
		})
		for shadows.collect(); len(beside.in)+len(shadows.in) > 0; shadows.collect() {
			for _, m := range []*gateModel{&beside, &shadows} {
				for _, key := range m.in {
					m.Leave(key)
				}
				m.in = nil
				m.collect()
			}
		}
		require.Empty(t, beside.classes)
		require.Zero(t, beside.Waiting())
	})
}

// collect moves those who were let in.
func (m *gateModel) collect() {
	var queue []gateWaiter
	for _, w := range m.queue {
		if isClosed(w.ready) {
			m.in = append(m.in, w.key)
		} else {
			queue = append(queue, w)
		}
	}
	m.queue = queue
}
