package storagetest

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// spec: SRV-03
func testDuplicates(f *fixture) {
	t := f.t
	b := batch(1, activity(1, 0, 0), activity(1, 1, 0), activity(2, 0, 1))
	require.Equal(t, storage.Appended{New: 3}, f.append(b))
	require.Equal(t, storage.Appended{Duplicates: 3}, f.append(b))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 3}, f.append(batch(1, append(b.Records, activity(3, 0, 2))...)))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, activity(4, 0, 3), activity(4, 0, 3))), "twice in one batch")
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, activity(5, 0, 3)), batch(1, activity(5, 0, 3))))

	// What was stored first stays.
	changed := activity(1, 0, 0)
	changed.Attributes = map[string]any{"other": true}
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, changed)))
	require.Equal(t, activity(1, 0, 0), f.records(ref(0))[0].record)
	require.Equal(t, []uint64{1, 1, 2, 3, 4, 5}, f.seqs(0))

	// The same number of another session is another record.
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(2, activity(1, 0, 0))))
}

// A number of a session is used once, under any conferenceID, also if the first record with it is
// packed.
//
// spec: SRV-03
func testNumberAgain(f *fixture) {
	t := f.t
	other := func(seq uint64, index int) storage.Record {
		r := activity(seq, index, 1)
		r.ConferenceID = "retro"
		return r
	}
	f.append(batch(1, activity(1, 0, 0), activity(1, 1, 0), activity(2, 0, 1)))
	for range 2 {
		require.Equal(t, storage.Appended{Duplicates: 2}, f.append(batch(1, other(1, 0), other(2, 0))))
		require.Equal(t, []uint64{1, 1, 2}, f.seqs(0))
		require.Len(t, f.list(storage.Query{}).Conferences, 1)
		f.pack(1000)
	}
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, other(1, 1), other(1, 2))), "an index that is free")
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(batch(1, activity(1, 2, 0))), "and is used now")
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(2, other(1, 0))), "of another session")
	require.Len(t, f.list(storage.Query{}).Conferences, 2)
}

// spec: SRV-03
func testPartialFrames(f *fixture) {
	t := f.t
	frame := make([]storage.Record, 7)
	for i := range frame {
		frame[i] = activity(9, i, 0)
		frame[i].Attributes["row"] = int64(i)
	}
	require.Equal(t, storage.Appended{New: 2}, f.append(batch(1, frame[4], frame[2])))
	require.Equal(t, storage.Appended{New: 1, Duplicates: 1}, f.append(batch(1, frame[4:6]...)))
	require.Equal(t, storage.Appended{New: 4, Duplicates: 3}, f.append(batch(1, frame...)))
	var want []read
	for _, r := range frame {
		want = append(want, read{sessionID(1), r})
	}
	require.Equal(t, want, f.records(ref(0)))
}

// A frame may be about many conferences, one row each, and arrive in parts.
//
// spec: SRV-03
func testFrameOfManyConferences(f *fixture) {
	t := f.t
	frame := make([]storage.Record, 40)
	for i := range frame {
		frame[i] = activity(9, i, 0)
		frame[i].ConferenceID = fmt.Sprint("room ", i)
	}
	require.Equal(t, storage.Appended{New: 2}, f.append(batch(1, frame[3], frame[30])))
	require.Equal(t, storage.Appended{New: 10, Duplicates: 1}, f.append(batch(1, frame[30:]...), batch(1, frame[20])))
	require.Equal(t, storage.Appended{New: 28, Duplicates: 12}, f.append(batch(1, frame...)))
	require.Equal(t, storage.Appended{Duplicates: 40}, f.append(batch(1, frame...)))
	require.Len(t, f.list(storage.Query{}).Conferences, 40)
}

// A frame with more rows than one transaction writes is written completely.
//
// spec: SRV-03
func testFrameOfManyTransactions(f *fixture) {
	t := f.t
	frame := make([]storage.Record, 600)
	for i := range frame {
		frame[i] = activity(9, i, float64(i%2)) // each in its own row
	}
	b := batch(1, frame...)
	require.Equal(t, storage.Appended{New: 600}, f.append(b))
	require.Equal(t, storage.Appended{Duplicates: 600}, f.append(b))
	var want []read
	for _, parity := range []int{0, 1} {
		for i := parity; i < len(frame); i += 2 {
			want = append(want, read{sessionID(1), frame[i]})
		}
	}
	require.Equal(t, want, f.records(ref(0)))
}

func testAllOrNothing(f *fixture) {
	t := f.t
	bad := activity(2, 0, 0)
	bad.ConferenceID = ""
	_, err := f.w.Append(t.Context(), []storage.Batch{batch(1, activity(1, 0, 0)), batch(2, bad)})
	require.ErrorIs(t, err, storage.ErrInvalid)
	require.Empty(t, f.spans())
}

func testInvalid(f *fixture) {
	t := f.t
	for name, spoil := range map[string]func(*storage.Batch){
		"app":           func(b *storage.Batch) { b.Session.AppID = "" },
		"session":       func(b *storage.Batch) { b.Session.ID = "" },
		"session upper": func(b *storage.Batch) { b.Session.ID = "019A9F3C-7B1A-7C3E-9F10-000000000001" },
		"session dash":  func(b *storage.Batch) { b.Session.ID = "019a9f3c-7b1a-7c3e-9f100000000000-01" },
		"seq 0":         func(b *storage.Batch) { b.Records[0].Seq = 0 },
		"seq":           func(b *storage.Batch) { b.Records[0].Seq = math.MaxUint64 },
		"index":         func(b *storage.Batch) { b.Records[0].Index = -1 },
		"conferenceID":  func(b *storage.Batch) { b.Records[0].ConferenceID = "" },
		"at":            func(b *storage.Batch) { b.Records[0].At = time.Time{} },
		"conferenceAt":  func(b *storage.Batch) { b.Records[0] = annotation(1, 0, 0); b.Records[0].ConferenceAt = time.Time{} },
		"attribute":     func(b *storage.Batch) { b.Records[0].Attributes["x"] = []byte{1} },
		"nil attribute": func(b *storage.Batch) { b.Records[0].Attributes["x"] = nil },
		"attributes": func(b *storage.Batch) {
			for i := range b.Records {
				b.Records[i].Attributes["x"] = []byte{1} // does not even compare
			}
		},
	} {
		b := batch(1, activity(1, 0, 0), activity(1, 1, 0))
		spoil(&b)
		_, err := f.w.Append(t.Context(), []storage.Batch{b})
		require.ErrorIs(t, err, storage.ErrInvalid, name)
	}
	require.Empty(t, f.spans())
}

func testNothing(f *fixture) {
	t := f.t
	require.Equal(t, storage.Appended{}, f.append())
	require.Equal(t, storage.Appended{}, f.append(batch(1)))
	require.Empty(t, f.spans())
}

func testCancelled(f *fixture) {
	t := f.t
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.w.Append(ctx, []storage.Batch{batch(1, activity(1, 0, 0))})
	require.ErrorIs(t, err, context.Canceled)
	_, err = f.r.Conferences(ctx, storage.Query{})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, storage.Appended{New: 1}, f.append(batch(1, activity(1, 0, 0))), "a cancelled write does no harm")
}

func testConcurrent(f *fixture) {
	t := f.t
	const writers, frames = 8, 40
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			for seq := uint64(1); seq <= frames; seq++ {
				got, err := f.w.Append(t.Context(), []storage.Batch{batch(n, activity(seq, 0, float64(seq)))})
				if err != nil || got != (storage.Appended{New: 1}) {
					t.Errorf("session %d, frame %d: %+v, %v", n, seq, got, err)
				}
				if _, err := f.r.Conference(t.Context(), ref(0)); err != nil {
					t.Errorf("read: %v", err)
				}
			}
		})
	}
	wg.Wait()
	require.Equal(t, [][2]float64{{1, frames}}, f.spans())
	require.Len(t, f.records(ref(1)), writers*frames)
	require.Len(t, f.conference(1).Participants, writers)
}

// A frame that several connections append concurrently is stored once.
//
// spec: SRV-03
func testSameFrame(f *fixture) {
	t := f.t
	var mu sync.Mutex
	var total storage.Appended
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			got, err := f.w.Append(t.Context(), []storage.Batch{batch(1, activity(1, 0, 0), activity(1, 1, 0))})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			total.New += got.New
			total.Duplicates += got.Duplicates
		})
	}
	wg.Wait()
	require.Equal(t, storage.Appended{New: 2, Duplicates: 30}, total)
}
