package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// PackStore is a store that supports Pack and deletion.
type PackStore interface {
	storage.Writer
	storage.Reader
	Pack(ctx context.Context, before time.Time) (storage.Packed, error)
	DeleteBefore(ctx context.Context, before time.Time) (int, error)
}

// PackEngine is an engine whose packing is tested.
type PackEngine struct {
	// Open returns an empty store, and closes it when the test ends.
	Open func(t *testing.T) PackStore
	// Reopen closes a store and opens it again.
	Reopen func(t *testing.T, s PackStore) PackStore
	// Flip inverts one bit in the body of the newest chunk and returns the chunk's name in errors.
	Flip func(t *testing.T, s PackStore) string
	// Spoil damages the body of one loose row of activity, of the session with the highest id that
	// has one.
	Spoil func(t *testing.T, s PackStore)
	// Rows counts the rows of all tables.
	Rows func(t *testing.T, s PackStore) int
}

// RunPack tests the packing of an engine.
func RunPack(t *testing.T, e PackEngine) {
	t.Helper()
	for name, test := range map[string]func(*packFixture){
		"same records":     testPackSame,
		"nothing to pack":  testPackNothing,
		"values":           testPackValues,
		"duplicates":       testPackDuplicates,
		"two conferences":  testPackTwoConferences,
		"late":             testPackLate,
		"merge":            testPackMerge,
		"participants":     testPackParticipants,
		"while it is read": testPackWhileRead,
		"retention":        testPackRetention,
		"reopen":           testPackReopen,
		"stops":            testPackStops,
		"many sessions":    testPackManySessions,
		"flipped bit":      testPackFlippedBit,
		"spoiled row":      testPackSpoiledRow,
		"any order":        testPackAnyOrder,
		"search":           testFindAnyOrder,
	} {
		t.Run(name, func(t *testing.T) {
			f := &packFixture{engine: e}
			f.t = t
			f.use(e.Open(t))
			test(f)
		})
	}
}

// packFixture is a fixture whose store packs.
type packFixture struct {
	fixture
	engine PackEngine
	s      PackStore
}

func (f *packFixture) use(s PackStore) { f.s, f.w, f.r = s, s, s }

func (f *packFixture) reopen() { f.use(f.engine.Reopen(f.t, f.s)) }

// pack packs the conferences that ended before a second.
func (f *packFixture) pack(before float64) storage.Packed {
	f.t.Helper()
	got, err := f.s.Pack(f.t.Context(), at(before))
	require.NoError(f.t, err)
	return got
}

// hour packs all conferences of these tests.
const hour = 3600

// talk appends frames of two records, one a second from the first on, for each session, and
// annotations.
func (f *packFixture) talk(sessions int, frames uint64) {
	f.t.Helper()
	for n := range sessions {
		var records []storage.Record
		for seq := uint64(1); seq <= frames; seq++ {
			records = append(records, activity(seq, 0, float64(seq)), activity(seq, 1, float64(seq)))
			if seq%50 == 0 {
				records = append(records, annotation(1_000_000+seq, float64(seq), float64(seq)))
			}
		}
		f.append(batch(n, records...))
	}
}

// Reads return the same records, packed or not.
//
// spec: SRV-03
func testPackSame(f *packFixture) {
	t := f.t
	f.talk(3, 600)
	before, conference := f.records(ref(1)), f.conference(1)
	require.Equal(t, storage.Packed{}, f.pack(600), "it ended just then")
	packed := f.pack(hour)
	require.Equal(t, 1, packed.Conferences)
	require.Equal(t, 3*600*2, packed.Records)
	require.Positive(t, packed.Bytes)
	require.Equal(t, before, f.records(ref(1)))
	require.Equal(t, conference, f.conference(1))
	require.Equal(t, storage.Packed{}, f.pack(hour), "once is enough")

	calls := 0
	require.NoError(t, f.r.Records(t.Context(), ref(1), func(string, storage.Record) bool { calls++; return calls < 7 }))
	require.Equal(t, 7, calls, "reading stops when the callback returns false")
}

func testPackNothing(f *packFixture) {
	t := f.t
	require.Equal(t, storage.Packed{}, f.pack(hour))
	f.append(batch(1, annotation(1, 0, 0)))
	require.Equal(t, storage.Packed{}, f.pack(hour))
	f.append(batch(1, activity(2, 0, 10)))
	require.Equal(t, 1, f.pack(hour).Records, "an annotation stays loose: its conference may change")
	require.Len(t, f.records(ref(0)), 2)
}

// Every value is returned with its type.
func testPackValues(f *packFixture) {
	t := f.t
	r, bare := activity(1, 0, 0.001), activity(2, 0, 1)
	r.Attributes = values()
	r.ConferenceAt, r.ObservedAt, r.Fabric = at(-5.123), at(7.777), 1<<31-1
	bare.Attributes, bare.Name = map[string]any{}, ""
	odd := activity(3, 5, 1)
	odd.Name, odd.Attributes = "a\x00b\xff", map[string]any{"a\x00b\xff": "a\x00b\xff"}
	f.append(batch(1, r, bare, odd))
	f.pack(hour)
	require.Equal(t, []read{{sessionID(1), r}, {sessionID(1), bare}, {sessionID(1), odd}}, f.records(ref(0)))
}

// A late duplicate is recognised, whole or in parts.
//
// spec: SRV-03
func testPackDuplicates(f *packFixture) {
	t := f.t
	frame := make([]storage.Record, 7)
	for i := range frame {
		frame[i] = activity(9, i, 0)
		frame[i].Attributes["row"] = int64(i)
	}
	f.append(batch(1, frame[2:4]...))
	f.append(batch(1, frame[5]))
	f.append(batch(1, activity(8, 0, 0), activity(11, 0, 0)))
	require.Equal(t, 5, f.pack(hour).Records)
	require.Equal(t, storage.Appended{Duplicates: 3}, f.append(batch(1, frame[2], frame[3], frame[5])))
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, frame[3])))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, frame[3:5]...)))
	require.Equal(t, storage.Appended{New: 3, Duplicates: 4}, f.append(batch(1, frame...)), "some packed, some loose")
	require.Equal(t, storage.Appended{New: 1, Duplicates: 2}, f.append(batch(1, activity(8, 0, 0), activity(10, 0, 0), activity(11, 0, 0))))
	require.Equal(t, 5, f.pack(hour).Records)
	require.Equal(t, storage.Appended{Duplicates: 7}, f.append(batch(1, frame...)))
	changed := frame[0]
	changed.Attributes = map[string]any{"other": true}
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, changed)))
	var got []storage.Record
	for _, r := range f.records(ref(0)) {
		if r.record.Seq == 9 {
			got = append(got, r.record)
		}
	}
	require.Equal(t, frame, got, "what was stored first stays")
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(2, activity(9, 0, 0))), "another session's is another record")
}

// A frame has records in two conferences, one of which is packed.
//
// spec: SRV-03 CONF-02
func testPackTwoConferences(f *packFixture) {
	t := f.t
	here, later, elsewhere := activity(5, 0, 0), activity(5, 1, 5000), activity(5, 2, 0)
	elsewhere.ConferenceID = "elsewhere"
	remark := annotation(5, 0, 0)
	remark.Index = 3
	all := batch(1, here, later, elsewhere, remark)
	f.append(all)
	require.Equal(t, 2, f.pack(hour).Records)
	require.Equal(t, storage.Appended{Duplicates: 4}, f.append(all))
	f.pack(2 * hour)
	require.Equal(t, storage.Appended{Duplicates: 4}, f.append(all))
	require.Equal(t, []read{{sessionID(1), here}, {sessionID(1), remark}}, f.records(ref(0)))
	require.Equal(t, []read{{sessionID(1), later}}, f.records(ref(5000)))
	require.Equal(t, []read{{sessionID(1), elsewhere}}, f.records(storage.Ref{AppID: app, ConferenceID: "elsewhere", At: at(0)}))
}

// Late data makes a packed conference loose again; the next Pack packs it.
//
// spec: CONF-02 SRV-03
func testPackLate(f *packFixture) {
	t := f.t
	f.talk(2, 300)
	f.pack(hour)
	f.append(batch(3, activity(1, 0, 150.5), activity(2, 0, 310)))
	require.Equal(t, [][2]float64{{1, 310}}, f.spans())
	before := f.records(ref(1))
	require.Len(t, before, 2*(300*2+6)+2)
	require.True(t, slices.IsSortedFunc(before, compareReads))
	f.from(before, 301)
	require.Equal(t, []string{sessionID(0), sessionID(1), sessionID(3)}, people(f.conference(1)))
	again := f.pack(hour)
	require.Equal(t, [2]int{1, 2}, [2]int{again.Conferences, again.Records})
	require.Equal(t, before, f.records(ref(1)))
	require.Equal(t, storage.Appended{Duplicates: 2}, f.append(batch(3, activity(1, 0, 150.5), activity(2, 0, 310))))
}

// Two packed conferences are merged.
//
// spec: CONF-02
func testPackMerge(f *packFixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)), batch(2, activity(1, 0, 50)), batch(3, activity(1, 0, 100)))
	require.Equal(t, 3, f.pack(hour).Conferences)
	f.append(batch(4, activity(1, 0, 25)))
	require.Equal(t, [][2]float64{{0, 50}, {100, 100}}, f.spans())
	f.append(batch(4, activity(2, 0, 75)))
	require.Equal(t, [][2]float64{{0, 100}}, f.spans())
	for range 2 {
		require.Equal(t, []string{sessionID(1), sessionID(2), sessionID(3), sessionID(4)}, people(f.conference(50)))
		require.Len(t, f.records(ref(100)), 5)
		f.pack(hour)
	}
}

// Participants are recounted if there are annotations between two packed conferences.
//
// spec: CONF-02
func testPackParticipants(f *packFixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)), batch(2, activity(1, 0, 50), activity(2, 0, 51)), batch(3, annotation(1, 21, 0)))
	require.Equal(t, 2, f.pack(hour).Conferences)
	require.Equal(t, []string{sessionID(1), sessionID(3)}, people(f.conference(0)))
	f.append(batch(4, activity(1, 0, 45)))
	require.Equal(t, [][2]float64{{0, 0}, {45, 51}}, f.spans())
	require.Equal(t, []string{sessionID(1), sessionID(3)}, people(f.conference(0)))
	require.Equal(t, []string{sessionID(2), sessionID(4)}, people(f.conference(50)))
	f.append(batch(4, activity(2, 0, 40)))
	require.Equal(t, []string{sessionID(1)}, people(f.conference(0)), "the remark is nearer to the second now")
	require.Equal(t, []string{sessionID(2), sessionID(3), sessionID(4)}, people(f.conference(50)))
}

// Records that are packed between two pages are returned once.
func testPackWhileRead(f *packFixture) {
	t := f.t
	f.talk(3, 900)
	want := f.records(ref(1))
	for _, when := range []int{1, 300, 1000, 5000} {
		var got []read
		require.NoError(t, f.r.Records(t.Context(), ref(1), func(session string, r storage.Record) bool {
			if len(got) == when {
				f.pack(hour)
				f.append(batch(9, activity(uint64(when), 0, 1))) // before the current position: not returned
			}
			got = append(got, read{session, r})
			return true
		}))
		got = slices.DeleteFunc(got, func(r read) bool { return r.session == sessionID(9) })
		require.Equal(t, want, got)
	}
}

// Writers, packers and readers run concurrently: nothing is lost or returned twice.
//
// spec: SRV-03
func testPackConcurrent(f *packFixture) {
	t := f.t
	const sessions, frames = 3, 400
	f.talk(sessions, frames)
	first := f.records(ref(1))
	ctx, cancel := context.WithCancel(t.Context())
	var work, rest sync.WaitGroup
	rest.Go(func() {
		for ctx.Err() == nil {
			if _, err := f.s.Pack(t.Context(), at(hour)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	rest.Go(func() {
		for ctx.Err() == nil {
			got, err := allRecords(t.Context(), f.r, ref(1))
			if fault := whole(got, first); err != nil || fault != "" {
				t.Error(fault, err)
				return
			}
		}
	})
	for n := range sessions {
		work.Go(func() {
			for seq := uint64(1); seq <= frames; seq += 3 {
				got, err := f.w.Append(t.Context(), []storage.Batch{batch(n, activity(seq, 1, float64(seq)), activity(seq, 2, float64(seq)))})
				if err != nil || got != (storage.Appended{New: 1, Duplicates: 1}) {
					t.Errorf("session %d, frame %d: %+v, %v", n, seq, got, err)
				}
			}
		})
	}
	work.Wait()
	cancel()
	rest.Wait()
	f.pack(hour)
	require.Equal(t, storage.Packed{}, f.pack(hour))
	got := f.records(ref(1))
	require.Empty(t, whole(got, first))
	require.Len(t, got, len(first)+sessions*(frames+2)/3)
}

// whole returns an error unless records are in order, each once, and include others.
func whole(got, others []read) string {
	for i := 1; i < len(got); i++ {
		if compareReads(got[i-1], got[i]) >= 0 {
			return fmt.Sprintf("record %d is out of order or comes twice", i)
		}
	}
	for _, r := range others {
		if _, found := slices.BinarySearchFunc(got, r, compareReads); !found {
			return fmt.Sprintf("session %s, frame %d, record %d is not there", r.session, r.record.Seq, r.record.Index)
		}
	}
	return ""
}

// Deletion removes a packed conference completely, and others are unchanged.
func testPackRetention(f *packFixture) {
	t := f.t
	f.talk(3, 700)
	f.append(batch(1, activity(5000, 0, 5000), activity(5001, 0, 5010)))
	f.pack(2 * hour)
	f.append(batch(1, activity(5001, 1, 5010)))
	n, err := f.s.DeleteBefore(t.Context(), at(4000))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, [][2]float64{{5000, 5010}}, f.spans())
	require.Equal(t, []uint64{5000, 5001, 5001}, f.seqs(5000))
	require.Equal(t, storage.Appended{Duplicates: 3}, f.append(batch(1, activity(5000, 0, 5000), activity(5001, 0, 5010), activity(5001, 1, 5010))))
	n, err = f.s.DeleteBefore(t.Context(), at(6000))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, f.engine.Rows(t, f.s))
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, activity(1, 0, 1))), "what was deleted may come again")
}

// After a restart, with empty caches, duplicates are still recognised.
//
// spec: SRV-03
func testPackReopen(f *packFixture) {
	t := f.t
	var records []storage.Record
	for seq := range uint64(100) {
		records = append(records, activity(seq+1, 0, float64(seq+1)), activity(seq+1, 1, float64(seq+1)))
	}
	f.append(batch(1, records...))
	want := f.records(ref(1))
	f.pack(hour)
	f.reopen()
	require.Equal(t, storage.Appended{Duplicates: 2}, f.append(batch(1, activity(100, 0, 100), activity(100, 1, 100))))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, activity(7, 0, 7), activity(101, 0, 101))))
	require.Equal(t, append(want, read{sessionID(1), activity(101, 0, 101)}), f.records(ref(1)))
}

func testPackStops(f *packFixture) {
	t := f.t
	f.talk(1, 10)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := f.s.Pack(ctx, at(hour))
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, storage.Packed{}, got)
	require.Len(t, f.records(ref(1)), 20)
	require.Equal(t, 20, f.pack(hour).Records)
}

// Thousands of sessions in one conference.
func testPackManySessions(f *packFixture) {
	t := f.t
	sessions := testenv.Pick(2_500, 10_000)
	var batches []storage.Batch
	for n := range sessions {
		batches = append(batches, batch(n, activity(1, 0, float64(n%60)), activity(1, 1, float64(n%60))))
	}
	for part := range slices.Chunk(batches, 1000) {
		f.append(part...)
	}
	require.Equal(t, 2*sessions, f.pack(hour).Records)
	got := f.records(ref(1))
	require.Len(t, got, 2*sessions)
	require.True(t, slices.IsSortedFunc(got, compareReads))
	require.Len(t, f.conference(1).Participants, sessions)
	require.Equal(t, storage.Appended{Duplicates: 2000}, f.append(batches[:1000]...))
	n, err := f.s.DeleteBefore(t.Context(), at(hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, f.engine.Rows(t, f.s))
}

// A damaged chunk is named, and all other records are read.
func testPackFlippedBit(f *packFixture) {
	t := f.t
	f.talk(2, 300)
	f.pack(hour)
	f.append(batch(3, activity(1, 0, 150.5), activity(2, 0, 310)))
	f.pack(hour)
	name := f.engine.Flip(t, f.s)
	got, err := allRecords(t.Context(), f.r, ref(1))
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, name)
	require.Len(t, got, 2*(300*2+6), "all but the two of the damaged chunk")
	require.Equal(t, storage.Appended{Duplicates: 2}, f.append(batch(3, activity(1, 0, 150.5), activity(2, 0, 310))), "what it holds is known")
	require.Equal(t, storage.Packed{}, f.pack(hour))
	n, err := f.s.DeleteBefore(t.Context(), at(hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, f.engine.Rows(t, f.s))
}

// A damaged row is named and stays loose, and all others are packed.
func testPackSpoiledRow(f *packFixture) {
	t := f.t
	f.talk(2, 10)
	f.append(batch(7, activity(3, 0, 5)))
	f.engine.Spoil(t, f.s)
	for range 2 {
		got, err := allRecords(t.Context(), f.r, ref(1))
		require.ErrorIs(t, err, storage.ErrDamaged)
		require.ErrorContains(t, err, "session "+sessionID(7)+", frame 3")
		require.Len(t, got, 40)
		_, err = f.s.Pack(t.Context(), at(hour))
		if err != nil {
			require.ErrorIs(t, err, storage.ErrDamaged)
			require.Equal(t, 1, strings.Count(err.Error(), sessionID(7)))
		}
	}
	require.Equal(t, storage.Packed{}, f.pack(hour), "it is not tried again")
	n, err := f.s.DeleteBefore(t.Context(), at(hour))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Zero(t, f.engine.Rows(t, f.s))
}
