package postgres

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/internal/term"
)

// listing matches the statement that lists conferences; its group is the first table.
var listing = regexp.MustCompile(`(?s)^SELECT c\.key.*?FROM (\w+)`)

// A combination is searched by the rarest of its filters, also where each of them has many conferences.
//
// spec: DASH-01
func TestSearchByRarest(t *testing.T) {
	s := temp(t)
	execute(t, s, fill[0])
	execute(t, s, fill[1], noon.UnixMilli())
	execute(t, s, `UPDATE qos_conference SET label = 'poor' WHERE key % 5 = 0`)
	const add = `INSERT INTO qos_term (term, start_ms, place, conference, recorded) SELECT $1, start_ms, place, key, false FROM qos_conference`
	execute(t, s, add, int64(term.New("a", term.Version, "v")))
	execute(t, s, add+` WHERE key % 10 IN (3, 5) AND key < 10000`, int64(term.New("a", term.Site, "s")))
	for _, table := range []string{"qos_term", "qos_place", "qos_conference"} {
		execute(t, s, `ANALYZE `+table)
	}
	driver := func(q storage.Query) string {
		t.Helper()
		for _, one := range statements(t, s, q) {
			if listing.MatchString(one.sql) {
				return listing.FindStringSubmatch(one.sql)[1]
			}
		}
		return ""
	}
	require.Equal(t, "qos_conference", driver(storage.Query{ApplicationVersion: "v", Label: "poor"}))
	require.Equal(t, "qos_term", driver(storage.Query{SiteID: "s", Label: "poor"}))
	require.Equal(t, "qos_term", driver(storage.Query{SiteID: "s", Label: "good"}))
	for _, one := range plans(t, s, storage.Query{ApplicationVersion: "v"}) { // a page, not all with a value that many have
		require.NotContains(t, one, "Sort")
		require.NotContains(t, one, "Hash")
	}
	page, err := s.Conferences(t.Context(), storage.Query{SiteID: "s", Label: "poor", Limit: 200})
	require.NoError(t, err)
	require.Len(t, page.Conferences, 200)
}
