package conferenceprocessor

import (
	"cmp"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// mixed is the value of a conference whose participants differ.
const mixed = "mixed"

// writeClients writes the values common to all participants, and the clients of new participants.
func writeClients(attrs pcommon.Map, people []conference.Participant) {
	putShared(attrs, semconv.SummarySite, people, func(c *conference.Client) string { return c.SiteID })
	putShared(attrs, semconv.SummaryVersion, people, func(c *conference.Client) string { return c.ApplicationVersion })
	added := map[conference.Client]int64{}
	for i := range people {
		if people[i].New && people[i].Client != (conference.Client{}) {
			added[people[i].Client]++
		}
	}
	if len(added) == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.SummaryClients)
	for _, c := range slices.SortedFunc(maps.Keys(added), compareClients) {
		entry := list.AppendEmpty().SetEmptyMap()
		for _, text := range [...][2]string{{"site", c.SiteID}, {"version", c.ApplicationVersion}, {"browser", c.Browser}, {"browser_version", c.BrowserVersion}} {
			if text[1] != "" {
				entry.PutStr(text[0], text[1])
			}
		}
		entry.PutInt("count", added[c])
	}
}

func compareClients(a, b conference.Client) int {
	return cmp.Or(cmp.Compare(a.SiteID, b.SiteID), cmp.Compare(a.ApplicationVersion, b.ApplicationVersion),
		cmp.Compare(a.Browser, b.Browser), cmp.Compare(a.BrowserVersion, b.BrowserVersion))
}

func putShared(attrs pcommon.Map, name string, people []conference.Participant, of func(*conference.Client) string) {
	var shared string
	for i := range people {
		switch v := of(&people[i].Client); {
		case i == 0:
			shared = v
		case v != shared:
			shared = mixed
		}
	}
	if shared != "" {
		attrs.PutStr(name, shared)
	}
}
