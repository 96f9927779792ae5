package storagetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// The retention of one app deletes old data of that app only.
//
// spec: PRIV-02
func testAppRetention(f *fixture) {
	t := f.t
	remover, ok := f.w.(storage.Remover)
	require.True(t, ok)
	of := func(appID string, b storage.Batch) storage.Batch {
		b.Session.AppID = appID
		return b
	}
	apps := []string{"app", "app ", "other\x00app"}
	for i, app := range apps {
		f.append(of(app, batch(3*i, activity(1, 0, 0), activity(2, 0, 10))),
			of(app, batch(3*i+1, activity(1, 0, 2*dayOf))),
			of(app, batch(3*i+2, annotation(1, -1000, 0), annotation(2, 4*dayOf, 0))))
	}
	left := func(app string) (starts []time.Time, unattached int) {
		for _, c := range f.list(storage.Query{AppID: app, Limit: 10}).Conferences {
			starts = append(starts, c.Start)
		}
		return starts, len(f.lost(storage.UnattachedQuery{AppID: app}))
	}
	expect := func(app string, unattached int, starts ...time.Time) {
		t.Helper()
		found, lost := left(app)
		require.Equal(t, starts, found, "%q", app)
		require.Equal(t, unattached, lost, "%q", app)
	}
	remove := func(app string, before float64) int {
		t.Helper()
		n, err := remover.DeleteAppBefore(t.Context(), app, at(before))
		require.NoError(t, err)
		return n
	}
	require.Zero(t, remove("app", 10), "it ended at that time, not before")
	expect("app", 1, at(2*dayOf), at(0))
	require.Equal(t, 1, remove("app", 11))
	expect("app", 1, at(2*dayOf))
	for _, app := range apps[1:] {
		expect(app, 2, at(2*dayOf), at(0))
	}
	require.Zero(t, remove("nobody's", 9*dayOf))
	require.Equal(t, 2, remove(apps[2], 9*dayOf))
	expect(apps[2], 0)
	expect(apps[1], 2, at(2*dayOf), at(0))
	require.Equal(t, storage.Appended{New: 1}, f.append(of("app", batch(0, activity(1, 0, 0)))), "what was deleted may come again")
	require.Equal(t, storage.Appended{Duplicates: 1}, f.append(of(apps[1], batch(3, activity(1, 0, 0)))))
}

// A conference is deleted with its summary: a new one, which may get the same key, has none.
func testSummaryRetention(f *fixture) {
	t := f.t
	f.append(batch(1, activity(1, 0, 0)))
	f.put(digested(0, 0, 1, "of the first"))
	n, err := f.w.(storage.Remover).DeleteBefore(t.Context(), at(1))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Empty(t, f.digests(storage.DigestQuery{}))
	f.append(batch(2, activity(1, 0, 0)))
	require.Nil(t, f.conference(0).Summary)
	want := summary(0, 0, 1)
	f.put(want)
	require.Equal(t, &want, f.conference(0).Summary)
}
