//go:build !fuzz

package readapi

import (
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// named is a provider whose name has one of a user.
const named = "desk of Alice Archer"

// preCall is a test of Alice that ended so many minutes after noon. Providers of no RTT are not acceptable.
func preCall(seq uint64, minutes int, status string, rtts map[string]float64) storage.PreCall {
	p := storage.PreCall{
		Session: storage.Session{ID: alice, AppID: "demo", UserID: "Alice Archer", UserAlias: "a-1", Details: map[string]string{semconv.SiteID: "of Alice Archer"}},
		Seq:     seq, At: noon.Add(time.Duration(minutes) * time.Minute), ObservedAt: noon,
		Result: storage.PreCallResult{Trigger: "initialize", Status: status, Reason: "said Alice Archer", MediaConnectivity: true, DurationMs: 10},
	}
	for _, name := range []string{"eu-1", "eu-2", named} {
		rtt, tested := rtts[name]
		if !tested {
			continue
		}
		one := storage.PreCallProvider{Provider: name, Transports: []storage.PreCallTransport{{RelayProtocol: "udp", Error: "also Alice Archer"}}}
		if rtt > 0 {
			one.Acceptable, one.RTTMs = true, &rtt
		}
		p.Result.Providers = append(p.Result.Providers, one)
	}
	return p
}

// preCallStore is a dashboard over a store with tests of two hours.
func preCallStore(t *testing.T, realNames bool) string {
	t.Helper()
	store := newSQLite(t)
	other := preCall(5, 30, "failure", map[string]float64{named: 5})
	other.Session.AppID = "other"
	interrupted := preCall(4, 70, "failure", map[string]float64{"eu-1": 0})
	interrupted.Result.Interrupted = true
	_, err := store.AppendPreCalls(t.Context(), []storage.PreCall{
		preCall(1, 0, "success", map[string]float64{"eu-1": 10, "eu-2": 0}), preCall(2, 20, "success", map[string]float64{"eu-1": 20}),
		preCall(3, 65, "failure", map[string]float64{"eu-1": 0}), interrupted, other,
	})
	require.NoError(t, err)
	return startOn(t, reading{&memory{at: noon.Add(2 * time.Hour)}, store}, func(s *Settings) { s.ShowUserNames = realNames })
}

func ended(list preCallList) (minutes []int64) {
	for _, row := range list.PreCalls {
		minutes = append(minutes, (row.EndAt-noon.UnixMilli())/time.Minute.Milliseconds())
	}
	return minutes
}

// Tests are found by what the request asks for. Real names are hidden from those who may not see them, in all texts.
//
// spec: PRE-02, INIT-08, DASH-03
func TestPreCallsAPI(t *testing.T) {
	base := preCallStore(t, false)
	found := func(query string) (list preCallList) {
		t.Helper()
		getJSON(t, base+"/api/precalls?"+query, &list)
		return list
	}
	require.Equal(t, []int64{70, 65, 30, 20, 0}, ended(found("")))
	require.Equal(t, []int64{70, 65, 20, 0}, ended(found("app=demo&user=a-1")))
	require.Empty(t, ended(found("app=demo&user=Alice+Archer")))
	require.Equal(t, []int64{65}, ended(found("app=demo&failed=true")))
	require.Equal(t, []int64{0}, ended(found("app=demo&failed=true&provider=eu-2")))
	require.Equal(t, []int64{70, 65}, ended(found("app=demo&status=failure")))
	site := "app=demo&site=of+Alice+Archer&from=" + strconv.FormatInt(noon.UnixMilli()+1, 10) + "&to=" + strconv.FormatInt(noon.Add(time.Hour).UnixMilli(), 10)
	require.Equal(t, preCallList{At: noon.Add(2 * time.Hour).UnixMilli(), PreCalls: []preCallRow{}}, found("limit=1&"+site), "a text that is not shown")
	page := found("app=demo&limit=3")
	require.Len(t, page.PreCalls, 3)
	require.Equal(t, []int64{0}, ended(found("app=demo&limit=3&cursor="+page.Next)))

	row := found("app=demo&provider=eu-2").PreCalls[0]
	require.Equal(t, "a-1", row.User.User)
	require.Empty(t, row.User.UserName)
	require.Equal(t, []string{"said a-1", "also a-1", "of a-1"}, []string{row.Reason, row.Providers[1].Transports[0].Error, row.User.Details[semconv.SiteID]})
	require.InDelta(t, 10, *row.Providers[0].RTTMs, 0)
	require.Empty(t, ended(found("app=other&provider="+url.QueryEscape(named))))
	base = preCallStore(t, true)
	require.Equal(t, []int64{30}, ended(found("app=other&provider="+url.QueryEscape(named))))
	require.Equal(t, []int64{20}, ended(found(site)))
}

// What a request has wrong is named.
//
// spec: SRV-02
func TestPreCallsFaults(t *testing.T) {
	base := preCallStore(t, false)
	for query, field := range map[string]string{
		"from=2&to=1": "to", "status=perhaps": "status", "failed=1": "failed", "additionalKey=pbxID": "additionalKey", "limit=201": "limit", "cursor=x": "cursor",
	} {
		status, body, _ := get(t, base+"/api/precalls?"+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, `"field":"`+field+`"`)
	}
	status, body, _ := get(t, base+"/api/precalls/providers?app=demo&from=1")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, `"field":"to"`)
}

// Providers are counted by hour: how many tests failed, and the median of the round-trip time. Real names are hidden.
//
// spec: PRE-02, DASH-03
func TestProvidersOverTime(t *testing.T) {
	ask := func(realNames bool, app string) (got providersAnswer) {
		getJSON(t, preCallStore(t, realNames)+"/api/precalls/providers?app="+app+"&from="+strconv.FormatInt(noon.UnixMilli(), 10)+"&to="+strconv.FormatInt(noon.Add(2*time.Hour).UnixMilli(), 10), &got)
		return got
	}
	require.Equal(t, named, ask(true, "other").Providers[0].Provider)
	require.Equal(t, "desk of a-1", ask(false, "other").Providers[0].Provider)
	hour := noon.Add(time.Hour).UnixMilli()
	require.Equal(t, providersAnswer{
		At: noon.Add(2 * time.Hour).UnixMilli(), From: noon.UnixMilli(), To: noon.Add(2 * time.Hour).UnixMilli(), StepMs: 3_600_000, Tests: 4, Complete: true,
		Providers: []providerSeries{
			{"eu-1", providerCounts{3, 1, 1.0 / 3, new(15.0)}, []providerPoint{
				{noon.UnixMilli(), providerCounts{2, 0, 0, new(15.0)}}, {hour, providerCounts{1, 1, 1, nil}},
			}},
			{"eu-2", providerCounts{1, 1, 1, nil}, []providerPoint{{noon.UnixMilli(), providerCounts{1, 1, 1, nil}}}},
		},
	}, ask(false, "demo"))
}
