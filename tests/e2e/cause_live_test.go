package e2e

import (
	"flag"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/testenv"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
)

var allCauses = flag.Bool("all-causes", false, "make ten harmed calls live, one after the other: five minutes")

// liveScenes are the harmed calls that are made live: two in `make test`, another in `make test-long`, and all of them with
// -all-causes. The rest is replayed from traces (package tests/cause).
var liveScenes = []string{
	"pair-up-loss-15", "permission-denied", "server-down-loss-b",
	"good-mesh", "mesh-up-loss-a", "camera-unplugged", "tracks-missing", "no-answer", "ice-cut", "held",
}

// underAnyLoad are the scenes whose cause is the same on a busy machine. The media of the
// others suffer from that as well, so that their label is that of a quiet one: package
// tests/cause holds their traces against it.
var underAnyLoad = []string{"permission-denied", "camera-unplugged", "tracks-missing", "no-answer", "ice-cut", "held"}

// TestLikelyCauses harms calls between real browsers, and reads their likely cause where a
// user does: on the API of the conference page, made by the whole collector. It is the one
// that follows from the very records that the receiver emitted.
//
// spec: CONF-03
func TestLikelyCauses(t *testing.T) {
	browser.Require(t, browser.Chromium)
	sink := new(recordSink)
	server := httptest.NewServer(sink)
	t.Cleanup(server.Close)
	c := newCollector(t)
	c.records = server.URL
	stage := newCauseStage(t, c)
	stage.start()
	names, lasts := liveScenes, full
	if !*allCauses {
		names, lasts = testenv.Pick(names[:2], names[2:3]), brief
	}
	b := browser.Start(t, browser.Chromium)
	for _, scene := range causeScenes() {
		if slices.Contains(names, scene.name) {
			t.Run(scene.name, func(t *testing.T) {
				if !*allCauses {
					t.Parallel() // one of the two waits 30 s
				}
				scene.live(t, stage, sink, b, lasts)
			})
		}
	}
}

func (s *causeScene) live(t *testing.T, stage *causeStage, sink *recordSink, b *browser.Browser, lasts length) {
	t.Helper()
	s.play(t, stage, s.name, b, lasts)
	got, at := stage.summary(t, s.name)
	want := cause.Replay(t, sink.of(s.name))
	require.Equal(t, want.LikelyCause, got.LikelyCause)
	require.Equal(t, want.MOS, got.MOS)
	found := string(got.LikelyCause.Cause)
	t.Logf("%s %v: %s", found, accused(got), jsonOf(got.LikelyCause.Evidence))
	if slices.Contains(underAnyLoad, s.name) {
		require.Contains(t, append([]string{s.label.Cause}, s.label.Also...), found, "what was done: %s", s.label.Did)
		require.Subset(t, s.label.Users, accused(got))
	}
	if found == "none" {
		return
	}
	query := url.Values{"app": {appID}, "id": {s.name}, "at": {strconv.FormatInt(at, 10)}}
	p := openPage(t, b, "dashboard", stage.dashboard+"/conference?"+query.Encode())
	p.Until(patience, "document.querySelector('[data-testid=cause]')?.dataset.cause === "+quote(found))
	p.CloseTab() // each holds one of the few connections that a browser has to one host
}

// accused are the users whom the likely cause names.
func accused(s conference.Summary) (users []string) {
	for _, p := range s.Participants {
		if p.Session == s.LikelyCause.Session || p.Session == s.LikelyCause.Peer {
			users = append(users, p.Alias)
		}
	}
	return users
}

// summary waits for the summary of a room, and returns it and when the call began.
func (s *causeStage) summary(t *testing.T, room string) (summary conference.Summary, at int64) {
	t.Helper()
	var row struct {
		ID      string
		StartAt int64
	}
	browser.Eventually(t, patience, room+" has a summary", func() (bool, string) {
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
	var detail struct{ Summary conference.Summary }
	s.ask("/api/conference", url.Values{"app": {appID}, "id": {room}, "at": {strconv.FormatInt(row.StartAt, 10)}}, &detail)
	return detail.Summary, row.StartAt
}
