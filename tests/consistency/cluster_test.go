package consistency

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/storage/sqlite"
)

// member is one of several processes on one store: its state, what it has not written yet,
// and what it will check.
type member struct {
	twin
	waiting []conference.Summary
	checks  []live.Partial
}

// cluster is the processes. They share the records and the clock.
type cluster []*member

func newCluster(t *testing.T, store *sqlite.Store, app string) cluster {
	t.Helper()
	all := map[string]event.Event{}
	c := make(cluster, 2)
	for i := range c {
		c[i] = &member{twin: twin{T: t, app: app, store: store, now: base + 250_000, all: all}}
		c[i].restart()
	}
	return c
}

// restart loses all that is not in the store.
func (m *member) restart() {
	m.twin.restart()
	m.set.Shared()
	m.waiting, m.checks = nil, nil
}

func (c cluster) advance(ms int64) {
	for _, m := range c {
		m.now += ms
	}
}

// tick lets summaries wait.
func (m *member) tick(t *rapid.T) {
	for again := true; again; {
		out, more := m.set.Tick(m.now, 1000)
		require.False(t, more)
		m.waiting = append(m.waiting, out...)
		parts := m.set.Partials()
		for _, p := range parts {
			m.restore(t, p)
		}
		again = len(parts) > 0
	}
}

// flush writes what waits.
func (m *member) flush(t *rapid.T) (n int) {
	m.put(t, m.waiting)
	for i := range m.waiting {
		s := &m.waiting[i]
		m.checks = append(m.checks, live.Partial{AppID: s.AppID, ConferenceID: s.ConferenceID, AtMs: s.StartMs})
	}
	n, m.waiting = len(m.waiting), nil
	return n
}

func (m *member) check(t *rapid.T) {
	checks := m.checks
	m.checks = nil
	for _, p := range checks {
		m.restore(t, p)
	}
}

// step does one of the things that a process does by itself.
func (m *member) step(t *rapid.T, crashes bool) {
	switch rapid.IntRange(0, 5).Draw(t, "step") {
	case 0, 1:
		m.tick(t)
	case 2:
		m.flush(t)
	case 3:
		m.check(t)
	case 4:
		if crashes {
			m.restart()
		}
	default:
	}
}

// settle lets all time pass that anybody waits for. It must come to rest.
func (c cluster) settle(t *rapid.T) {
	for range 20 {
		reported := 0
		c.advance(40_000)
		for _, m := range c {
			m.check(t)
			m.tick(t)
			reported += m.flush(t)
		}
		if reported == 0 {
			return
		}
	}
	require.Fail(t, "they tell each other news for ever")
}

// TestSeveralProcessesTellOneSummary: two processes each see any part of the records, also
// the same ones, look, write and check when they like, and lose their state: in the end the
// summary of each conference is the fold of all its records, and nobody has anything to add.
//
// spec: CONF-01, CONF-02, SRV-03
func TestSeveralProcessesTellOneSummary(t *testing.T) {
	store := open(t)
	var run atomic.Int64
	rapid.Check(t, func(rt *rapid.T) {
		c := newCluster(t, store, fmt.Sprint("app ", run.Add(1)))
		crashes := rapid.Bool().Draw(rt, "crashes")
		var events []event.Event
		for i := range rapid.IntRange(1, 16).Draw(rt, "records") {
			events = append(events, genEvent(rt, c[0].app, rapid.IntRange(1, 3).Draw(rt, "session"), uint64(i+1)))
		}
		again := rapid.SliceOfN(rapid.SampledFrom(events), 0, 4).Draw(rt, "again")
		for _, e := range slices.Concat(events, again) {
			c[0].all[identity(e.Session, e.Seq, e.Index)] = e
			rapid.SampledFrom(c).Draw(rt, "door").apply(rt, e)
			for range rapid.IntRange(0, 2).Draw(rt, "steps") {
				rapid.SampledFrom(c).Draw(rt, "member").step(rt, crashes)
				c.advance(rapid.Int64Range(0, 40_000).Draw(rt, "advance"))
			}
		}
		c.settle(rt)
		c.advance(400_000)
		rapid.SampledFrom(c).Draw(rt, "sweeper").sweep(rt)
		c.settle(rt)
		if crashes {
			rapid.SampledFrom(c).Draw(rt, "hears more").sayMore(rt)
			c.settle(rt)
		}
		c[0].compare(rt)
	})
}
