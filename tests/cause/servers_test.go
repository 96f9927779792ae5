package cause

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
)

// servers has the calls through LiveKit's server and through Janus (scenario.Recorded).
var servers = filepath.Join("testdata", "servers")

// leastScore is that of good, if not in the map: LiveKit's spatial layers of VP9, and its bit rate for AV1, code 180 lines more coarsely.
const leastScore = 3.8

var leastScores = map[string]float64{"livekit-vp9": 3.7, "livekit-av1": 3.6}

// TestServers replays calls through real media servers. A call to which nothing was done has no issue and a good score for
// everybody; a harmed one has the cause of its label, and names nobody else.
//
// spec: CONF-03, CONF-06
func TestServers(t *testing.T) {
	t.Parallel()
	for _, trace := range traces(t, servers) {
		a := ask(t, trace, replay(t, trace))
		t.Logf("%s %s", a, scores(&a))
		if !slices.Contains(append([]string{trace.Label.Cause}, trace.Label.Also...), string(a.found.Cause)) {
			t.Errorf("%s: %v", a, a.found.Evidence)
		}
		for _, user := range a.users {
			require.Contains(t, trace.Label.Users, user, "%s", a)
		}
		if trace.Label.Cause != string(cause.None) {
			continue
		}
		requireCalm(t, &a)
		for _, p := range a.summary.Participants {
			require.NotNil(t, p.MOS, "%s: %s has no score", trace.Name, p.UserID)
			if *p.MOS < cmp.Or(leastScores[trace.Name], leastScore) {
				t.Errorf("%s: %s has %.2f", trace.Name, p.UserID, *p.MOS)
			}
		}
	}
}

// scores lists who has which score: of all, of received and sent audio, and of received and sent video.
func scores(a *answer) string {
	var list []string
	for i := range a.summary.Participants {
		p := &a.summary.Participants[i]
		list = append(list, p.UserID)
		for _, mos := range []*float64{p.MOS, p.AudioMOSIn, p.AudioMOSOut, p.VideoMOSIn, p.VideoMOSOut} {
			if mos == nil {
				list = append(list, "-")
			} else {
				list = append(list, fmt.Sprintf("%.2f", *mos))
			}
		}
	}
	return strings.Join(list, " ")
}
