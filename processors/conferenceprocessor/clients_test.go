package conferenceprocessor

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// TestClientsOfASummary: a value that all participants share, "mixed" where they differ, and the clients
// of those that no earlier revision has.
//
// spec: OUT-01, CONF-02
func TestClientsOfASummary(t *testing.T) {
	person := func(isNew bool, site, version, browser, major string) conference.Participant {
		return conference.Participant{New: isNew, Client: conference.Client{SiteID: site, ApplicationVersion: version, Browser: browser, BrowserVersion: major}}
	}
	f := func(people []conference.Participant, want map[string]any) {
		t.Helper()
		attrs := pcommon.NewMap()
		writeClients(attrs, people)
		require.Equal(t, want, attrs.AsRaw())
	}
	f(nil, map[string]any{})
	f([]conference.Participant{person(false, "", "", "", "")}, map[string]any{})
	f([]conference.Participant{
		person(true, "north", "1", "chrome", "142"), person(true, "north", "2", "safari", "18"),
		person(true, "north", "1", "chrome", "142"), person(false, "north", "1", "edge", "9"), person(true, "north", "2", "", ""),
	}, map[string]any{
		semconv.SummarySite: "north", semconv.SummaryVersion: "mixed", semconv.SummaryClients: []any{
			map[string]any{"site": "north", "version": "1", "browser": "chrome", "browser_version": "142", "count": int64(2)},
			map[string]any{"site": "north", "version": "2", "count": int64(1)},
			map[string]any{"site": "north", "version": "2", "browser": "safari", "browser_version": "18", "count": int64(1)},
		},
	})
	f([]conference.Participant{person(false, "", "1", "", ""), person(false, "north", "1", "", ""), person(false, "north", "1", "", "")},
		map[string]any{semconv.SummarySite: "mixed", semconv.SummaryVersion: "1"})
}
