package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/storage"
)

func (f *fixture) unattached(q storage.UnattachedQuery) storage.UnattachedPage {
	f.t.Helper()
	page, err := f.r.Unattached(f.t.Context(), q)
	require.NoError(f.t, err)
	return page
}

// lost returns the numbers of the sessions and the seconds of unattached annotations, newest first.
func (f *fixture) lost(q storage.UnattachedQuery) (out []string) {
	f.t.Helper()
	for _, u := range f.unattached(q).Unattached {
		out = append(out, fmt.Sprintf("%s at %g", u.Session.UserID, u.At.Sub(epoch).Seconds()))
	}
	return out
}

const dayOf = 24 * 3600.0

// An annotation alone creates no conference. A conference owns those from 30 s before its start
// to 24 h after its end, to the millisecond.
//
// spec: CONF-01
func testUnattachedBorders(f *fixture) {
	t := f.t
	f.append(batch(1, annotation(1, 69.999, 0), annotation(2, 70, 0), annotation(3, 200+dayOf, 0), annotation(4, 200.001+dayOf, 0)))
	require.Empty(t, f.spans(), "annotations make no conference")
	require.Len(t, f.lost(storage.UnattachedQuery{}), 4)
	_, err := f.r.Conference(t.Context(), ref(70))
	require.ErrorIs(t, err, storage.ErrNotFound)

	f.append(batch(2, activity(1, 0, 100)))
	f.append(batch(2, activity(2, 0, 110), activity(3, 0, 140), activity(4, 0, 170), activity(5, 0, 200)))
	require.Equal(t, []string{"user 1 at 86600.001", "user 1 at 69.999"}, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, []uint64{2, 3, 1, 2, 3, 4, 5}, f.seqs(100))
	require.Equal(t, []string{sessionID(1), sessionID(2)}, people(f.conference(100)))
	require.Equal(t, [][2]float64{{100, 200}}, f.spans())

	f.append(batch(3, annotation(1, 69.999, 0), annotation(2, 70, 0), annotation(3, 200+dayOf, 0), annotation(4, 200.001+dayOf, 0)))
	require.Equal(t, []string{"user 3 at 86600.001", "user 1 at 86600.001", "user 3 at 69.999", "user 1 at 69.999"},
		f.lost(storage.UnattachedQuery{}), "the same when it comes later")
	require.Equal(t, []string{sessionID(1), sessionID(2), sessionID(3)}, people(f.conference(200+dayOf)), "a time that it owns finds it")
	_, err = f.r.Conference(t.Context(), ref(200.001+dayOf))
	require.ErrorIs(t, err, storage.ErrNotFound)
	_, err = f.r.Conference(t.Context(), ref(69.999))
	require.ErrorIs(t, err, storage.ErrNotFound)
}

// Unattached annotations move to a new conference, which is then found by their participants.
//
// spec: CONF-01 CONF-02 DASH-01
func testUnattachedAttached(f *fixture) {
	t := f.t
	survey := batch(7, annotation(1, 1000, 1000), annotation(2, 1000, 1001))
	survey.Session.Details = map[string]string{siteID: "site 7"}
	f.append(survey)
	require.Equal(t, storage.Appended{Duplicates: 2}, f.append(survey))
	require.Equal(t, []string{"user 7 at 1000"}, f.lost(storage.UnattachedQuery{}), "once")
	f.finds(storage.Query{SiteID: "site 7"})

	f.append(batch(1, activity(1, 0, 1031)))
	require.Len(t, f.lost(storage.UnattachedQuery{}), 1, "31 s before it")
	f.append(batch(1, activity(2, 0, 1030)))
	require.Empty(t, f.lost(storage.UnattachedQuery{}), "its start moved")
	f.finds(storage.Query{SiteID: "site 7"}, 1030)
	require.Equal(t, []uint64{1, 2, 2, 1}, f.seqs(1030))

	f.append(batch(2, activity(1, 0, 900)))
	require.Equal(t, []uint64{1}, f.seqs(900), "the later one is within 30 s of it")
	f.finds(storage.Query{SiteID: "site 7"}, 1030)
	f.append(batch(2, activity(2, 0, 930), activity(3, 0, 960), activity(4, 0, 971)))
	require.Equal(t, []uint64{1, 2, 3, 4, 1, 2}, f.seqs(900), "it grew, and is nearer now")
	f.finds(storage.Query{SiteID: "site 7"}, 900)
	require.Equal(t, []string{sessionID(1)}, people(f.conference(1030)))
}

// A new conference takes over annotations from one that ended hours before it.
//
// spec: CONF-01 CONF-02
func testNeighbourADayAway(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	survey := batch(7, annotation(1, dayOf-60, 0))
	survey.Session.Details = map[string]string{siteID: "site 7"}
	f.append(survey, batch(8, annotation(1, 100, 0)))
	require.Equal(t, []string{sessionID(1), sessionID(7), sessionID(8)}, people(f.conference(0)))
	f.append(batch(2, activity(1, 0, 12*3600)))
	require.Equal(t, []string{sessionID(1), sessionID(8)}, people(f.conference(0)))
	require.Equal(t, []string{sessionID(2), sessionID(7)}, people(f.conference(12*3600)))
	f.finds(storage.Query{SiteID: "site 7"}, 12*3600)
	f.append(batch(3, activity(1, 0, dayOf-30)))
	require.Equal(t, []string{sessionID(2)}, people(f.conference(12*3600)), "30 s before the third")
	require.Equal(t, []string{sessionID(3), sessionID(7)}, people(f.conference(dayOf)))
	f.finds(storage.Query{SiteID: "site 7"}, dayOf-30)
	require.Equal(t, []uint64{1, 1}, f.seqs(dayOf))
	require.Equal(t, []uint64{1, 1}, f.seqs(0))

	// The gap between the first two is closed: they are merged, and own the annotations of both.
	var between []storage.Record
	for i := range 12*3600/30 - 1 {
		between = append(between, activity(uint64(i+2), 0, float64(30*(i+1))))
	}
	f.append(batch(1, between...))
	require.Equal(t, [][2]float64{{0, 12 * 3600}, {dayOf - 30, dayOf - 30}}, f.spans())
	require.Equal(t, []string{sessionID(1), sessionID(2), sessionID(8)}, people(f.conference(0)))
}

// spec: CONF-01
func testUnattachedList(f *fixture) {
	t := f.t
	require.Equal(t, storage.UnattachedPage{}, f.unattached(storage.UnattachedQuery{}))
	for n := range 5 {
		f.append(batch(n, annotation(1, float64(100*n), 9)))
	}
	elsewhere, foreign := batch(1, annotation(2, 250, 9)), batch(1, annotation(1, 350, 9))
	elsewhere.Records[0].ConferenceID, foreign.Session.AppID = "Standup", "other app"
	f.append(elsewhere, foreign, batch(2, annotation(2, 200, 10), annotation(3, 200, 8)))

	all := f.unattached(storage.UnattachedQuery{})
	require.Zero(t, all.Next)
	require.Equal(t, []string{"user 4 at 400", "user 1 at 350", "user 3 at 300", "user 1 at 250", "user 2 at 200", "user 1 at 100", "user 0 at 0"},
		f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Unattached{AppID: app, ConferenceID: "Standup", At: at(250), Session: session(1), Records: elsewhere.Records}, all.Unattached[3])
	require.Equal(t, "other app", all.Unattached[1].AppID)
	require.Equal(t, []storage.Record{annotation(3, 200, 8), annotation(1, 200, 9), annotation(2, 200, 10)}, all.Unattached[4].Records, "in order of time")

	require.Equal(t, []string{"user 1 at 350"}, f.lost(storage.UnattachedQuery{AppID: "other app"}))
	require.Empty(t, f.lost(storage.UnattachedQuery{AppID: "nobody's"}))
	require.Equal(t, []string{"user 1 at 250"}, f.lost(storage.UnattachedQuery{AppID: app, ConferenceID: "Standup"}))
	require.Empty(t, f.lost(storage.UnattachedQuery{AppID: app, ConferenceID: "STANDUP"}))
	require.Equal(t, []string{"user 1 at 250", "user 2 at 200"}, f.lost(storage.UnattachedQuery{From: at(200), To: at(300)}))
	require.Equal(t, []string{"user 3 at 300"}, f.lost(storage.UnattachedQuery{AppID: app, From: at(250.001), To: at(300.001)}))

	var pages [][]storage.Unattached
	for q := (storage.UnattachedQuery{Limit: 3}); ; {
		page := f.unattached(q)
		pages = append(pages, page.Unattached)
		if q.Before = page.Next; q.Before == (storage.Cursor{}) {
			break
		}
	}
	require.Len(t, pages, 3)
	require.Len(t, pages[0], 3)
	require.Equal(t, all.Unattached, slices.Concat(pages...))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := f.r.Unattached(ctx, storage.UnattachedQuery{})
	require.ErrorIs(t, err, context.Canceled)
}

// One session may have many annotations about one time; the list has only the first.
//
// spec: CONF-01 SRV-04
func testUnattachedMany(f *fixture) {
	t := f.t
	var records []storage.Record
	for seq := range uint64(storage.MaxUnattachedRecords + 1) {
		records = append(records, annotation(seq+1, 0, float64(seq)))
	}
	f.append(batch(1, records[:storage.MaxUnattachedRecords]...))
	got := f.unattached(storage.UnattachedQuery{}).Unattached
	require.Len(t, got, 1)
	require.Equal(t, records[:storage.MaxUnattachedRecords], got[0].Records)
	require.False(t, got[0].More)
	f.append(batch(1, records...))
	got = f.unattached(storage.UnattachedQuery{}).Unattached
	require.Len(t, got, 1)
	require.Equal(t, records[:storage.MaxUnattachedRecords], got[0].Records)
	require.True(t, got[0].More)

	for n := range 60 { // a page has 50
		f.append(batch(100+n, annotation(1, float64(n), 0)))
	}
	page := f.unattached(storage.UnattachedQuery{})
	require.Len(t, page.Unattached, 50)
	require.Equal(t, at(10), page.Next.Start)
	require.Len(t, f.unattached(storage.UnattachedQuery{Before: page.Next}).Unattached, 11)

	for n := range 6 { // a page has two of them, or one that is larger than a page
		long := annotation(1, 0, 0)
		long.Attributes = map[string]any{"qos.log.text": strings.Repeat("x", []int{4 << 20, 9 << 20}[n/4])}
		b := batch(200+n, long)
		b.Session.AppID = "long"
		f.append(b)
	}
	var sizes []int
	for q := (storage.UnattachedQuery{AppID: "long"}); ; {
		page := f.unattached(q)
		sizes = append(sizes, len(page.Unattached))
		if q.Before = page.Next; q.Before == (storage.Cursor{}) {
			break
		}
	}
	require.Equal(t, []int{1, 1, 2, 2}, sizes)
}

// Retention deletes annotations with their conference, and unattached ones by their own
// time.
//
// spec: CONF-01
func testUnattachedRetention(f *fixture) {
	t := f.t
	store, ok := f.w.(interface {
		DeleteBefore(ctx context.Context, before time.Time) (int, error)
	})
	require.True(t, ok)
	remove := func(before float64) int {
		t.Helper()
		n, err := store.DeleteBefore(t.Context(), at(before))
		require.NoError(t, err)
		return n
	}
	survey, early, late := batch(7, annotation(1, 100, 0)), batch(8, annotation(1, -1000, 0)), batch(9, annotation(1, 3*dayOf, 0))
	f.append(batch(1, activity(1, 0, 0)), survey, early, late)
	elsewhere := annotation(2, -500, 0)
	elsewhere.ConferenceID = "nobody's"
	f.append(batch(8, elsewhere))

	require.Zero(t, remove(-1000))
	require.Len(t, f.lost(storage.UnattachedQuery{}), 3)
	require.Zero(t, remove(-999))
	require.Equal(t, []string{"user 9 at 259200", "user 8 at -500"}, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Appended{New: 1}, f.append(early), "what was deleted may come again")
	require.Equal(t, 1, remove(0.001))
	require.Equal(t, []string{"user 9 at 259200"}, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Appended{New: 1}, f.append(survey), "it went with its conference")
	require.Equal(t, []string{"user 9 at 259200", "user 7 at 100"}, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(late))
	require.Zero(t, remove(4*dayOf))
	require.Empty(t, f.lost(storage.UnattachedQuery{}))
	require.Equal(t, storage.Appended{New: 3}, f.append(survey, early, late))
}

// checkUnattached compares the list with the model.
func checkUnattached(t *rapid.T, f *fixture, appID string, want []placed) {
	page, err := f.r.Unattached(f.t.Context(), storage.UnattachedQuery{AppID: appID, Limit: 200})
	require.NoError(t, err)
	var got, expected []read
	for _, u := range page.Unattached {
		require.Equal(t, appID, u.AppID)
		for _, r := range u.Records {
			require.Equal(t, []any{u.ConferenceID, u.At}, []any{r.ConferenceID, r.ConferenceAt})
			got = append(got, read{u.Session.ID, r})
		}
	}
	for _, p := range want {
		expected = append(expected, read{sessionID(p.session), p.record})
	}
	slices.SortFunc(got, compareReads)
	slices.SortFunc(expected, compareReads)
	require.Equal(t, expected, got, "unattached")
}
