package e2e

import (
	"encoding/json"
	"flag"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

var allCauses = flag.Bool("all-causes", false, "make ten harmed calls live, not three: five minutes")

// liveScenes are the harmed calls that are made live: three always, all of them with
// -all-causes. The rest is replayed from traces (package tests/cause).
var liveScenes = []string{
	"pair-up-loss-15", "server-down-loss-b", "permission-denied",
	"good-mesh", "mesh-up-loss-a", "camera-unplugged", "tracks-missing", "no-answer", "ice-cut", "held",
}

const alwaysLive = 3

// TestLikelyCauses harms calls between real browsers, and reads their likely cause where a
// user does: on the API of the conference page, made by the whole collector.
//
// spec: CONF-03
func TestLikelyCauses(t *testing.T) {
	need(t, programs[chromium]...)
	stage := newCauseStage(t, newCollector(t))
	stage.start()
	names, lasts := liveScenes, full
	if !*allCauses {
		names, lasts = names[:alwaysLive], brief
	}
	b := startBrowser(t, chromium)
	for _, scene := range causeScenes() {
		if slices.Contains(names, scene.name) {
			t.Run(scene.name, func(t *testing.T) { scene.live(t, stage, b, lasts) })
		}
	}
}

func (s *causeScene) live(t *testing.T, stage *causeStage, b *browser, lasts length) {
	t.Helper()
	s.play(t, stage, s.name, b, lasts)
	found, users, at := stage.likelyCause(t, s.name)
	require.Contains(t, append([]string{s.label.Cause}, s.label.Also...), found, "what was done: %s", s.label.Did)
	for _, user := range users {
		require.Contains(t, s.label.Users, user)
	}
	if found == "none" {
		return
	}
	query := url.Values{"app": {appID}, "id": {s.name}, "at": {strconv.FormatInt(at, 10)}}
	p := openPage(t, b, "dashboard", stage.dashboard+"/conference?"+query.Encode())
	p.until(patience, "document.querySelector('[data-testid=cause]')?.dataset.cause === "+quote(found))
	p.closeTab() // each holds one of the few connections that a browser has to one host
}

// likelyCause waits for the summary of a room, and returns the cause, whom it names, and when
// the call began.
func (s *causeStage) likelyCause(t *testing.T, room string) (found string, users []string, at int64) {
	t.Helper()
	var row struct {
		ID      string
		StartAt int64
	}
	eventually(t, patience, room+" has a summary", func() (bool, string) {
		var list struct {
			Conferences []struct {
				ID, State string
				StartAt   int64
			}
		}
		s.ask("/api/conferences", url.Values{"app": {appID}, "id": {room}}, &list)
		for _, c := range list.Conferences {
			row.ID, row.StartAt = c.ID, c.StartAt
			return c.State == "ended", c.State
		}
		return false, "it is not listed"
	})
	var detail struct {
		Summary struct {
			LikelyCause struct {
				Cause, Session, Peer string
				Evidence             json.RawMessage
			}
			Participants []struct{ Session, Alias string }
		}
	}
	s.ask("/api/conference", url.Values{"app": {appID}, "id": {room}, "at": {strconv.FormatInt(row.StartAt, 10)}}, &detail)
	cause := detail.Summary.LikelyCause
	for _, p := range detail.Summary.Participants {
		if p.Session == cause.Session || p.Session == cause.Peer {
			users = append(users, p.Alias)
		}
	}
	t.Logf("%s %v: %s", cause.Cause, users, cause.Evidence)
	return cause.Cause, users, row.StartAt
}
