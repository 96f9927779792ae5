package cause

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/cause"
)

// servers has the calls through LiveKit's server and through Janus (scenario.Recorded).
var servers = filepath.Join("testdata", "servers")

// leastScore is that of good.
const leastScore = 3.8

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
			if *p.MOS < leastScore {
				t.Errorf("%s: %s has %.2f", trace.Name, p.UserID, *p.MOS)
			}
		}
	}
}

// scores lists who has which score.
func scores(a *answer) (text string) {
	for i := range a.summary.Participants {
		p := &a.summary.Participants[i]
		text += " " + p.UserID
		for _, mos := range []*float64{p.MOS, p.AudioMOSIn, p.AudioMOSOut, p.VideoMOSIn, p.VideoMOSOut} {
			if mos == nil {
				text += " -"
			} else {
				text += fmt.Sprintf(" %.2f", *mos)
			}
		}
	}
	return text
}
