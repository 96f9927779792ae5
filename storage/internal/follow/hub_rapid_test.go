package follow

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
)

// few conferences may wait in the model.
const few = 8

// model is a store of counters and a follower that shows them: it reads all upon a
// CatchUp, and else only what a change names.
type model struct {
	h         *Hub
	f         *follower
	committed map[conferenceKey]int
	shown     map[conferenceKey]int
	notified  map[conferenceKey]int // records by changes since the CatchUp
	base      map[conferenceKey]int // what was there at the CatchUp
}

func (m *model) commit(t *rapid.T) {
	var changes Changes
	for range rapid.IntRange(1, 4).Draw(t, "batches") {
		at := conferenceKey{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "app"), strconv.Itoa(rapid.IntRange(0, 2*few).Draw(t, "conference"))}
		n := rapid.IntRange(0, 3).Draw(t, "records")
		m.committed[at] += n
		changes.Add(storage.Change{AppID: at.app, ConferenceID: at.conference, Records: n})
	}
	m.h.Publish(changes.All())
}

// burst commits to so many conferences that a bound may be passed.
func (m *model) burst(t *rapid.T) {
	from := rapid.IntRange(0, few).Draw(t, "from")
	for n := range rapid.IntRange(few-2, few+2).Draw(t, "conferences") {
		at := conferenceKey{"a", strconv.Itoa(from + n)}
		m.committed[at]++
		m.h.Publish([]storage.Change{{AppID: at.app, ConferenceID: at.conference, Records: 1}})
	}
}

func (m *model) take(t *rapid.T) {
	c, ok, err := m.h.next(t.Context(), m.f)
	require.NoError(t, err)
	switch at := (conferenceKey{c.AppID, c.ConferenceID}); {
	case !ok:
	case c.CatchUp:
		clear(m.shown)
		clear(m.notified)
		clear(m.base)
		for at, n := range m.committed {
			if m.f.wants(&storage.Change{AppID: at.app, ConferenceID: at.conference}) {
				m.shown[at], m.base[at] = n, n
			}
		}
	default:
		m.shown[at] = m.committed[at]
		m.notified[at] += c.Records
		require.Equal(t, m.committed[at], m.base[at]+m.notified[at], "each record is notified once")
	}
}

// A follower that reads again the conferences that a change names, and all of them upon a
// CatchUp, misses no commit, however slow it is, and its queue stays bounded.
//
// spec: DASH-05
func TestNothingIsMissed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		filter := storage.Filter{AppID: rapid.SampledFrom([]string{"", "a"}).Draw(t, "filter")}
		m := &model{
			h: NewHub(), f: newFollower(filter),
			committed: map[conferenceKey]int{}, shown: map[conferenceKey]int{}, notified: map[conferenceKey]int{}, base: map[conferenceKey]int{},
		}
		m.h.limit = few
		m.h.followers[m.f] = struct{}{}
		t.Repeat(map[string]func(*rapid.T){
			"commit": m.commit,
			"burst":  m.burst,
			"gap":    func(*rapid.T) { m.h.Gap() },
			"take":   m.take,
			"":       func(t *rapid.T) { require.LessOrEqual(t, len(m.f.waiting.order), few) },
		})
		for m.f.catchUp || len(m.f.waiting.order) > 0 {
			require.Len(t, m.f.wake, 1, "a follower that has something to take is awake")
			m.take(t)
		}
		for at, n := range m.committed {
			if m.f.wants(&storage.Change{AppID: at.app, ConferenceID: at.conference}) {
				require.Equal(t, n, m.shown[at], at)
			}
		}
	})
}
