package overview

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

func member(site, version, browser, major string) digest.Member {
	return digest.Member{SiteID: site, ApplicationVersion: version, Browser: browser, BrowserVersion: major}
}

// Count returns the conferences with a value.
func (v *Values) Count(value string) int { return v.groups[value].Conferences }

// A conference counts once for each value that one of its participants has.
func TestTotals(t *testing.T) {
	var all Totals
	all.Add("shop", &digest.Digest{
		Outcome: "success", Label: "good", MOS: 4.2, Participants: 3, SetupMs: []int64{100, 200}, Ratings: 2,
		Members: []digest.Member{member("berlin", "1.0", "firefox", "144"), member("berlin", "1.1", "firefox", "144"), member("", "1.1", "other", "")},
	})
	all.Add("shop", &digest.Digest{
		Outcome: "dropped", Label: "poor", Cause: "senderUplink", MOS: 2, Participants: 1, Errors: []digest.Count{{Name: "createOffer", Count: 3}},
		Issues: []digest.Count{{Name: "frozenVideo", Count: 2}}, Members: []digest.Member{member("oslo", "1.0", "firefox", "145")},
	})
	all.Add("desk", &digest.Digest{Outcome: "missed"})
	all.Pending("desk")

	require.Equal(t, []int{4, 1, 4, 1, 2}, []int{all.Conferences, all.WithoutSummary, all.Participants, all.Failed, all.Ratings})
	require.InDelta(t, 3.1, *all.Scores.Value(), 1e-9)
	require.Equal(t, map[string]Errors{"createOffer": {1, 3}}, all.Errors)
	top, rest := all.Browsers.Top(5)
	require.Equal(t, []string{"firefox 144", "firefox 145", "other"}, names(top))
	require.Zero(t, rest)
	require.Equal(t, []int{1, 1}, []int{top[1].Conferences, top[1].Failed})
	require.InDelta(t, 2.0, *top[1].Scores.Value(), 1e-9)
	require.Equal(t, []int{1, 1, 2, 1, 1}, []int{all.Sites.Count("berlin"), all.Sites.Count("oslo"), all.Versions.Count("1.0"), all.Versions.Count("1.1"), all.Causes.Count("senderUplink")})
	require.Equal(t, []int{2, 2, 1}, []int{all.Apps.Count("shop"), all.Apps.Count("desk"), all.Issues.Count("frozenVideo")})
	require.Equal(t, []int{1, 1, 1}, []int{all.Outcomes.Count("success"), all.Outcomes.Count("dropped"), all.Outcomes.Count("missed")})
	require.Equal(t, []int{1, 1}, []int{all.Labels.Count("good"), all.Labels.Count("poor")})
	top, rest = all.Browsers.Top(1)
	require.Equal(t, []string{"firefox 144"}, names(top))
	require.Equal(t, 2, rest.Conferences)
	groups, rest := all.Browsers.Split([]string{"firefox 145", "none"})
	require.Equal(t, []int{1, 1, 0, 2}, []int{groups[0].Conferences, groups[0].Failed, groups[1].Conferences, rest.Conferences})
	require.Nil(t, (&Totals{}).Scores.Value())
}

func names(all []Named) (out []string) {
	for _, one := range all {
		out = append(out, one.Value)
	}
	return out
}

func draw(r *rand.Rand) *digest.Digest {
	outcomes := []string{"success", "success", "dropped", "missed"}
	d := &digest.Digest{Outcome: outcomes[r.IntN(4)], MOS: float64(r.IntN(5)), Participants: 1 + r.IntN(12)}
	for range d.Participants {
		d.SetupMs = append(d.SetupMs, r.Int64N(9000))
		d.Members = append(d.Members, member(fmt.Sprint("site ", r.IntN(30)), strconv.Itoa(r.IntN(3)), "chrome", strconv.Itoa(140+r.IntN(4))))
	}
	return d
}

// Counts by hours, merged, are the counts of all.
func TestMerge(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var all Totals
	parts := make([]Totals, 7)
	for range 500 {
		d, app := draw(r), fmt.Sprint("app ", r.IntN(3))
		if r.IntN(20) == 0 {
			all.Pending(app)
			parts[r.IntN(7)].Pending(app)
			continue
		}
		all.Add(app, d)
		parts[r.IntN(7)].Add(app, d)
	}
	var merged Totals
	for _, i := range r.Perm(7) {
		merged.Merge(&parts[i])
	}
	require.Equal(t, all, merged)
}

func TestValuesAreBounded(t *testing.T) {
	var all Totals
	for i := range maxValues + 50 {
		all.Add("app", &digest.Digest{Outcome: "dropped", Participants: 1, Members: []digest.Member{member(strconv.Itoa(i), "", "", "")}})
	}
	require.Len(t, all.Sites.groups, maxValues)
	require.Equal(t, Group{Conferences: 50, Failed: 50}, all.Sites.Other)
	var twice Totals
	twice.Merge(&all)
	twice.Merge(&all)
	require.Equal(t, 100, twice.Sites.Other.Conferences)
}

func TestHistogram(t *testing.T) {
	var h Histogram
	require.Zero(t, h.Quantile(0.5))
	r := rand.New(rand.NewPCG(3, 4))
	var all []int64
	for range 5000 {
		ms := int64(math.Exp(r.NormFloat64()*1.5 + 6))
		all = append(all, ms)
		h.Add(ms)
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.95, 0.999, 1} {
		want := float64(all[int(math.Ceil(q*5000))-1])
		require.InEpsilon(t, want, h.Quantile(q), 0.026, q)
	}
	var ends Histogram
	ends.Add(0)
	ends.Add(math.MaxInt64)
	require.InEpsilon(t, 1, ends.Quantile(0), 0.026)
	require.InEpsilon(t, 3_600_000, ends.Quantile(1), 0.026)
	require.LessOrEqual(t, len(ends.buckets), maxBucket+1)
}
