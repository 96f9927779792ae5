package e2e

import (
	"flag"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/cause"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/scenario"
)

var allCauses = flag.Bool("all-causes", false, "make ten impaired calls live, one after the other: five minutes")

// liveCauses are the impaired calls that are made live: two in `make test`, another in `make test-long`, and all of them with
// -all-causes. Package tests/cause replays traces of many others.
var liveCauses = []string{
	"pair-up-loss-15", "permission-denied", "server-down-loss-b",
	"good-mesh", "mesh-up-loss-a", "camera-unplugged", "tracks-missing", "no-answer", "ice-cut", "held",
}

// underAnyLoad are the calls whose cause is the same on a busy machine. A busy machine impairs the media of the others
// as well, so their label is not asserted here: package tests/cause compares it with traces of a quiet machine.
var underAnyLoad = []string{"permission-denied", "camera-unplugged", "tracks-missing", "no-answer", "ice-cut", "held"}

// TestLikelyCauses impairs calls between real browsers, and reads their likely cause, which the whole collector found,
// from the API and the page of the conference. It is the cause that follows from the records of the receiver.
//
// spec: CONF-03
func TestLikelyCauses(t *testing.T) {
	browser.Require(t, browser.Chromium)
	s := newCauseStage(t)
	s.start()
	names, lasts := liveCauses, scenario.Full
	if !*allCauses {
		names, lasts = testenv.Pick(names[:2], names[2:3]), scenario.Brief
	}
	b := browser.Start(t, browser.Chromium)
	for _, one := range scenario.Listed() {
		if slices.Contains(names, one.Name) {
			t.Run(one.Name, func(t *testing.T) {
				if !*allCauses {
					t.Parallel() // one of the two waits 30 s
				}
				s.checks(t, &one, b, lasts)
			})
		}
	}
}

// causeStage is a stage for impaired calls, whose collector also sends its receiver's records to the test.
type causeStage struct {
	*collector
	stage   *scenario.Stage
	emitted *scenario.Records
}

// newCauseStage configures a collector, which does not run yet.
func newCauseStage(t *testing.T) *causeStage {
	t.Helper()
	s := &causeStage{collector: newCollector(t), emitted: scenario.StartRecords(t)}
	s.records = s.emitted.URL
	s.stage = scenario.NewStage(t, s.receiver)
	s.origins = append(s.origins, s.stage.URL)
	return s
}

// checks makes a call, compares what the collector found of it with what the records show, and returns the latter.
func (s *causeStage) checks(t *testing.T, one *scenario.Scenario, b *browser.Browser, lasts scenario.Length) conference.Summary {
	t.Helper()
	one.Play(t, s.stage, one.Name, b, lasts)
	got, at := s.summary(t, one.Name)
	want := cause.Replay(t, s.emitted.Of(one.Name))
	require.Equal(t, want.LikelyCause, got.LikelyCause)
	require.Equal(t, want.MOS, got.MOS)
	found := string(got.LikelyCause.Cause)
	t.Logf("%s %v: %s", found, accused(got), jsonOf(got.LikelyCause.Evidence))
	if slices.Contains(underAnyLoad, one.Name) {
		require.Contains(t, append([]string{one.Label.Cause}, one.Label.Also...), found, "the fault: %s", one.Label.Did)
		require.Subset(t, one.Label.Users, accused(got))
	}
	if found == "none" {
		return want
	}
	query := url.Values{"app": {appID}, "id": {one.Name}, "at": {strconv.FormatInt(at, 10)}}
	p := openPage(t, b, "dashboard", s.dashboard+"/conference?"+query.Encode())
	p.Until(patience, "document.querySelector('[data-testid=cause]')?.dataset.cause === "+quote(found))
	p.CloseTab() // each holds one of the few connections that a browser has to one host
	return want
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
