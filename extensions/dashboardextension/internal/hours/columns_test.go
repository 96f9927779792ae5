package hours

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/overview"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// listed is a conference as Each yields it.
type listed struct {
	app, outcome string
	start        time.Time
}

func listOf(t *testing.T, h *Hours, from, to time.Time, apps ...string) (out []listed) {
	t.Helper()
	require.NoError(t, h.Each(t.Context(), apps, from, to, func(c *digest.Columns, first, end int) {
		for i := first; i < end; i++ {
			r := c.Row(i)
			out = append(out, listed{c.Texts()[r.App], c.Texts()[r.Outcome], r.Start})
		}
	}))
	return out
}

// Counts and conferences are read once for both, app by app, in order of start.
func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		for i := range 60 {
			s.add([]string{"shop", "desk"}[i%2], at.Add(time.Duration(i)*30*time.Minute), "success")
		}
		s.add("desk", at.Add(time.Minute), "")
		count(t, h, at, at.Add(30*time.Hour))
		queries := s.queries()
		slices.SortFunc(queries, func(a, b storage.DigestQuery) int { return a.From.Compare(b.From) })
		require.Len(t, queries, 5)
		for i, q := range queries {
			require.Equal(t, storage.DigestQuery{From: at.Add(time.Duration(6*i) * time.Hour), To: at.Add(time.Duration(6*i+6) * time.Hour)}, q)
		}
		got := listOf(t, h, at.Add(time.Minute), at.Add(29*time.Hour+time.Minute))
		require.Empty(t, s.queries())
		require.Len(t, got, 59)
		require.Equal(t, []listed{{"desk", "", at.Add(time.Minute)}, {"desk", "success", at.Add(30 * time.Minute)}}, got[:2])
		require.True(t, slices.IsSortedFunc(got, func(a, b listed) int { return a.start.Compare(b.start) }))

		got = listOf(t, h, at, at.Add(2*time.Hour), "shop", "desk")
		require.Equal(t, []listed{
			{"shop", "success", at},
			{"shop", "success", at.Add(time.Hour)},
			{"desk", "", at.Add(time.Minute)},
			{"desk", "success", at.Add(30 * time.Minute)},
			{"desk", "success", at.Add(90 * time.Minute)},
		}, got)
		require.Len(t, s.queries(), 2)
		s.change(at, at)
		listOf(t, h, at, at.Add(2*time.Hour), "shop")
		require.Equal(t, []storage.DigestQuery{{AppID: "shop", From: at, To: at.Add(time.Hour)}}, s.queries(), "a commit removes the columns of its hours")
		time.Sleep(maxAge + time.Second)
		listOf(t, h, at, at.Add(2*time.Hour), "shop")
		require.Len(t, s.queries(), 1, "old columns are read again")
	})
}

// Whatever is written, counts and lists are those of the store.
func TestAlwaysAsStored(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			h, s, at := begin(t)
			r := rand.New(rand.NewPCG(seed, 3))
			somewhen := func() time.Time { return at.Add(time.Duration(r.IntN(40*60)) * time.Minute) }
			for range 150 {
				switch r.IntN(4) {
				case 0:
					start, app := somewhen(), []string{"shop", "desk"}[r.IntN(2)]
					s.add(app, start, []string{"success", "dropped", ""}[r.IntN(3)])
					s.changeOf(app, start, start.Add(time.Minute))
				case 1:
					s.mu.Lock()
					var gone time.Time
					app := "shop"
					if n := len(s.digests); n > 0 { // a late summary, or an erasure
						i := r.IntN(n)
						s.digests[i].Body = (&digest.Digest{Outcome: fmt.Sprint("outcome ", r.IntN(3))}).Encode()
						gone, app = s.digests[i].Start, s.digests[i].AppID
						delete(s.made, gone.Truncate(time.Hour).UnixMilli())
					}
					s.mu.Unlock()
					s.changeOf(app, gone, gone)
				case 2:
					s.make(somewhen().Truncate(time.Hour))
				default:
					from := somewhen()
					to := from.Add(time.Duration(1+r.IntN(30*60)) * time.Minute)
					var b digest.Builder
					all := []listed{}
					for _, d := range s.digests {
						if d.Start.Before(from) || !d.Start.Before(to) {
							continue
						}
						var one digest.Digest
						if d.Body != nil {
							require.NoError(t, new(digest.Decoder).Decode(d.Body, &one))
						}
						b.Add(d.AppID, d.Start, d.Body)
						all = append(all, listed{d.AppID, one.Outcome, d.Start})
					}
					var want overview.Totals
					want.AddColumns(b.Columns(), 0, len(all))
					require.Equal(t, want, count(t, h, from, to).Total)
					require.Equal(t, all, append([]listed{}, listOf(t, h, from, to)...))
					app := []string{"shop", "desk"}[r.IntN(2)]
					all = slices.DeleteFunc(all, func(l listed) bool { return l.app != app })
					require.Equal(t, all, append([]listed{}, listOf(t, h, from, to, app)...))
				}
			}
			require.Less(t, len(s.queries()), 150, "something was kept")
		})
	}
}

// The digests of hours whose columns are stored are not read, unless another version of the program wrote the columns.
func TestColumnsOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s, at := begin(t)
		for i := range 8 {
			s.add([]string{"shop", "desk"}[i%2], at.Add(time.Duration(i)*30*time.Minute), "success")
		}
		for _, hour := range []int{0, 1, 3} {
			s.make(at.Add(time.Duration(hour) * time.Hour))
		}
		s.made[at.Add(time.Hour).UnixMilli()][0] = 99
		require.Equal(t, []listed{
			{"shop", "success", at}, {"shop", "success", at.Add(time.Hour)}, {"shop", "success", at.Add(2 * time.Hour)}, {"shop", "success", at.Add(3 * time.Hour)},
		}, listOf(t, h, at, at.Add(4*time.Hour), "shop"))
		require.Equal(t, []storage.DigestQuery{{AppID: "shop", From: at.Add(time.Hour), To: at.Add(3 * time.Hour)}}, s.queries())
		require.Len(t, listOf(t, h, at, at.Add(4*time.Hour)), 8)
	})
}

// The columns that were used last are kept, within the budget.
func TestCacheIsBounded(t *testing.T) {
	var c cache
	now := time.Now()
	var b digest.Builder
	for range 10_000 {
		b.Add("shop", now, (&digest.Digest{Outcome: "success", SetupMs: make([]int64, 100)}).Encode())
	}
	columns := b.Columns()
	n := maxBytes / columns.Bytes()
	require.Greater(t, n, 3)
	for i := range int64(n) {
		c.put(key{"shop", i}, columns, now)
	}
	require.NotNil(t, c.get(key{"shop", 0}, now))
	c.put(key{"shop", 100}, columns, now)
	require.NotNil(t, c.get(key{"shop", 0}, now), "it was used")
	require.Nil(t, c.get(key{"shop", 1}, now))
	require.LessOrEqual(t, c.bytes, maxBytes)
	c.put(key{"shop", 0}, columns, now)
	require.Equal(t, n*columns.Bytes(), c.bytes, "one of a key is kept")
	for of := range c.of {
		c.remove(of)
	}
	require.Zero(t, c.bytes)
	require.Zero(t, c.order.Len())
}
