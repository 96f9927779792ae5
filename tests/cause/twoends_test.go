package cause

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
)

// differ are calls in which sound or pictures end on purpose: the last sound fades out at the receiver, who then conceals 90 ms.
var differ = []string{"holds the call", "held the call", "hangs up", "took her camera away", "has no key"}

// TestTwoEndsScoreAlike: where no packet was lost and no picture froze, a stream has the same score at both ends, to 0.3: with the quantiser
// at both (Chromium), and at its sender alone (Firefox).
//
// spec: QUAL-01
func TestTwoEndsScoreAlike(t *testing.T) {
	t.Parallel()
	folders := []string{".", "servers"}
	for _, draw := range draws {
		if draw.listed > 0 {
			folders = append(folders, draw.name)
		}
	}
	pairs := map[string]int{}
	for _, folder := range folders {
		for _, a := range answers(t, filepath.Join("testdata", folder), nil) {
			did := a.trace.Label.Did
			if a.trace.Label.Cause != string(cause.None) || !isControl(a.trace) || slices.ContainsFunc(differ, func(words string) bool { return strings.Contains(did, words) }) {
				continue
			}
			sent, ofOwner := map[int64]*conference.Stream{}, map[string][]*conference.Stream{} // a server has SSRCs of its own
			eachStream(&a.summary, func(user string, s *conference.Stream) {
				if s.StatsType == "outbound-rtp" && s.MOS != nil {
					sent[s.SSRC] = s
					ofOwner[user+s.MediaType] = append(ofOwner[user+s.MediaType], s)
				}
			})
			eachStream(&a.summary, func(_ string, s *conference.Stream) {
				from := sent[s.SSRC]
				if list := ofOwner[s.UserID+s.MediaType]; len(list) == 1 {
					from = list[0]
				}
				if s.StatsType != "inbound-rtp" || from == nil || s.MOS == nil || s.PacketsLost > 0 || s.Freezes > 0 {
					return
				}
				browser := "Chromium"
				if strings.Contains(did, "in Firefox") {
					browser = "Firefox"
				}
				pairs[browser+" "+s.MediaType]++
				require.LessOrEqual(t, math.Abs(s.MOS.Mean-from.MOS.Mean), 0.3, "%s: %s %s", a.trace.Name, s.MediaType, s.Codec)
			})
		}
	}
	t.Log(pairs)
	for _, kind := range []string{"Chromium audio", "Chromium video", "Firefox audio", "Firefox video"} {
		require.Greater(t, pairs[kind], 15, kind)
	}
}

func eachStream(s *conference.Summary, do func(user string, s *conference.Stream)) {
	for i := range s.Participants {
		for j := range s.Participants[i].Fabrics {
			for k := range s.Participants[i].Fabrics[j].Streams {
				do(s.Participants[i].UserID, &s.Participants[i].Fabrics[j].Streams[k])
			}
		}
	}
}
