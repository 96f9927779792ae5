package readapi

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

var noon = time.Date(2026, 3, 9, 12, 0, 0, 0, time.UTC)

// digested adds an ended conference with a digest.
func (m *memory) digested(app, id string, start time.Time, d digest.Digest) {
	c := m.newCall(id, start)
	c.AppID, c.End = app, start.Add(time.Minute)
	var mos *float64
	if d.MOS > 0 {
		mos = &d.MOS
	}
	c.summarise(d.Outcome, mos, d.Label, `{}`)
	c.Summary.Cause, c.Summary.Digest = d.Cause, d.Encode()
}

func one(site, version, browser, major string) []digest.Member {
	return []digest.Member{{SiteID: site, ApplicationVersion: version, Browser: browser, BrowserVersion: major}}
}

func span(from, to time.Time, more ...string) string {
	q := url.Values{"from": {strconv.FormatInt(from.UnixMilli(), 10)}, "to": {strconv.FormatInt(to.UnixMilli(), 10)}}
	for i := 0; i < len(more); i += 2 {
		q.Add(more[i], more[i+1])
	}
	return q.Encode()
}

// The overview counts a time, and the same time a week earlier.
//
// spec: DASH-01
func TestOverview(t *testing.T) {
	m := &memory{at: noon}
	good := digest.Digest{Outcome: "success", Label: "good", MOS: 4, Participants: 2, SetupMs: []int64{100, 100}, Members: one("berlin", "1.0", "firefox", "144")}
	bad := digest.Digest{Outcome: "dropped", Label: "poor", MOS: 2, Cause: "senderUplink", Participants: 1, Errors: []digest.Count{{Name: "createOffer", Count: 2}}, Issues: []digest.Count{{Name: "frozenVideo", Count: 1}}, Members: one("oslo", "1.1", "chrome", "142")}
	m.digested("demo", "a", noon.Add(-3*time.Hour), good)
	m.digested("demo", "b", noon.Add(-2*time.Hour-time.Minute), bad)
	m.digested("shop", "c", noon.Add(-10*time.Minute), good)
	m.digested("shop", "before", noon.Add(-13*time.Hour), bad)
	m.digested("demo", "last week", noon.Add(-week-time.Hour), good)
	m.digested("demo", "last week, later", noon.Add(-week+time.Hour), bad)
	m.newCall("going on", noon.Add(-30*time.Second))
	base := start(t, m, nil)

	var got overviewAnswer
	getJSON(t, base+"/api/overview?"+span(noon.Add(-12*time.Hour-30*time.Minute), noon), &got)
	four, two, mean := 4.0, 2.0, 10.0/3
	require.InDelta(t, mean, *got.Current.MOS, 1e-9)
	got.Current.MOS = nil
	require.Equal(t, totals{
		Conferences: 4, WithoutSummary: 1, Participants: 5, Failed: 1, Scored: 3, Setup: &setup{4, got.Current.Setup.P50, got.Current.Setup.P50},
		Outcomes: []group{{"success", false, 2, 0, &four}, {"dropped", false, 1, 1, &two}},
		Labels:   []group{{"good", false, 2, 0, &four}, {"poor", false, 1, 1, &two}},
		Causes:   []group{{"senderUplink", false, 1, 1, &two}}, Issues: []group{{"frozenVideo", false, 1, 1, &two}},
		Errors:   []errorGroup{{"createOffer", 1, 2}},
		Browsers: []group{{"firefox 144", false, 2, 0, &four}, {"chrome 142", false, 1, 1, &two}},
		Sites:    []group{{"berlin", false, 2, 0, &four}, {"oslo", false, 1, 1, &two}},
		Versions: []group{{"1.0", false, 2, 0, &four}, {"1.1", false, 1, 1, &two}},
	}, got.Current)
	require.InEpsilon(t, 100, got.Current.Setup.P50, 0.026)
	require.Equal(t, 1, got.Baseline.Conferences)
	require.Equal(t, noon.Add(-week).UnixMilli(), got.BaselineTo)
	require.Equal(t, []string{"demo", "shop"}, got.Apps)
	require.Equal(t, 1, got.Live)
	require.Len(t, got.Points, 13, "from half past eleven at night")
	require.Equal(t, hourPoint{noon.Add(-3 * time.Hour).UnixMilli(), 2, 1, nil}, withoutScore(got.Points[10]))
	require.Equal(t, []int{0, 2}, []int{got.Points[11].Conferences, got.Points[12].Conferences})

	getJSON(t, base+"/api/overview?"+span(noon.Add(-12*time.Hour), noon, "app", "shop"), &got)
	require.Equal(t, []int{1, 0, 0}, []int{got.Current.Conferences, got.Baseline.Conferences, got.Live})

	getJSON(t, base+"/api/overview?"+span(noon.Add(-12*time.Hour), noon, "baseline.from", inMs(noon.Add(-week-11*time.Hour)), "baseline.to", inMs(noon.Add(-week+2*time.Hour))), &got)
	require.Equal(t, 2, got.Baseline.Conferences, "where summer time ended in between, the hours of a week before are others")
	require.Equal(t, []int64{noon.Add(-week - 11*time.Hour).UnixMilli(), noon.Add(-week + 2*time.Hour).UnixMilli()}, []int64{got.BaselineFrom, got.BaselineTo})

	var live listing
	getJSON(t, base+"/api/conferences?state=live", &live)
	require.Len(t, live.Conferences, 1)
	require.Equal(t, "going on", live.Conferences[0].ID)
	getJSON(t, base+"/api/conferences?state=live&app=shop", &live)
	require.Empty(t, live.Conferences)
}

// Conferences are found by their longest setup delay, their round-trip time, their loss and their lowest rating, and such
// sets are compared.
//
// spec: DASH-01, OUT-04
func TestFoundByMeasures(t *testing.T) {
	m := &memory{at: noon}
	for i, one := range []digest.Digest{
		{SetupMs: []int64{200, 6000}, RTTMs: 300, LossFraction: 0.051, WorstRating: 4}, {SetupMs: []int64{5000}, RTTMs: 300.1, LossFraction: 0.05, WorstRating: 2}, {},
	} {
		one.Outcome, one.Participants = "success", 2
		m.digested("demo", strconv.Itoa(i), noon.Add(-time.Hour), one)
	}
	base := start(t, m, nil)
	for query, id := range map[string]string{"setupFrom=5001": "0", "ratingTo=2": "1", "setupFrom=5000&ratingTo=3": "1", "rttAbove=300": "1", "lossAbove=0.05": "0", "rttAbove=299.9&lossAbove=0.05": "0"} {
		var list listing
		getJSON(t, base+"/api/conferences?"+query, &list)
		require.Len(t, list.Conferences, 1, query)
		require.Equal(t, id, list.Conferences[0].ID, query)
		var got contrastAnswer
		getJSON(t, base+"/api/contrast?"+span(noon.Add(-2*time.Hour), noon)+"&"+query, &got)
		require.Equal(t, []int{1, 2}, []int{got.Set.Conferences, got.Baseline.Conferences}, query)
	}
	for query, field := range map[string]string{"setupFrom=0": "setupFrom", "ratingTo=6": "ratingTo", "state=ended": "state", "rttAbove=0": "rttAbove", "rttAbove=NaN": "rttAbove", "lossAbove=1.1": "lossAbove", "lossAbove=5%25": "lossAbove"} {
		status, body, _ := get(t, base+"/api/conferences?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`, query)
	}
}

func inMs(at time.Time) string { return strconv.FormatInt(at.UnixMilli(), 10) }

func withoutScore(p hourPoint) hourPoint {
	p.MOS = nil
	return p
}

func TestOverviewRefuses(t *testing.T) {
	base := start(t, &memory{}, nil)
	for query, field := range map[string]string{
		"": "from", "from=1": "to", span(noon, noon): "to", span(noon.Add(-94*24*time.Hour), noon): "to", "from=x&to=2": "from",
		"from=1&to=2&baseline.from=1": "baseline.to", "from=1&to=2&baseline.from=3&baseline.to=2": "baseline.to", "from=1&to=2&baseline.to=x": "baseline.to",
		"from=1&to=2&app=" + strings.Repeat("a", 1025): "app",
	} {
		status, body, _ := get(t, base+"/api/overview?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`, query)
	}
}
