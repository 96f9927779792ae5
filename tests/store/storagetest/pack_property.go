package storagetest

import (
	"fmt"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
)

// packModel is the model of a store.
type packModel struct {
	f     *packFixture
	app   string
	items []placed     // records to append
	live  map[int]bool // stored records, by index

	session func(n int) storage.Session // nil: session
}

// After any sequence of appends, also repeated ones, packs, deletions and reopening, the
// store equals the model.
//
// spec: CONF-01 CONF-02 SRV-03
func testPackAnyOrder(f *packFixture) {
	runs := 0
	rapid.Check(f.t, func(rt *rapid.T) {
		runs++
		m := &packModel{f: f, app: fmt.Sprint("app ", runs), items: generateFrames(rt), live: map[int]bool{}}
		for range rapid.IntRange(2, 10).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				m.delete(rt)
			case 1:
				f.reopen()
			case 2, 3, 4:
				m.pack(rt)
			default:
				m.append(rt)
			}
			checkAll(rt, &f.fixture, m.app, m.stored())
		}
		_, err := f.s.DeleteBefore(f.t.Context(), at(hour))
		require.NoError(rt, err)
		require.Zero(rt, f.engine.Rows(f.t, f.s))
	})
}

// generateFrames returns records of frames of up to three, some of which are annotations or
// belong to another conferenceID.
func generateFrames(rt *rapid.T) (out []placed) {
	for n := 1; n <= rapid.IntRange(1, 3).Draw(rt, "sessions"); n++ {
		for seq := uint64(1); seq <= rapid.Uint64Range(1, 6).Draw(rt, "frames"); seq++ {
			second := 10 * rapid.IntRange(0, 25).Draw(rt, "second")
			for index := range rapid.IntRange(1, 3).Draw(rt, "records") {
				p := placed{session: n, id: "A", second: second, record: activity(seq, index, float64(second))}
				switch rapid.IntRange(0, 7).Draw(rt, "kind") {
				case 0:
					p.record = annotation(seq, float64(second), float64(rapid.IntRange(0, 400).Draw(rt, "at")))
					p.record.Index = index
				case 1:
					p.id = "a"
				}
				p.record.ConferenceID = p.id
				out = append(out, p)
			}
		}
	}
	return out
}

func (m *packModel) stored() (out []placed) {
	for i, p := range m.items {
		if m.live[i] {
			out = append(out, p)
		}
	}
	return out
}

func (m *packModel) append(rt *rapid.T) {
	var some []placed
	var want storage.Appended
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(m.items)-1), 1, 12).Draw(rt, "append") {
		some = append(some, m.items[i])
		if m.live[i] {
			want.Duplicates++
		} else {
			want.New++
		}
		m.live[i] = true
	}
	together := batches(m.app, some)
	for i := range together {
		if m.session != nil {
			together[i].Session = m.session(some[i].session)
			together[i].Session.AppID = m.app
		}
	}
	got, err := m.f.w.Append(m.f.t.Context(), together)
	require.NoError(rt, err)
	require.Equal(rt, want, got)
}

func (m *packModel) pack(rt *rapid.T) {
	_, err := m.f.s.Pack(m.f.t.Context(), at(float64(10*rapid.IntRange(0, 30).Draw(rt, "pack before"))))
	require.NoError(rt, err)
}

func (m *packModel) delete(rt *rapid.T) {
	before := 10 * rapid.IntRange(0, 30).Draw(rt, "delete before")
	gone := map[string]bool{}
	want := 0
	conferences, unattached := expected(m.stored())
	for _, p := range unattached {
		if p.second < before {
			gone[identity(sessionID(p.session), p.record)] = true
		}
	}
	for _, o := range conferences {
		if o.span.End < int64(before) {
			want++
			for _, r := range o.records {
				gone[identity(r.session, r.record)] = true
			}
		}
	}
	for i, p := range m.items {
		if gone[identity(sessionID(p.session), p.record)] {
			delete(m.live, i)
		}
	}
	got, err := m.f.s.DeleteBefore(m.f.t.Context(), at(float64(before)))
	require.NoError(rt, err)
	require.Equal(rt, want, got)
}

func identity(session string, r storage.Record) string { return fmt.Sprint(session, r.Seq, r.Index) }
