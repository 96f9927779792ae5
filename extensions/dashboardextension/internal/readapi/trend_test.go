package readapi

import (
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
)

// A trend has the most frequent values of the whole time, by hour, and the rest as one more.
//
// spec: DASH-01
func TestTrend(t *testing.T) {
	m := &memory{at: noon}
	for i := range 10 {
		for range 10 - i {
			m.digested("demo", "a", noon.Add(-time.Hour), digest.Digest{Outcome: "success", Members: one("", "v"+strconv.Itoa(i), "firefox", "144")})
		}
	}
	m.digested("demo", "b", noon.Add(-2*time.Hour), digest.Digest{
		Outcome: "dropped", Cause: "mediaServer", Errors: []digest.Count{{Name: "createOffer", Count: 3}}, Members: one("", "v9", "chrome", "142"),
	})
	m.digested("shop", "c", noon.Add(-time.Hour), digest.Digest{Outcome: "success", Members: one("", "other app", "chrome", "142")})
	base := start(t, m, nil)
	ask := func(by string) (got trendAnswer) {
		getJSON(t, base+"/api/trend?"+span(noon.Add(-2*time.Hour), noon, "app", "demo", "by", by), &got)
		return got
	}
	got := ask("versions")
	require.Equal(t, []string{"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"}, got.Values)
	require.True(t, got.Other)
	require.Equal(t, time.Hour.Milliseconds(), got.StepMs)
	require.Equal(t, []trendPoint{
		{noon.Add(-2 * time.Hour).UnixMilli(), 1, []int{0, 0, 0, 0, 0, 0, 0, 0, 1}, []int{0, 0, 0, 0, 0, 0, 0, 0, 1}},
		{noon.Add(-time.Hour).UnixMilli(), 55, []int{10, 9, 8, 7, 6, 5, 4, 3, 3}, []int{0, 0, 0, 0, 0, 0, 0, 0, 0}},
	}, got.Points)
	got = ask("outcomes")
	require.Equal(t, []string{"success", "dropped"}, got.Values)
	require.False(t, got.Other)
	require.Equal(t, [][]int{{0, 1}, {0, 1}, {55, 0}}, [][]int{got.Points[0].Counts, got.Points[0].Failed, got.Points[1].Counts})
	for by, want := range map[string][]string{"errors": {"createOffer"}, "causes": {"mediaServer"}, "browsers": {"firefox 144", "chrome 142"}, "sites": {}, "labels": {}} {
		require.Equal(t, want, ask(by).Values, by)
	}
	require.Equal(t, []int{1}, ask("errors").Points[0].Counts, "conferences, not errors")
}

// More than three days are counted by day of the reader's time zone.
func TestTrendByDay(t *testing.T) {
	m := &memory{at: noon}
	for i := range 8 * 24 {
		m.digested("demo", "a", noon.Add(-time.Duration(i)*time.Hour+time.Minute), digest.Digest{Outcome: "success"})
	}
	base := start(t, m, nil)
	f := func(days int, zone string, at time.Duration, counts ...int) {
		t.Helper()
		var got trendAnswer
		getJSON(t, base+"/api/trend?"+span(noon.Add(-time.Duration(days)*24*time.Hour), noon, "by", "outcomes", "zone", zone), &got)
		var have []int
		for _, p := range got.Points {
			have = append(have, p.Counts[0])
		}
		require.Equal(t, counts, have)
		require.Equal(t, noon.Add(at).UnixMilli(), got.Points[1].At, "where the second step begins")
	}
	f(4, "0", -84*time.Hour, 12, 24, 24, 24, 12)
	f(4, "120", -86*time.Hour, 10, 24, 24, 24, 14)
	f(4, "-330", -78*time.Hour, 18, 24, 24, 24, 6)
	var got trendAnswer
	getJSON(t, base+"/api/trend?"+span(noon.Add(-72*time.Hour), noon, "by", "outcomes"), &got)
	require.Len(t, got.Points, 72)
}

func TestTrendScopeAndRefusals(t *testing.T) {
	m := &memory{at: noon}
	m.digested("demo", "a", noon.Add(-time.Hour), digest.Digest{Outcome: "success"})
	base := start(t, m, nil)
	for query, field := range map[string]string{
		"from=1&to=2": "by", "from=1&to=2&by=users": "by", "by=sites&from=1": "to", "by=sites&from=1&to=2&zone=841": "zone", "by=sites&from=1&to=2&zone=x": "zone", "by=sites&by=sites&from=1&to=2": "by",
	} {
		status, body, _ := get(t, base+"/api/trend?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`, query)
	}
	require.Equal(t, []string{"errors", "versions", "browsers", "sites", "outcomes", "causes", "labels"}, trendNames)
	require.Len(t, trends, len(trendNames))
	need, known := access.NeedOf("GET /api/trend")
	require.True(t, known)
	require.Equal(t, access.Calls, need)
}
