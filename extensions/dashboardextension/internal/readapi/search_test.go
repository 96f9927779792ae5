//go:build !fuzz

package readapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// searched is a dashboard over a store with a call of Ann and Bob, who became Robert.
func searched(t *testing.T, realNames bool) (ask func(query ...string) []conferenceRow, base string) {
	t.Helper()
	m := &memory{}
	c := m.newCall("standup", t0)
	c.join(alice, "Ann Real", "ann", map[string]string{semconv.SiteID: "hq", semconv.ApplicationVersion: "2.3", semconv.AdditionalPrefix + "tenantID": "t 1"})
	c.join(bob, "bob", "bob", nil)
	c.stats(alice, t0, "inbound-rtp", "audio", nil)
	c.event(bob, 1, t0.Add(time.Second), "userIDChange", `{"userIDType":"local","newUserID":{"userName":"Robert Real","aliasName":"robert"}}`)
	score := 2.5
	c.summarise("dropped", &score, "poor", `{}`)
	c.Summary.Cause = "senderUplink"
	store := newSQLite(t)
	write(t, store, c)
	other := m.newCall("lunch", t0.Add(-time.Hour))
	other.join("019a9f3c-9b1a-7c3e-9f10-2b6f0c1d2e40", "eve", "eve", nil)
	other.stats("019a9f3c-9b1a-7c3e-9f10-2b6f0c1d2e40", other.Start, "inbound-rtp", "audio", nil)
	other.summarise("success", nil, "", `{}`)
	write(t, store, other)
	base = startOn(t, reading{m, store}, func(s *Settings) { s.ShowUserNames = realNames }) + "/api/conferences?"
	return func(query ...string) []conferenceRow {
		t.Helper()
		values := url.Values{}
		for i := 0; i < len(query); i += 2 {
			values.Set(query[i], query[i+1])
		}
		var list listing
		getJSON(t, base+values.Encode(), &list)
		return list.Conferences
	}, base
}

// A call is found by each word of it alone, by several together, and by none that it lacks;
// who may not see real names finds none by them.
//
// spec: INIT-08, API-06, DASH-01
func TestSearch(t *testing.T) {
	for _, realNames := range []bool{false, true} {
		ask, _ := searched(t, realNames)
		for _, query := range [][]string{
			{"user", "ann"},
			{"user", "bob"},
			{"user", "robert"},
			{"site", "hq"},
			{"version", "2.3"},
			{"additional", "t 1"},
			{"additional", "t 1", "additionalKey", "tenantID"},
			{"quality", "poor"},
			{"cause", "senderUplink"},
			{"outcome", "failed"},
			{"outcome", "failed", "cause", "senderUplink", "scoreTo", "3"},
			{"scoreFrom", "2.5"},
			{"scoreTo", "2.5"},
			{"scoreFrom", "2.5", "scoreTo", "2.5", "user", "ann"},
			{"q", "standup"},
			{"q", "t 1"},
			{"user", "ann", "site", "hq", "version", "2.3", "quality", "poor", "cause", "senderUplink", "outcome", "dropped", "app", "demo", "id", "standup"},
		} {
			require.Len(t, ask(query...), 1, query)
		}
		for _, query := range [][]string{
			{"user", "Ann"},
			{"user", "hq"},
			{"site", "2.3"},
			{"version", "hq"},
			{"additional", "hq"},
			{"additional", "t 1", "additionalKey", "pbxID"},
			{"quality", "good"},
			{"cause", "none"},
			{"outcome", "success", "user", "ann"},
			{"scoreFrom", "2.6"},
			{"scoreTo", "2.4"},
			{"q", "stand"},
			{"user", "ann", "site", "branch"},
			{"user", "ann", "app", "other"},
		} {
			require.Empty(t, ask(query...), query)
		}
		for _, name := range []string{"Ann Real", "Robert Real"} {
			require.Equal(t, realNames, len(ask("user", name)) == 1, name)
			require.Equal(t, realNames, len(ask("q", name)) == 1, name)
		}
	}
}

// A reader who may not see a real name finds nothing by a text that has it, in any form, and no cursor reports that there is something.
//
// spec: DASH-03
func TestSearchByAHiddenName(t *testing.T) {
	m, store := &memory{}, newSQLite(t)
	texts := []string{"Ann Real", "ann real", "ANN_REAL", "room of Ann Real", `CORP\ann.real`, "Ann%20Real", "room of Annette", "ann"}
	for n, text := range texts {
		for again := range 2 {
			c, session := m.newCall(fmt.Sprint("call ", n, again), t0), fmt.Sprint(alice[:len(alice)-3], 100+2*n+again)
			c.join(session, "Ann Real", "ann", map[string]string{semconv.SiteID: text, semconv.ApplicationVersion: text, semconv.AdditionalPrefix + "tenantID": text})
			c.stats(session, c.Start, "inbound-rtp", "audio", nil)
			c.summarise("success", nil, "", `{}`)
			write(t, store, c)
		}
	}
	for _, realNames := range []bool{true, false} {
		base := startOn(t, reading{m, store}, func(s *Settings) { s.ShowUserNames = realNames }) + "/api/conferences?limit=1&"
		for i, text := range texts {
			for _, field := range []string{"q", "site", "version", "additional"} {
				var list listing
				getJSON(t, base+url.Values{field: {text}}.Encode(), &list)
				shown := realNames || i >= len(texts)-2
				require.Equal(t, shown, len(list.Conferences) > 0, "%s %s", field, text)
				require.Equal(t, shown, list.Next != "", "%s %s", field, text)
			}
		}
	}
}

// The row says as what it was found, and who was looked for stands first.
func TestSearchMatched(t *testing.T) {
	ask, _ := searched(t, false)
	for word, matched := range map[string]string{"standup": "conferenceID", "robert": "userID", "hq": "siteID", "2.3": "applicationVersion", "t 1": "tenantID"} {
		require.Equal(t, []string{matched}, ask("q", word)[0].Matched, word)
	}
	require.Empty(t, ask("user", "bob")[0].Matched)
	for _, query := range [][]string{{"user", "bob"}, {"q", "bob"}} {
		require.Equal(t, "robert", ask(query...)[0].Participants[0].User, "found by a former name")
	}
	require.Equal(t, "ann", ask()[0].Participants[0].User)
}

// A row has the likely cause and the sites, each once; a real name in a site is masked like any other text.
//
// spec: DASH-01, DASH-03
func TestRows(t *testing.T) {
	m := &memory{}
	c := m.newCall("standup", t0)
	for i, site := range []string{"oslo", "", "bergen", "oslo", "room of Ann Real"} {
		c.join(fmt.Sprint(alice[:len(alice)-1], i), "Ann Real", "ann", map[string]string{semconv.SiteID: site})
	}
	c.summarise("dropped", nil, "poor", `{}`)
	c.Summary.Cause = "senderUplink"
	for realNames, last := range map[bool]string{true: "room of Ann Real", false: "room of ann"} {
		var list listing
		getJSON(t, start(t, m, func(s *Settings) { s.ShowUserNames = realNames })+"/api/conferences", &list)
		require.Equal(t, []string{"bergen", "oslo", last}, list.Conferences[0].Sites)
		require.Equal(t, "senderUplink", list.Conferences[0].Cause)
	}
}

// TestBadSearch: what no conference can have is a fault of the request.
func TestBadSearch(t *testing.T) {
	_, base := searched(t, false)
	for query, message := range map[string]string{
		"quality=great": "quality must be one of excellent, good, fair, poor, bad", "cause=bad+luck": "cause must be one of",
		"scoreFrom=0": "scoreFrom must be a number from 1 to 5", "scoreTo=NaN": "scoreTo must be a number from 1 to 5", "scoreFrom=4&scoreTo=3": "scoreTo must not be less than scoreFrom",
		"outcome=lost":                    "outcome must be one of failed, ",
		"additionalKey=shoe&additional=1": "additionalKey must be one of", "additionalKey=pbxID": "additionalKey needs additional",
	} {
		status, body, _ := get(t, base+query)
		require.Equal(t, http.StatusBadRequest, status, query)
		require.Contains(t, body, message)
	}
}

// The list and the page show who a user is now, and was: a local rename in its conference alone,
// a remote one of its fabric alone, in the order of the records' numbers.
//
// spec: API-06, DASH-01
func TestRenamed(t *testing.T) {
	for _, realNames := range []bool{false, true} {
		m, store := &memory{}, newSQLite(t)
		c := m.newCall("standup", t0)
		c.join(alice, "Ann Real", "ann", nil)
		c.join(bob, "Bob Real", "bob", nil)
		remote := map[string]any{semconv.RemoteUserID: "Bob Real", semconv.RemoteUserAlias: "bob"}
		c.stats(alice, t0, "inbound-rtp", "audio", remote)
		c.event(alice, 2, t0, "fabricAdded", "{}")
		maps.Copy(c.records[1].Attributes, remote)
		c.event(alice, 1, t0.Add(9*time.Second), "userIDChange", `{"userIDType":"remote","newUserID":"bobby"}`)
		c.event(alice, 1, t0.Add(8*time.Second), "userIDChange", `{"userIDType":"remote","newUserID":{"userName":"Robert Real","aliasName":"robert"}}`)
		c.event(alice, 1, t0.Add(7*time.Second), "userIDChange", `{"userIDType":"local","newUserID":{"userName":"Ann New","aliasName":"ann-2"}}`)
		c.event(alice, 2, t0.Add(6*time.Second), "userIDChange", `{"userIDType":"local","newUserID":{"aliasName":"ann-3"}}`)
		c.event(alice, 1, t0.Add(8*time.Second), "userIDChange", `no JSON`)
		c.stats(alice, t0.Add(10*time.Second), "inbound-rtp", "audio", remote)
		c.stats(bob, t0, "inbound-rtp", "audio", nil)
		c.summarise("success", nil, "", `{}`)
		write(t, store, c)
		next := m.newCall("next", t0)
		next.join(alice, "Ann Real", "ann", nil)
		next.event(alice, 9, t0, "fabricAdded", "{}")
		next.records[0].Seq = 100
		next.summarise("success", nil, "", `{}`)
		write(t, store, next)
		url := startOn(t, reading{m, store}, func(s *Settings) { s.ShowUserNames = realNames })

		d := ask(t, url, c)
		now := []participant{{Session: alice, User: "ann-3", Former: []string{"ann", "ann-2"}}, {Session: bob, User: "bob"}}
		robert, remoteBob := []string{"robert", ""}, []string{"bob", ""}
		if realNames {
			now[1].UserName, robert[1], remoteBob[1] = "Bob Real", "Robert Real", "Bob Real"
		}
		require.Equal(t, now, d.Conference.Participants)
		for i, want := range [][]string{robert, remoteBob} {
			require.Equal(t, want, []string{d.Fabrics[i].RemoteUser, d.Fabrics[i].RemoteUserName})
		}
		require.Equal(t, "robert", d.Streams[0]["user"])

		var list listing
		getJSON(t, url+"/api/conferences", &list)
		require.Len(t, list.Conferences, 2)
		for _, row := range list.Conferences {
			if row.ID == "standup" {
				require.Equal(t, now, row.Participants)
			} else {
				require.Equal(t, "ann", row.Participants[0].User, "the same session in another conference")
			}
		}
	}
}
