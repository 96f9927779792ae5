package readapi

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// hashingApps is an apps extension: each app has as many keys as it says.
type hashingApps map[string]int

func (hashingApps) ManagementHandlers() map[string]http.Handler { return nil }

func (h hashingApps) PseudonymApps() []string { return []string{"h1", "h2"} }

func (h hashingApps) StoredUserIDs(app, id string) []string {
	ids := []string{id}
	for n := range h[app] {
		ids = append(ids, app+string(rune('0'+n))+id)
	}
	return ids
}

// A search for the ID of a user asks the store for it and for its pseudonyms, in the apps that the reader may see and
// that are searched. Any other search is one query.
//
// spec: PRIV-02, DASH-01
func TestQueriesOfUserIDs(t *testing.T) {
	u := userIDs{hashingApps{"h1": 1, "h2": 2}}
	all := access.Scope{All: true}
	type query = storage.Query
	f := func(q query, scope access.Scope, want ...query) {
		t.Helper()
		have, err := u.queries(q, scope)
		require.NoError(t, err)
		require.Equal(t, want, have)
	}
	f(query{ConferenceID: "c", SiteID: "s"}, all, query{ConferenceID: "c", SiteID: "s"})
	f(query{UserID: "ann", Limit: 7}, all,
		query{UserID: "ann", Limit: 7}, query{AppID: "h1", UserID: "h10ann", Limit: 7}, query{AppID: "h2", UserID: "h20ann", Limit: 7}, query{AppID: "h2", UserID: "h21ann", Limit: 7})
	f(query{AppID: "h1", Any: "ann", UserID: "bob"}, all,
		query{AppID: "h1", Any: "ann", UserID: "bob"}, query{AppID: "h1", Any: "h10ann", UserID: "bob"},
		query{AppID: "h1", Any: "ann", UserID: "h10bob"}, query{AppID: "h1", Any: "h10ann", UserID: "h10bob"})
	f(query{AppID: "plain", UserID: "ann"}, all, query{AppID: "plain", UserID: "ann"})
	f(query{AdditionalID: "ann"}, access.Scope{Apps: []string{"h1", "plain"}},
		query{AppID: "h1", AdditionalID: "ann"}, query{AppID: "plain", AdditionalID: "ann"}, query{AppID: "h1", AdditionalID: "h10ann"})
	f(query{AppID: "h2", UserID: "ann"}, access.Scope{Apps: []string{"h1"}})
	have, err := userIDs{}.queries(query{UserID: "ann"}, all)
	require.NoError(t, err)
	require.Equal(t, []query{{UserID: "ann"}}, have)
}

// The number of queries of one search is bounded: a search that would need more is refused, and its reader knows
// which parameter to change.
//
// spec: DASH-01
func TestQueriesAreBounded(t *testing.T) {
	all := access.Scope{All: true}
	f := func(q storage.Query, keys, queries int, refused string) {
		t.Helper()
		have, err := userIDs{hashingApps{"h1": keys, "h2": keys}}.queries(q, all)
		require.Len(t, have, queries)
		if refused != "" {
			require.EqualError(t, err, refused)
			return
		}
		require.NoError(t, err)
	}
	f(storage.Query{AppID: "h1", UserID: "ann"}, 8, 9, "")
	f(storage.Query{AppID: "h1", UserID: "ann", Any: "bob"}, 8, 81, "")
	f(storage.Query{UserID: "ann", Any: "bob"}, 8, 161, "")
	f(storage.Query{AppID: "h1", UserID: "ann", Any: "bob"}, 15, 256, "")
	f(storage.Query{AppID: "h1", UserID: "ann", Any: "bob"}, 16, 0, "q cannot be combined with the other IDs: too many pseudonyms fit this search")
	f(storage.Query{UserID: "ann", Any: "bob"}, 11, 0, "app is required: too many pseudonyms of all apps fit this search")
	f(storage.Query{AppID: "h1", UserID: "ann", Any: "bob", AdditionalID: "eve"}, 8, 0,
		"additional cannot be combined with the other IDs: too many pseudonyms fit this search")
	f(storage.Query{AppID: "plain", UserID: "ann", Any: "bob", AdditionalID: "eve"}, 8, 1, "")
}

// The audit log gets the pseudonyms of what was searched for, if an app that is searched has them.
//
// spec: PRIV-02
func TestAuditedSearches(t *testing.T) {
	u := userIDs{hashingApps{"h1": 1, "h2": 1}}
	terms := func() url.Values { return url.Values{"user": {"ann"}, "site": {"s"}} }
	require.Equal(t, "site=s&user=h10ann&user=h20ann", u.audited(terms(), storage.Query{}, access.Scope{All: true}).Encode())
	require.Equal(t, "site=s&user=h20ann", u.audited(terms(), storage.Query{AppID: "h2"}, access.Scope{All: true}).Encode())
	require.Equal(t, "site=s&user=ann", u.audited(terms(), storage.Query{AppID: "plain"}, access.Scope{All: true}).Encode())
	require.Equal(t, "site=s&user=ann", u.audited(terms(), storage.Query{}, access.Scope{Apps: []string{"plain"}}).Encode())
	require.Equal(t, "site=s&user=ann", userIDs{}.audited(terms(), storage.Query{}, access.Scope{All: true}).Encode())
}
