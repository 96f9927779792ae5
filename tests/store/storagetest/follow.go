package storagetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Followed is a store that supports Follow.
type Followed interface {
	storage.Writer
	storage.Reader
	storage.Follower
	Close() error
}

// OpenFollowed returns an empty store of the engine, which is closed at the end of the test.
// It may be closed twice.
type OpenFollowed func(t *testing.T) Followed

// RunFollow tests the live side of an engine.
func RunFollow(t *testing.T, open OpenFollowed) {
	t.Helper()
	for name, test := range map[string]func(*following){
		"catch up first": testCatchUpFirst,
		"after commit":   testAfterCommit,
		"span":           testChangeSpan,
		"duplicates":     testNoChange,
		"refused":        testRefused,
		"summary":        testChangeSummary,
		"filter":         testFollowFilter,
		"merged":         testMerged,
		"too slow":       testTooSlow,
		"stop":           testFollowStop,
		"context":        testFollowContext,
		"close":          testFollowClose,
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t)
			test(&following{fixture{t: t, w: s, r: s}, s})
		})
	}
}

// followWait is the timeout for a change.
const followWait = 30 * time.Second

// following is one store and helpers for tests.
type following struct {
	fixture
	s Followed
}

// tail is one call of Follow, whose yield blocks until the test receives the change.
type tail struct {
	t       *testing.T
	changes chan storage.Change
	end     chan error
}

// follow starts a tail and receives its first change, a CatchUp.
func (f *following) follow(ctx context.Context, filter storage.Filter) *tail {
	f.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	tl := &tail{t: f.t, changes: make(chan storage.Change), end: make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		tl.end <- f.s.Follow(ctx, filter, func(c storage.Change) bool {
			select {
			case tl.changes <- c:
				return true
			case <-ctx.Done():
				return false
			}
		})
	}()
	f.t.Cleanup(func() { cancel(); <-done })
	require.Equal(f.t, storage.Change{CatchUp: true}, tl.next())
	return tl
}

func (tl *tail) next() storage.Change {
	tl.t.Helper()
	select {
	case c := <-tl.changes:
		return c
	case err := <-tl.end:
		require.Failf(tl.t, "no change", "Follow returned %v", err)
	case <-time.After(followWait):
		require.Fail(tl.t, "no change")
	}
	return storage.Change{}
}

// ended returns the result of Follow.
func (tl *tail) ended() error {
	tl.t.Helper()
	select {
	case err := <-tl.end:
		return err
	case <-time.After(followWait):
		require.Fail(tl.t, "Follow did not return")
	}
	return nil
}

// activityIn returns a record of activity in a conference.
func activityIn(conference string, seq uint64, second float64) storage.Record {
	r := activity(seq, 0, second)
	r.ConferenceID = conference
	return r
}

func changed(conference string, from, to float64, records int) storage.Change {
	return storage.Change{AppID: app, ConferenceID: conference, From: at(from), To: at(to), Records: records}
}

// pass commits a record and waits until its own follower has received it: then all
// earlier commits have been received by the others too.
func (f *following) pass(marker *tail) {
	f.t.Helper()
	f.append(storage.Batch{Session: session(99), Records: []storage.Record{activityIn("marker", f.seq(), 0)}})
	require.Equal(f.t, changed("marker", 0, 0, 1), marker.next())
}

func (f *following) seq() uint64 {
	f.count++
	return f.count
}

func testCatchUpFirst(f *following) {
	marker := f.follow(f.t.Context(), storage.Filter{ConferenceID: "marker"})
	f.append(batch(1, activity(1, 0, 0)))
	f.pass(marker) // a pending notification may still be sent to a new follower
	tl := f.follow(f.t.Context(), storage.Filter{})
	f.append(batch(1, activity(2, 0, 5)))
	require.Equal(f.t, changed(call, 5, 5, 1), tl.next())
}

// A change can be read as soon as it is notified.
//
// spec: DASH-05
func testAfterCommit(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	for seq := uint64(1); seq <= 20; seq++ {
		done := make(chan error, 1)
		go func() {
			_, err := f.w.Append(f.t.Context(), []storage.Batch{batch(1, activity(seq, 0, float64(seq)))})
			done <- err
		}()
		c := tl.next() // possibly before Append returns
		got, err := allRecords(f.t.Context(), f.r, storage.Ref{AppID: c.AppID, ConferenceID: c.ConferenceID, At: c.From})
		require.NoError(f.t, err)
		require.Len(f.t, got, int(seq))
		require.NoError(f.t, <-done)
	}
}

// The times of a change are those that select the conference: late feedback has the time of the
// conference, not that of its arrival.
func testChangeSpan(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	f.append(batch(1, activity(1, 0, 7), activity(2, 0, 3.25), annotation(3, 5, 900)), batch(2, activity(1, 0, 8), activity(1, 1, 8)))
	require.Equal(f.t, changed(call, 3.25, 8, 5), tl.next())
	f.append(batch(1, annotation(4, 5, 9000)))
	require.Equal(f.t, changed(call, 5, 5, 1), tl.next())
}

// Only new records are a change.
//
// spec: SRV-03
func testNoChange(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	f.append(batch(1, activity(1, 0, 0), activity(1, 1, 0)))
	require.Equal(f.t, changed(call, 0, 0, 2), tl.next())
	f.append(batch(1, activity(1, 0, 0), activity(1, 1, 0)))
	f.append()
	f.append(batch(1, activity(1, 1, 0), activity(1, 2, 0), activity(2, 0, 4)), batch(1, activity(2, 0, 4)))
	require.Equal(f.t, changed(call, 0, 4, 2), tl.next())
}

// A refused Append is no change, even if half of it is valid.
func testRefused(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	bad := activity(2, 0, 0)
	bad.Attributes = map[string]any{"x": struct{}{}}
	_, err := f.w.Append(f.t.Context(), []storage.Batch{batch(1, activity(1, 0, 0)), batch(2, bad)})
	require.ErrorIs(f.t, err, storage.ErrInvalid)
	f.append(batch(1, activity(3, 0, 9)))
	require.Equal(f.t, changed(call, 9, 9, 1), tl.next())
}

func testChangeSummary(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	f.append(batch(1, activity(1, 0, 0), activity(2, 0, 20)))
	require.Equal(f.t, changed(call, 0, 20, 2), tl.next())
	f.put(summary(0, 20, 1))
	require.Equal(f.t, storage.Change{AppID: app, ConferenceID: call, From: at(0), To: at(20), Summary: true}, tl.next())
}

func testFollowFilter(f *following) {
	all := f.follow(f.t.Context(), storage.Filter{})
	ofApp := f.follow(f.t.Context(), storage.Filter{AppID: app})
	ofCall := f.follow(f.t.Context(), storage.Filter{AppID: app, ConferenceID: "a"})
	ofID := f.follow(f.t.Context(), storage.Filter{ConferenceID: "a"})
	var want []storage.Change
	for _, to := range [][2]string{{"other", "a"}, {app, "A"}, {app, "aa"}, {app, "a"}} {
		b := storage.Batch{Session: session(1), Records: []storage.Record{activityIn(to[1], f.seq(), 1)}}
		b.Session.AppID = to[0]
		f.append(b)
		c := changed(to[1], 1, 1, 1)
		c.AppID = to[0]
		want = append(want, c)
		require.Equal(f.t, c, all.next())
	}
	for _, c := range want[1:] {
		require.Equal(f.t, c, ofApp.next())
	}
	require.Equal(f.t, want[3], ofCall.next())
	require.Equal(f.t, want[0], ofID.next())
	require.Equal(f.t, want[3], ofID.next())
}

// A busy follower receives one change a conference, and blocks no other.
func testMerged(f *following) {
	marker := f.follow(f.t.Context(), storage.Filter{ConferenceID: "marker"})
	slow := f.follow(f.t.Context(), storage.Filter{})
	f.append(batch(1, activityIn("first", 1, 0))) // the slow follower is busy with it
	f.pass(marker)
	for seq := uint64(2); seq < 12; seq++ {
		f.append(batch(1, activityIn("a", seq, float64(seq))), batch(2, activityIn("b", seq, 50-float64(seq))))
	}
	s := summary(1, 11, 1)
	s.ConferenceID = "a"
	f.put(s)
	f.pass(marker)
	a := changed("a", 1, 11, 10)
	a.Summary = true
	require.Equal(f.t, changed("first", 0, 0, 1), slow.next())
	got := map[string]storage.Change{}
	for range 3 {
		c := slow.next()
		got[c.ConferenceID] = c
	}
	require.Equal(f.t, a, got["a"])
	require.Equal(f.t, changed("b", 39, 48, 10), got["b"])
	require.Contains(f.t, got, "marker")
}

// When the limit of pending conferences is exceeded, the follower receives a CatchUp and continues.
func testTooSlow(f *following) {
	marker := f.follow(f.t.Context(), storage.Filter{ConferenceID: "marker"})
	slow := f.follow(f.t.Context(), storage.Filter{AppID: app})
	f.append(batch(1, activityIn("first", 1, 0)))
	f.pass(marker)
	var records []storage.Record
	for n := range 1500 {
		records = append(records, activityIn(strconv.Itoa(n), uint64(n+2), 0))
	}
	f.append(batch(1, records...))
	f.pass(marker)
	require.Equal(f.t, changed("first", 0, 0, 1), slow.next())
	require.Equal(f.t, storage.Change{CatchUp: true}, slow.next())
	f.append(batch(1, activityIn("last", 9000, 0)))
	require.Equal(f.t, changed("last", 0, 0, 1), slow.next())
}

func testFollowStop(f *following) {
	calls := 0
	require.NoError(f.t, f.s.Follow(f.t.Context(), storage.Filter{}, func(storage.Change) bool {
		calls++
		return false
	}))
	require.Equal(f.t, 1, calls)
}

func testFollowContext(f *following) {
	ctx, cancel := context.WithCancel(f.t.Context())
	stays := f.follow(f.t.Context(), storage.Filter{})
	tl := f.follow(ctx, storage.Filter{})
	cancel()
	require.ErrorIs(f.t, tl.ended(), context.Canceled)
	f.append(batch(1, activity(1, 0, 0)))
	require.Equal(f.t, changed(call, 0, 0, 1), stays.next())
}

func testFollowClose(f *following) {
	tl := f.follow(f.t.Context(), storage.Filter{})
	require.NoError(f.t, f.s.Close())
	require.Error(f.t, tl.ended())
	require.Error(f.t, f.s.Follow(f.t.Context(), storage.Filter{}, func(storage.Change) bool { return true }))
}
