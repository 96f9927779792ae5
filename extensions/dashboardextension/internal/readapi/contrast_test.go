package readapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
)

// planted is a day of which conferences of Firefox 144 at site berlin fail in the afternoon, half of them.
func planted(m *memory, day time.Time) {
	random := rand.New(rand.NewPCG(uint64(day.Unix()), 7))
	pick := func(of ...string) string { return of[random.IntN(len(of))] }
	for i := range 1200 {
		at := day.Add(time.Duration(random.Int64N(int64(24 * time.Hour)))).Truncate(time.Millisecond)
		d := digest.Digest{Outcome: "success", MOS: 4, Participants: 2}
		for range 2 {
			d.Members = append(d.Members, digest.Member{SiteID: pick("berlin", "oslo", "paris"), Browser: "firefox", BrowserVersion: pick("143", "144"), ApplicationVersion: pick("4.1", "4.2")})
		}
		afternoon := at.Sub(day) > 12*time.Hour
		for _, member := range d.Members {
			if afternoon && member.SiteID == "berlin" && member.BrowserVersion == "144" && random.IntN(2) == 0 {
				d.Outcome, d.MOS = "dropped", 0
			}
		}
		if random.IntN(50) == 0 {
			d.Outcome = "partiallyFailed"
		}
		m.digested(pick("demo", "shop"), fmt.Sprint(day.Format("0102 "), i), at, d)
	}
}

// What changed is found against the rest of the time and against another time, with links that list its conferences.
//
// spec: DASH-01
func TestContrast(t *testing.T) {
	m := &memory{at: noon.Add(24 * time.Hour)}
	today := noon.Add(-12 * time.Hour)
	planted(m, today)
	base := start(t, m, nil)
	facts := []contrast.Fact{{Attribute: contrast.BrowserVersion, Value: "firefox 144"}, {Attribute: contrast.Site, Value: "berlin"}}

	var got contrastAnswer
	getJSON(t, base+"/api/contrast?"+span(noon, today.Add(24*time.Hour), "outcome", "failed"), &got)
	require.Len(t, got.Findings, 1)
	require.ElementsMatch(t, facts, got.Findings[0].Facts)
	require.Equal(t, got.Set.Conferences, got.Set.Compared)
	failed, all := 0, 0
	for _, c := range m.calls {
		if !c.Start.Before(noon) {
			all++
			if digest.Failed(c.Summary.Outcome) {
				failed++
			}
		}
	}
	require.Equal(t, []int{failed, all - failed}, []int{got.Set.Conferences, got.Baseline.Conferences}, "nothing is in both")
	f := got.Findings[0]
	require.InDelta(t, float64(f.InSet)/float64(failed), f.SetShare, 1e-9)
	require.Equal(t, fmt.Sprintf("%s: %.0f %% of the set, %.0f %% of the baseline, %.1f times as frequent", factText(f.Facts), f.SetShare*100, f.BaselineShare*100, f.Lift), f.Text)

	link, err := url.Parse(f.Search)
	require.NoError(t, err)
	q := link.Query()
	require.Equal(t, []string{"failed", "berlin", strconv.FormatInt(noon.UnixMilli(), 10)}, []string{q.Get("outcome"), q.Get("site"), q.Get("from")})
	require.ElementsMatch(t, []string{"browserVersion:firefox 144", "siteID:berlin"}, q["fact"])

	q.Del("outcome")
	q.Del("site") // the store of this test does not search by site
	q.Set("limit", "200")
	found := 0
	for {
		var list listing
		getJSON(t, base+"/api/conferences?"+q.Encode(), &list)
		if found += len(list.Conferences); list.Next == "" {
			break
		}
		q.Set("cursor", list.Next)
	}
	require.Equal(t, f.InSet+f.InBaseline, found, "the conferences of a finding are found by its facts")

	// The morning is another baseline: the same conditions, so only its failures.
	getJSON(t, base+"/api/contrast?"+span(noon, today.Add(24*time.Hour), "outcome", "failed", "baseline.from", strconv.FormatInt(today.UnixMilli(), 10), "baseline.to", strconv.FormatInt(noon.UnixMilli(), 10)), &got)
	require.Less(t, got.Baseline.Conferences, 30)
	require.NotEmpty(t, got.Findings)
	require.Contains(t, facts, got.Findings[0].Facts[0])

	// The afternoon's conferences are those of the morning, but for how they end.
	getJSON(t, base+"/api/contrast?"+span(noon, today.Add(24*time.Hour), "baseline.from", strconv.FormatInt(today.UnixMilli(), 10), "baseline.to", strconv.FormatInt(noon.UnixMilli(), 10)), &got)
	require.Empty(t, got.Findings)
	require.Greater(t, got.Baseline.Conferences, 400)

	// Without a condition of its own the baseline is the rest: of everything there is none.
	getJSON(t, base+"/api/contrast?"+span(noon, today.Add(24*time.Hour)), &got)
	require.Equal(t, []int{all, 0, 0}, []int{got.Set.Conferences, got.Baseline.Conferences, len(got.Findings)})
}

// The parameters of the baseline replace those of the set; conditions remain only beside another parameter.
func TestSets(t *testing.T) {
	f := func(query, set, baseline string) {
		t.Helper()
		values, err := url.ParseQuery("from=1000&to=2000&" + query)
		require.NoError(t, err)
		p := &parameters{values: values}
		one, other := p.sets()
		require.NoError(t, p.err)
		require.Equal(t, set, one.given.Encode())
		require.Equal(t, baseline, other.given.Encode())
	}
	f("outcome=failed&site=b", "from=1000&outcome=failed&site=b&to=2000", "from=1000&site=b&to=2000")
	f("quality=poor&baseline.from=1&baseline.to=9", "from=1000&quality=poor&to=2000", "from=1&quality=poor&to=9")
	f("version=2&cause=unknown&baseline.version=1", "cause=unknown&from=1000&to=2000&version=2", "cause=unknown&from=1000&to=2000&version=1")
	f("site=b&baseline.site=", "from=1000&site=b&to=2000", "from=1000&to=2000")
	f("app=a&scoreTo=2.5&function=createOffer&issue=frozenVideo&browser=firefox", "app=a&browser=firefox&from=1000&function=createOffer&issue=frozenVideo&scoreTo=2.5&to=2000", "app=a&browser=firefox&from=1000&to=2000")
}

func TestContrastRefuses(t *testing.T) {
	base := start(t, &memory{}, nil)
	for query, field := range map[string]string{
		"": "from", "from=1&to=1": "to", "from=1&to=2&outcome=bad": "outcome", "from=1&to=2&baseline.outcome=bad": "baseline.outcome",
		"from=1&to=2&baseline.from=5": "baseline.to", "from=1&to=2&baseline.to=0": "baseline.to", "from=1&to=2&scoreFrom=0": "scoreFrom", "from=1&to=2&scoreFrom=NaN": "scoreFrom",
		"from=1&to=2&scoreFrom=3&scoreTo=2": "scoreTo", "from=1&to=2&issue=none": "issue", "from=1&to=2&baseline.cause=x": "baseline.cause", "from=1&to=2&site=a&site=b": "site",
	} {
		status, body, _ := get(t, base+"/api/contrast?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`, query)
	}
}

// A search by facts finds the conferences of which one participant has all of them.
func TestSearchByFacts(t *testing.T) {
	m := &memory{at: noon}
	two := []digest.Member{{SiteID: "berlin", Browser: "firefox", BrowserVersion: "144", Fabrics: []digest.Fabric{{RelayProtocol: "tls"}}}, {SiteID: "oslo:1", Browser: "chrome", BrowserVersion: "142"}}
	m.digested("demo", "two", noon.Add(-time.Hour), digest.Digest{Outcome: "success", Participants: 2, Members: two, Errors: []digest.Count{{Name: "createOffer", Count: 1}}})
	m.digested("shop", "one", noon.Add(-2*time.Hour), digest.Digest{Outcome: "success", Participants: 1, Members: two[:1], Issues: []digest.Count{{Name: "frozenVideo", Count: 1}}})
	m.newCall("live", noon)
	base := start(t, m, nil)
	f := func(query string, want ...string) {
		t.Helper()
		var list listing
		getJSON(t, base+"/api/conferences?"+query, &list)
		got := []string{}
		for _, c := range list.Conferences {
			got = append(got, c.ID)
		}
		require.Equal(t, append([]string{}, want...), got)
	}
	f("fact=siteID:berlin", "two", "one")
	f("fact=siteID:oslo:1", "two")
	f("fact=siteID:berlin&fact=relayProtocol:tls&fact=browserVersion:firefox+144", "two", "one")
	f("fact=siteID:berlin&fact=browser:chrome")
	f("fact=appID:shop", "one")
	f("function=createOffer", "two")
	f("issue=frozenVideo", "one")
	f("browser=chrome", "two")
	f("browser=firefox&browserVersion=142")
	for _, query := range []string{"fact=site:berlin", "fact=siteID:", "fact=", "fact=siteID", "fact=a:b&fact=c:d", strings.Repeat("fact=siteID:a&", 9)} {
		status, body, _ := get(t, base+"/api/conferences?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"fact"`, query)
	}
}

// Of many conferences a sample is compared, the same each time; counts are those of all.
func TestSample(t *testing.T) {
	var b digest.Builder
	for i := range 3 * maxSample {
		b.Add("", noon, (&digest.Digest{Participants: 1, Members: []digest.Member{{SiteID: strconv.Itoa(i / maxSample)}}}).Encode())
	}
	columns, table := b.Columns(), &contrast.Table{}
	reader := table.Columns(columns)
	s, again := newSample(), newSample()
	for i := range columns.Len() {
		s.add(reader, columns.Row(i))
		again.add(reader, columns.Row(i))
	}
	require.Equal(t, s.items, again.items)
	require.Equal(t, []int{3 * maxSample, maxSample}, []int{s.matched, len(s.items)})
	third := map[uint32]int{}
	for _, item := range s.items {
		third[item.Members[1]]++
	}
	require.Len(t, third, 3)
	for _, n := range third {
		require.InDelta(t, maxSample/3, n, 4*47) // four standard deviations
	}
}
