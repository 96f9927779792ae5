package conference_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// For any number and order of renames the newest is current; of the earlier names the newest and
// the first are listed.
//
// spec: API-06, CONF-02
func TestManyRenames(t *testing.T) {
	var events []event.Event
	for seq := uint64(1); seq <= 40; seq++ {
		kind := []string{"local", "remote"}[seq%2]
		e := conferencetest.Event("standup", seq, int64(1000-seq), "userIDChange") // the clock ran backwards
		e.UserID, e.Alias, e.RemoteUser, e.RemoteAlias = "ann", "ann", "bob", "bob"
		e.Data = event.ParseData(e.Name, fmt.Appendf(nil, `{"userIDType":%q,"newUserID":"%s %d"}`, kind, kind, seq))
		events = append(events, e)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		s := conferencetest.Fold(events, quality.DefaultBounds())
		require.Len(t, s.Participants, 1)
		p := s.Participants[0]
		require.Equal(t, []string{"local 40", "local 40"}, []string{p.UserID, p.Alias})
		require.Len(t, p.UserIDs, 17)
		require.Equal(t, []string{"ann", "local 10", "local 12"}, p.UserIDs[:3])
		f := p.Fabrics[0]
		require.Equal(t, []string{"remote 39", "remote 39"}, []string{f.RemoteUserID, f.RemoteAlias})
		require.Equal(t, []string{"bob", "remote 9"}, f.RemoteUserIDs[:2])
		require.Equal(t, 8, s.Truncated, "four of each kind")
	}
}
