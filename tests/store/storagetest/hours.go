package storagetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// RunHours tests the columns of hours of an engine.
func RunHours(t *testing.T, e UsersEngine) {
	t.Helper()
	for name, test := range map[string]func(*usersFixture){
		"made":        testHours,
		"any changes": testHoursAnyChanges,
		"too many":    testHoursTooMany,
		"old":         testHoursOld,
	} {
		t.Run(name, func(t *testing.T) { test(e.fixture(t)) })
	}
}

// always is after all data of these tests.
var always = at(1000 * dayOf)

func (f *usersFixture) makeHours(before time.Time) int {
	f.t.Helper()
	n, err := f.s.MakeHours(f.t.Context(), before)
	require.NoError(f.t, err)
	return n
}

// hoursOf returns the hours that have columns, counted from the epoch. It requires that they equal the digests.
func hoursOf(ctx context.Context, t require.TestingT, s UsersStore) (out []int) {
	require.NoError(t, s.Hours(ctx, time.Time{}, always, func(hour time.Time, columns []byte) bool {
		out = append(out, int(hour.Sub(epoch)/time.Hour))
		var b digest.Builder
		q := storage.DigestQuery{From: hour, To: hour.Add(time.Hour)}
		require.NoError(t, s.Digests(ctx, q, func(d storage.Digest) bool {
			b.Add(d.AppID, d.Start, d.Body)
			return true
		}))
		require.Equal(t, b.Columns().Encode(), columns, hour.String())
		return true
	}))
	return out
}

// Ended hours are marked, and built if nothing changed since. A change of a conference removes the columns of its hour.
func testHours(f *usersFixture) {
	t := f.t
	hours := func() []int { t.Helper(); return hoursOf(t.Context(), t, f.s) }
	require.Zero(t, f.makeHours(always), "nothing is stored")
	f.lasting(app, "a", 10, 20)
	f.named("App", "b", hour-0.001)
	f.named("App", "c", hour)
	f.named(app, "d", 2*hour)
	f.put(digestedIn("a", 10, 20, 1, "success"))
	require.Zero(t, f.makeHours(at(3*hour-0.001)), "they are marked")
	require.Empty(t, hours())
	require.Equal(t, 2, f.makeHours(at(3*hour-0.001)))
	require.Equal(t, []int{0, 1}, hours())
	require.Zero(t, f.makeHours(at(3*hour)))
	require.Equal(t, 1, f.makeHours(at(3*hour)))
	require.Equal(t, []int{0, 1, 2}, hours())
	require.Zero(t, f.makeHours(at(3*hour)), "once is enough")

	calls := 0
	require.NoError(t, f.s.Hours(t.Context(), at(0), at(2*hour), func(time.Time, []byte) bool { calls++; return true }))
	require.Equal(t, 2, calls)
	require.NoError(t, f.s.Hours(t.Context(), at(0), at(3*hour), func(time.Time, []byte) bool { calls++; return false }))
	require.Equal(t, 3, calls)

	change := func(what string, left []int, change func()) {
		t.Helper()
		change()
		require.Equal(t, left, hours(), what)
		f.makeHours(at(3 * hour))
		f.makeHours(at(3 * hour))
		require.Equal(t, []int{0, 1, 2}, hours(), "made again: %s", what)
	}
	change("it goes on", []int{0, 1, 2}, func() { f.lasting(app, "a", 20, 30) })
	change("a summary", []int{1, 2}, func() { f.put(digestedIn("a", 10, 30, 2, "dropped")) })
	change("a summary with the same facts", []int{0, 1, 2}, func() { f.put(digestedIn("a", 10, 30, 3, "dropped")) })
	change("another conference", []int{0, 2}, func() { f.named(app, "e", hour+1) })
	change("an earlier start", []int{2}, func() { f.named("App", "c", hour-1) })
	change("a merge", []int{0, 1}, func() {
		f.named(app, "d", 2*hour+60)
		f.makeHours(at(3 * hour))
		f.makeHours(at(3 * hour))
		require.Equal(t, []int{0, 1, 2}, hours())
		f.named(app, "d", 2*hour+30)
	})
	change("after a mark", []int{0, 2}, func() {
		f.named(app, "f", hour+2)
		require.Zero(t, f.makeHours(at(3*hour)))
		f.named(app, "g", hour+3)
		require.Zero(t, f.makeHours(at(3*hour)), "it changed since it was marked")
	})
	change("an app's retention", []int{1, 2}, func() {
		_, err := f.s.DeleteAppBefore(t.Context(), "App", at(2*hour))
		require.NoError(t, err)
	})
	_, err := f.s.DeleteBefore(t.Context(), at(2*hour))
	require.NoError(t, err)
	require.Equal(t, []int{2}, hours())
	f.makeHours(at(3 * hour))
	f.makeHours(at(3 * hour))
	require.Equal(t, []int{2}, hours(), "hours before the first conference have none")
}

// digestedIn is a summary with a digest, of a conferenceID.
func digestedIn(conference string, start, end float64, revision int, outcome string) storage.Summary {
	s := digested(start, end, revision, string((&digest.Digest{Outcome: outcome}).Encode()))
	s.ConferenceID = conference
	return s
}

// Columns equal the digests after any sequence of writes, merges, erasures and deletions.
func testHoursAnyChanges(f *usersFixture) {
	run := 0
	rapid.Check(f.t, func(rt *rapid.T) {
		run++
		ctx := f.t.Context()
		_, err := f.s.DeleteBefore(ctx, always)
		require.NoError(rt, err)
		seq, revision := uint64(run*1000), 0
		user := fmt.Sprint("user-", run)
		made := 0
		for range rapid.IntRange(10, 40).Draw(rt, "steps") {
			second := float64(rapid.IntRange(0, 3*60).Draw(rt, "at")) * 60
			second += rapid.SampledFrom([]float64{0, 0, 20, 40, -0.001}).Draw(rt, "more")
			conference := rapid.SampledFrom([]string{"a", "b", user}).Draw(rt, "conference")
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0, 1, 2:
				seq++
				b := batch(run, activity(seq, 0, second))
				b.Session.UserID, b.Session.UserAlias, b.Records[0].ConferenceID = user, user, conference
				f.append(b)
			case 3, 4:
				revision++
				s := digestedIn(conference, second, second, revision, rapid.SampledFrom([]string{"success", "dropped"}).Draw(rt, "outcome"))
				if rapid.Bool().Draw(rt, "of the user") {
					s = summaryOf(second, "somebody")
					s.ConferenceID, s.Start, s.Revision, s.Digest = conference, at(second), revision, digestOf(user, user).Encode()
				}
				_ = f.s.PutSummary(ctx, s) // there may be no conference
			case 5:
				_, err = f.s.DeleteBefore(ctx, at(second))
			case 6:
				_, err = f.s.EraseUser(ctx, storage.User{AppID: app, IDs: []string{user}})
				require.NoError(rt, err)
				_, err = f.s.RunErasures(ctx)
				require.NoError(rt, err)
				checkHoursErased(ctx, rt, f.s, user)
			default:
				var n int
				n, err = f.s.MakeHours(ctx, at(4*hour))
				made += n
			}
			require.NoError(rt, err)
			hoursOf(ctx, rt, f.s)
		}
		_, err = f.s.MakeHours(ctx, at(4*hour))
		require.NoError(rt, err)
		_, err = f.s.MakeHours(ctx, at(4*hour))
		require.NoError(rt, err)
		want := map[int]bool{}
		require.NoError(rt, f.s.Digests(ctx, storage.DigestQuery{}, func(d storage.Digest) bool {
			want[int(d.Start.Sub(epoch)/time.Hour)] = true
			return true
		}))
		got := hoursOf(ctx, rt, f.s)
		for h := range want {
			if h >= 0 && h < 4 {
				require.Contains(rt, got, h)
			}
		}
	})
}

func checkHoursErased(ctx context.Context, t require.TestingT, s UsersStore, user string) {
	require.NoError(t, s.Hours(ctx, time.Time{}, always, func(_ time.Time, columns []byte) bool {
		require.NotContains(t, string(columns), user)
		return true
	}))
}

// Stores, two if the engine allows, write and make columns concurrently.
func testHoursWhileWritten(f *usersFixture) {
	t := f.t
	stores := []UsersStore{f.s, f.engine.Second(t, f.s)}
	f.named(app, "the first", 0)
	const rounds = 40
	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for n, s := range stores {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			for i := range rounds {
				second := float64(r.IntN(3 * hour))
				record := activity(uint64(i+1), 0, second)
				record.ConferenceID = fmt.Sprint("conference ", r.IntN(20))
				_, err := s.Append(t.Context(), []storage.Batch{batch(10+n, record)})
				if err == nil {
					err = s.PutSummary(t.Context(), digestedIn(record.ConferenceID, second, second, n*rounds+i+1, []string{"success", "dropped"}[i%2]))
				}
				errs <- err
			}
		})
	}
	done := make(chan struct{})
	var makers sync.WaitGroup
	for _, s := range stores {
		makers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, err := s.MakeHours(t.Context(), at(4*hour))
					errs <- err
				}
			}
		})
	}
	go func() { wg.Wait(); close(done); makers.Wait(); close(errs) }()
	for err := range errs {
		require.NoError(t, err)
	}
	hoursOf(t.Context(), t, f.s)
	f.makeHours(at(4 * hour))
	f.makeHours(at(4 * hour))
	require.Equal(t, []int{0, 1, 2, 3}, hoursOf(t.Context(), t, f.s))
}

// An hour with too many conferences has no columns, and is not tried again.
func testHoursTooMany(f *usersFixture) {
	t := f.t
	b := batch(7)
	for i := range 600 {
		r := activity(uint64(i+1), 0, float64(i))
		r.ConferenceID = fmt.Sprint("conference ", i)
		b.Records = append(b.Records, r)
	}
	f.append(b)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 600 {
		var d digest.Digest
		for range 30 {
			d.Errors = append(d.Errors, digest.Count{Name: fmt.Sprint(i, strings.Repeat("x", 1000), r.Uint64()), Count: 1})
		}
		f.put(digestedBody(fmt.Sprint("conference ", i), float64(i), d.Encode()))
	}
	f.named(app, "next", hour)
	f.makeHours(at(2 * hour))
	require.Equal(t, 1, f.makeHours(at(2*hour)))
	require.Equal(t, []int{1}, hoursOf(t.Context(), t, f.s))
	require.Zero(t, f.makeHours(at(2*hour)))
	f.named(app, "one more", 700)
	f.makeHours(at(2 * hour))
	require.Zero(t, f.makeHours(at(2*hour)))
	require.Equal(t, []int{1}, hoursOf(t.Context(), t, f.s))
}

func digestedBody(conference string, second float64, body []byte) storage.Summary {
	s := digestedIn(conference, second, second, 1, "")
	s.Digest = body
	return s
}

// The last 100 days have columns.
func testHoursOld(f *usersFixture) {
	t := f.t
	f.named(app, "first", 0)
	f.named(app, "last", 100*dayOf)
	for range 8 { // a call marks some hundred
		f.makeHours(at(99 * dayOf))
	}
	got := hoursOf(t.Context(), t, f.s)
	require.Len(t, got, 99*24)
	require.Equal(t, []int{0, 99*24 - 1}, []int{got[0], slices.Max(got)})
	f.makeHours(at(101 * dayOf))
	f.makeHours(at(101 * dayOf))
	got = hoursOf(t.Context(), t, f.s)
	require.Len(t, got, 100*24)
	require.Equal(t, []int{24, 101*24 - 1}, []int{got[0], slices.Max(got)})
}
