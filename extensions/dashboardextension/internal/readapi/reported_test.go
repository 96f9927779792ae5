//go:build !fuzz

package readapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/notice"
)

// The link of a notification lists just the conferences that it counted: by their end and by each
// reason's formula, through a real store.
//
// spec: OUT-04, OUT-05
func TestReportedSearch(t *testing.T) {
	m, store := &memory{}, newSQLite(t)
	ended := func(id string, minutes int, outcome string, mos float64, document string) {
		start := t0.Add(time.Duration(minutes) * time.Minute)
		c := m.newCall(id, start)
		c.join(fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", len(m.calls)), "ann", "ann", nil)
		session := c.Participants[0].Session.ID
		c.stats(session, start, "inbound-rtp", "audio", nil)
		c.summarise(outcome, &mos, "good", fmt.Sprintf(`{"outcome":%q,"mos":%g,%s}`, outcome, mos, document))
		write(t, store, c)
	}
	const none = `"setupMs":[],"participants":[]`
	participant := func(fabric, feedback string) string {
		return fmt.Sprintf(`"setupMs":[],"participants":[{"session":"s","fabrics":[%s],"feedback":[%s]}]`, fabric, feedback)
	}
	ended("before", -1, "totallyFailed", 4, none)
	ended("failed", 1, "totallyFailed", 4, none)
	ended("dropped", 2, "dropped", 4, none)
	ended("slow", 3, "success", 4, `"setupMs":[100,6000],"participants":[]`)
	ended("far", 4, "success", 4, participant(`{"candidatePair":{"rttMs":{"p50":301}}}`, ""))
	ended("lossy", 5, "success", 4, participant(`{"streams":[{"lossFraction":0.06}]}`, ""))
	ended("poor", 6, "success", 3.1, none)
	ended("rated", 7, "success", 4, participant("", fmt.Sprintf(`{"atMs":%d,"overall":1}`, t0.Add(8*time.Minute).UnixMilli())))
	ended("rated later", 8, "success", 4, participant("", fmt.Sprintf(`{"atMs":%d,"overall":1}`, t0.Add(99*time.Minute).UnixMilli())))
	ended("after", 60, "totallyFailed", 4, none)
	base := startOn(t, reading{m, store}, nil)
	from, to := t0, t0.Add(59*time.Minute)
	rules := notice.DefaultRules()
	for reason, want := range map[notice.Reason]string{
		notice.FailedConferences: "failed", notice.DroppedConferences: "dropped", notice.HighSetupDelays: "slow", notice.HighRoundTripTime: "far",
		notice.HighPacketLoss: "lossy", notice.LowQuality: "poor", notice.DissatisfactoryUserFeedback: "rated", notice.PartiallyFailedConferences: "",
	} {
		link := notice.Interval(notice.Change{AppID: "demo", Reason: reason, Rule: rules.Of(reason), From: from, To: to.Add(-time.Second)}, base).URL
		u, err := url.Parse(link)
		require.NoError(t, err)
		var list listing
		getJSON(t, base+"/api/conferences?"+u.RawQuery, &list)
		var ids []string
		for _, c := range list.Conferences {
			ids = append(ids, c.ID)
		}
		if want == "" {
			require.Empty(t, ids, reason)
			continue
		}
		require.Equal(t, []string{want}, ids, reason)
	}
	for query, message := range map[string]string{"reason=x": "reason must be one of", "reason=lowQuality&past=x": "past must be a number", "reason=lowQuality&past=-1": "past must be", "reason=lowQuality&past=NaN": "past must be"} {
		status, body, _ := get(t, base+"/api/conferences?"+query)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, message)
	}
}

// A search reads on until its page is full, and its cursor leads to all others.
//
// spec: OUT-04
func TestReportedPages(t *testing.T) {
	m, store := &memory{}, newSQLite(t)
	const calls = 25
	for i := range calls {
		start := t0.Add(time.Duration(i) * time.Minute)
		c := m.newCall(fmt.Sprint("c", i), start)
		c.join(fmt.Sprintf("019a9f3c-7b1a-7c3e-9f10-%012d", i), "ann", "ann", nil)
		c.stats(c.Participants[0].Session.ID, start, "inbound-rtp", "audio", nil)
		delay := 100
		if i%3 == 0 {
			delay = 9000
		}
		c.summarise("success", nil, "", fmt.Sprintf(`{"outcome":"success","setupMs":[%d],"participants":[]}`, delay))
		write(t, store, c)
	}
	base := startOn(t, reading{m, store}, nil) + "/api/conferences?reason=highSetupDelays&past=5000&limit=4&cursor="
	var ids []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var list listing
		getJSON(t, base+cursor, &list)
		require.LessOrEqual(t, len(list.Conferences), 4)
		for _, c := range list.Conferences {
			ids = append(ids, c.ID)
		}
		cursor = list.Next
		require.Less(t, pages, 9)
	}
	slices.Sort(ids)
	require.Equal(t, []string{"c0", "c12", "c15", "c18", "c21", "c24", "c3", "c6", "c9"}, ids)
}
