package storagetest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// NoticesStore is an engine's points and notices.
type NoticesStore struct {
	storage.Notices
	// Reopen returns the same store, as after a restart.
	Reopen func(t *testing.T) storage.Notices
}

// RunNotices tests an engine's points and notices. open returns an empty store.
func RunNotices(t *testing.T, open func(t *testing.T) NoticesStore) {
	t.Helper()
	for name, test := range map[string]func(*testing.T, NoticesStore){
		"points once":     testPointsOnce,
		"points in order": testPointsInOrder,
		"bounds":          testNoticeBounds,
		"one id, one row": testNoticeOnce,
		"next by webhook": testNoticesNext,
		"states":          testNoticeStates,
		"pages":           testNoticePages,
		"forget":          testNoticesForget,
		"restart":         testNoticesRestart,
		"pending limit":   testNoticesLimit,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func point(conference, id string, from, to float64) storage.Point {
	return storage.Point{AppID: app, ConferenceID: conference, ID: id, Start: at(from), End: at(to), RecordedAt: at(to), Body: []byte("{}")}
}

func addPoints(t *testing.T, s storage.Notices, points ...storage.Point) int {
	t.Helper()
	n, err := s.AddPoints(t.Context(), points)
	require.NoError(t, err)
	return n
}

// A revision of a conference may begin or end at another time, and another collector may emit its own
// first revision: they overlap. A conference that begins later under the same id does not.
func testPointsOnce(t *testing.T, s NoticesStore) {
	t.Helper()
	require.Equal(t, 1, addPoints(t, s, point("c", "", 100, 160), point("c", "", 100, 160)))
	for _, span := range [][2]float64{{100, 160}, {90, 170}, {120, 130}, {190, 200}, {60, 70}} {
		require.Zero(t, addPoints(t, s, point("c", "", span[0], span[1])), span)
	}
	for i, other := range []storage.Point{point("c", "", 190.001, 200), point("C", "", 100, 160), point("c", "s/1/0", 100, 100), point("c", "s/1/1", 100, 100)} {
		require.Equal(t, 1, addPoints(t, s, other), i)
		require.Zero(t, addPoints(t, s, other), i)
	}
	other := point("c", "", 100, 160)
	other.AppID = "other"
	require.Equal(t, 1, addPoints(t, s, other))
}

func testPointsInOrder(t *testing.T, s NoticesStore) {
	t.Helper()
	want := point("a\x00\xff", "x", 10, 20.5)
	want.Body = []byte("\x00body")
	require.Equal(t, 2, addPoints(t, s, want, point("b", "", 1, 2)))
	got, err := s.Points(t.Context(), 0, at(0), 10)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Less(t, got[0].Key, got[1].Key)
	want.Key = got[0].Key
	require.Equal(t, want, got[0])
	for _, c := range []struct {
		after int64
		since time.Time
		limit int
		want  []string
	}{
		{got[0].Key, at(0), 10, []string{"b"}},
		{0, at(2), 10, []string{"a\x00\xff", "b"}},
		{0, at(20.5), 10, []string{"a\x00\xff"}},
		{0, at(20.501), 10, nil},
		{0, at(0), 1, []string{"a\x00\xff"}},
		{got[1].Key, at(0), 10, nil},
	} {
		page, err := s.Points(t.Context(), c.after, c.since, c.limit)
		require.NoError(t, err)
		var ids []string
		for _, p := range page {
			ids = append(ids, p.ConferenceID)
		}
		require.Equal(t, c.want, ids)
	}
}

func notice(id, hook string, due float64) storage.Notice {
	return storage.Notice{ID: id, AppID: app, Hook: hook, CreatedAt: at(0), DueAt: at(due), Body: []byte(id)}
}

func addNotices(t *testing.T, s storage.Notices, notices ...storage.Notice) storage.Added {
	t.Helper()
	done, err := s.AddNotices(t.Context(), notices, 100)
	require.NoError(t, err)
	return done
}

func noticeIDs(notices []storage.Notice) (ids []string) {
	for _, n := range notices {
		ids = append(ids, n.ID)
	}
	return ids
}

func testNoticeBounds(t *testing.T, s NoticesStore) {
	t.Helper()
	long := strings.Repeat("x", storage.MaxIDBytes+1)
	for i, change := range []func(*storage.Notice){
		func(n *storage.Notice) { n.ID = "" }, func(n *storage.Notice) { n.AppID = "" }, func(n *storage.Notice) { n.Hook = long },
		func(n *storage.Notice) { n.Body = nil }, func(n *storage.Notice) { n.Body = make([]byte, storage.MaxNoticeBodyBytes+1) },
		func(n *storage.Notice) { n.State = 3 }, func(n *storage.Notice) { n.State = -1 },
	} {
		n := notice("bad", "h", 0)
		change(&n)
		_, err := s.AddNotices(t.Context(), []storage.Notice{notice("good", "h", 0), n}, 100)
		require.ErrorIs(t, err, storage.ErrInvalid, i)
	}
	for i, change := range []func(*storage.Point){
		func(p *storage.Point) { p.AppID = long }, func(p *storage.Point) { p.ConferenceID = "" }, func(p *storage.Point) { p.ID = long },
		func(p *storage.Point) { p.Body = nil }, func(p *storage.Point) { p.Body = make([]byte, storage.MaxPointBodyBytes+1) },
		func(p *storage.Point) { p.End = p.Start.Add(-time.Second) },
	} {
		p := point("c", "", 1, 2)
		change(&p)
		_, err := s.AddPoints(t.Context(), []storage.Point{point("d", "", 1, 2), p})
		require.ErrorIs(t, err, storage.ErrInvalid, i)
	}
	page, err := s.NoticesPage(t.Context(), storage.NoticeQuery{AppID: app})
	require.NoError(t, err)
	require.Empty(t, page)
	points, err := s.Points(t.Context(), 0, at(0), 10)
	require.NoError(t, err)
	require.Empty(t, points)
	most := notice(strings.Repeat("i", storage.MaxIDBytes), strings.Repeat("h", storage.MaxIDBytes), 0)
	most.AppID, most.Body = strings.Repeat("a", storage.MaxIDBytes), bytes.Repeat([]byte{0xff}, storage.MaxNoticeBodyBytes)
	require.Equal(t, storage.Added{New: 1}, addNotices(t, s, most))
}

// The first notice of an id is stored, in any state: no second one is ever sent.
func testNoticeOnce(t *testing.T, s NoticesStore) {
	t.Helper()
	first := notice("n", "h", 1)
	require.Equal(t, storage.Added{New: 1, Duplicates: 1}, addNotices(t, s, first, first))
	first.State, first.Attempts, first.AttemptedAt, first.Latency, first.Status = storage.NoticeDelivered, 1, at(2), 250*time.Millisecond, 204
	require.NoError(t, s.UpdateNotice(t.Context(), first, storage.NoticePending))
	again := notice("n", "other", 9)
	again.Body = []byte("other")
	require.Equal(t, storage.Added{Duplicates: 1}, addNotices(t, s, again))
	got, err := s.Notice(t.Context(), "n")
	require.NoError(t, err)
	first.Key = got.Key
	require.Equal(t, first, got)
}

// NextNotices returns one notice of each webhook, so that none waits for another webhook's.
func testNoticesNext(t *testing.T, s NoticesStore) {
	t.Helper()
	other := notice("z1", "b", 1)
	other.AppID = app + "z"
	addNotices(t, s, notice("a1", "a", 5), notice("a2", "a", 3), notice("a3", "a", 3), notice("b1", "b", 4), notice("c1", "c", 9), other)
	for _, c := range []struct {
		app, hook string
		limit     int
		want      []string
	}{
		{"", "", 9, []string{"a2", "b1", "c1", "z1"}},
		{"", "", 2, []string{"a2", "b1"}},
		{app, "a", 9, []string{"b1", "c1", "z1"}},
		{app, "b", 1, []string{"c1"}},
		{app, "c", 9, []string{"z1"}},
		{other.AppID, "b", 9, nil},
	} {
		next, err := s.NextNotices(t.Context(), c.app, c.hook, c.limit)
		require.NoError(t, err)
		require.Equal(t, c.want, noticeIDs(next), c)
	}
	next, err := s.NextNotices(t.Context(), "", "", 1)
	require.NoError(t, err)
	want := notice("a2", "a", 3)
	want.Key, want.Body = next[0].Key, nil
	require.Equal(t, want, next[0])
}

// pending returns the ids of the next notices.
func pending(t *testing.T, s storage.Notices) []string {
	t.Helper()
	next, err := s.NextNotices(t.Context(), "", "", 9)
	require.NoError(t, err)
	return noticeIDs(next)
}

func testNoticeStates(t *testing.T, s NoticesStore) {
	t.Helper()
	n := notice("n", "h", 1)
	addNotices(t, s, n)
	require.ErrorIs(t, s.UpdateNotice(t.Context(), n, storage.NoticeDead), storage.ErrConflict)
	require.ErrorIs(t, s.UpdateNotice(t.Context(), notice("none", "h", 1), storage.NoticePending), storage.ErrNoNotice)
	n.Attempts, n.DueAt, n.AttemptedAt, n.Status, n.Error = 3, at(60), at(2), 503, "status 503"
	require.NoError(t, s.UpdateNotice(t.Context(), n, storage.NoticePending))
	next, err := s.NextNotices(t.Context(), "", "", 9)
	require.NoError(t, err)
	require.Equal(t, at(60), next[0].DueAt)
	n.State = storage.NoticeDead
	require.NoError(t, s.UpdateNotice(t.Context(), n, storage.NoticePending))
	require.Empty(t, pending(t, s))
	n.State, n.DueAt = storage.NoticePending, at(70)
	require.NoError(t, s.UpdateNotice(t.Context(), n, storage.NoticeDead))
	require.Equal(t, []string{"n"}, pending(t, s))
	_, err = s.Notice(t.Context(), "none")
	require.ErrorIs(t, err, storage.ErrNoNotice)
}

func testNoticePages(t *testing.T, s NoticesStore) {
	t.Helper()
	dead := notice("d", "h", 1)
	dead.State = storage.NoticeDead
	other := notice("x", "h", 1)
	other.AppID = "other"
	addNotices(t, s, notice("a", "h", 1), notice("b", "g", 1), dead, other)
	state := storage.NoticeDead
	page := func(q storage.NoticeQuery) []storage.Notice {
		q.AppID = app
		notices, err := s.NoticesPage(t.Context(), q)
		require.NoError(t, err)
		return notices
	}
	all := page(storage.NoticeQuery{})
	require.Equal(t, []string{"d", "b", "a"}, noticeIDs(all))
	require.Equal(t, []string{"d"}, noticeIDs(page(storage.NoticeQuery{State: &state})))
	require.Equal(t, []string{"d", "a"}, noticeIDs(page(storage.NoticeQuery{Hook: "h"})))
	require.Equal(t, []string{"b"}, noticeIDs(page(storage.NoticeQuery{Before: all[0].Key, Limit: 1})))
	require.Empty(t, page(storage.NoticeQuery{Before: all[2].Key}))
}

func testNoticesForget(t *testing.T, s NoticesStore) {
	t.Helper()
	addPoints(t, s, point("old", "", 1, 2), point("new", "", 1, 3))
	for i, n := range []storage.Notice{notice("old", "h", 1), notice("pending", "h", 1), notice("new", "h", 1)} {
		if n.ID != "pending" {
			n.State = storage.NoticeDelivered
		}
		n.CreatedAt = at(float64(i))
		addNotices(t, s, n)
	}
	require.NoError(t, s.ForgetNotices(t.Context(), at(3), at(2)))
	points, err := s.Points(t.Context(), 0, at(0), 9)
	require.NoError(t, err)
	require.Len(t, points, 1)
	require.Equal(t, "new", points[0].ConferenceID)
	notices, err := s.NoticesPage(t.Context(), storage.NoticeQuery{AppID: app})
	require.NoError(t, err)
	require.Equal(t, []string{"new", "pending"}, noticeIDs(notices))
	require.NoError(t, s.ForgetNotices(t.Context(), at(99), at(0)))
	addPoints(t, s, point("newer", "", 1, 2))
	after, err := s.Points(t.Context(), points[0].Key, at(0), 9)
	require.NoError(t, err)
	require.Len(t, after, 1, "a key is never used again")
}

func testNoticesRestart(t *testing.T, s NoticesStore) {
	t.Helper()
	addPoints(t, s, point("c", "", 1, 2))
	addNotices(t, s, notice("n", "h", 1))
	next := s.Reopen(t)
	require.Zero(t, addPoints(t, next, point("c", "", 1, 2)))
	require.Equal(t, []string{"n"}, pending(t, next))
}

func testNoticesLimit(t *testing.T, s NoticesStore) {
	t.Helper()
	add := func(n ...storage.Notice) storage.Added {
		done, err := s.AddNotices(t.Context(), n, 2)
		require.NoError(t, err)
		return done
	}
	require.Equal(t, storage.Added{New: 3, Dropped: 1}, add(notice("a", "h", 1), notice("b", "h", 1), notice("c", "h", 1), notice("d", "g", 1)))
	require.Equal(t, storage.Added{Duplicates: 1, Dropped: 1}, add(notice("a", "h", 1), notice("c", "h", 1)))
	sent := notice("a", "h", 1)
	sent.State = storage.NoticeDelivered
	require.NoError(t, s.UpdateNotice(t.Context(), sent, storage.NoticePending))
	require.Equal(t, storage.Added{New: 1}, add(notice("c", "h", 1)))
}

// Concurrent writers write each point once, and a reader that follows the keys misses none.
func testPointsConcurrent(t *testing.T, s NoticesStore) {
	t.Helper()
	const writers, each = 4, 25
	var wg sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range writers {
		wg.Go(func() {
			for i := range each {
				n, err := s.AddPoints(t.Context(), []storage.Point{point(fmt.Sprint("c", i), "", 1, 2)})
				mu.Lock()
				if err == nil {
					total += n
				}
				mu.Unlock()
			}
		})
	}
	seen := map[string]bool{}
	for after := int64(0); len(seen) < each; {
		page, err := s.Points(t.Context(), after, at(0), 3)
		require.NoError(t, err)
		for _, p := range page {
			require.False(t, seen[p.ConferenceID])
			seen[p.ConferenceID], after = true, p.Key
		}
	}
	wg.Wait()
	require.Equal(t, each, total)
}
