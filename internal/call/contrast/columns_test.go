package contrast

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/digest"
)

// A conference has the same facts in columns as in its digest.
func TestConferenceOfColumns(t *testing.T) {
	d := &digest.Digest{Outcome: "dropped", Participants: 5, Members: []digest.Member{
		{
			SiteID: "berlin", ApplicationVersion: "4.2.0", Browser: "firefox", BrowserVersion: "144", OS: "linux", Devices: []string{"Headset", "Camera"},
			Fabrics: []digest.Fabric{
				{Usage: "multiplex", LocalCandidateType: "relay", RemoteCandidateType: "host", RelayProtocol: "tls", NetworkType: "wifi", LocalAddress: "192.0.2.0", Codecs: "VP8 opus"},
				{Usage: "screen", LocalCandidateType: "relay", Codecs: "VP9"},
			},
		},
		{},
		{Browser: "other"},
	}}
	var b digest.Builder
	b.Add("shop", time.UnixMilli(0), (&digest.Digest{Participants: 1, Members: []digest.Member{{OS: "macos"}}}).Encode())
	b.Add("shop", time.UnixMilli(1), d.Encode())
	columns := b.Columns()
	table := &Table{}
	reader := table.Columns(columns)
	for i := range 2 {
		table.Add(reader.Conference(columns.Row(i)), i == 1)
	}
	want := Of("shop", d, true)
	require.Equal(t, []int{want.Stratum, 0}, []int{table.strata[table.items[1].stratum], table.strata[table.items[0].stratum]})
	require.Equal(t, []bool{false, true}, []bool{table.items[0].inSet, table.items[1].inSet})
	got := make([][]Fact, 0, 3)
	for m := table.items[1].from; m < table.items[1].to; m++ {
		var facts []Fact
		for _, f := range table.member(m) {
			facts = append(facts, table.facts[f])
		}
		got = append(got, facts)
	}
	require.Len(t, got, 3)
	for i := range got {
		member := want.Members[i]
		distinct := slices.CompactFunc(slices.Clone(member), func(a, b Fact) bool { return a == b })
		require.Subset(t, member, got[i])
		require.Subset(t, got[i], distinct)
	}
	require.Len(t, Attributes(), int(digest.Codec)+1)
}
