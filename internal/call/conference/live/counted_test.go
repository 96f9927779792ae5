package live_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/conference/live"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// addedBy returns how many participants each revision adds; "rest" lets a conference end.
func addedBy(t *testing.T, lines ...string) (added []int) {
	t.Helper()
	s := newScenario(t)
	for _, line := range lines {
		if line == "rest" {
			s.advance(s.now + 40_000)
		} else {
			s.line(strings.Fields(line))
		}
	}
	s.advance(s.now + 40_000)
	for _, summary := range s.out {
		added = append(added, summary.Added)
	}
	return added
}

// TestParticipantsAreCountedOnce: each in the first revision that has them.
//
// spec: CONF-02, OUT-01
func TestParticipantsAreCountedOnce(t *testing.T) {
	call := []string{"0 alice fabricAdded", "1 bob fabricAdded", "5 alice fabricTerminated", "6 bob fabricTerminated", "rest"}
	f := func(name string, want []int, lines ...string) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			t.Helper()
			require.Equal(t, want, addedBy(t, append(call, lines...)...))
		})
	}
	f("all at once", []int{2})
	f("one more word of the same", []int{2, 0}, "60 alice audioMute at=7")
	f("late joiners", []int{2, 1, 2}, "60 carol audioMute at=7", "rest", "120 dave audioMute at=8", "120 eve audioMute at=9")
	f("late feedback", []int{2, 1, 0}, "60 carol feedback overall=2 of=5", "rest", "120 carol feedback overall=3 of=5")
	f("two conferences", []int{2, 2}, "60 alice audioMute at=58", "60 carol audioMute at=59")
	f("two that become one", []int{2, 2, 1, 1}, "60 alice audioMute at=58", "60 carol audioMute at=59", "rest", "150 dave audioMute at=33", "rest", "250 eve audioMute at=34")
	f("errors that turn out to be of a call", []int{2, 1, 1}, "70 carol error getUserMedia fabric=0 of=60", "rest", "150 dave audioMute at=61")
}

// TestRestoredParticipantsAreCountedOnce: what an earlier process counted is not counted again,
// also where its summary cannot be read.
//
// spec: CONF-02, SRV-03
func TestRestoredParticipantsAreCountedOnce(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		s := newScenario(t)
		s.set.CompleteSince(conferencetest.Base + 100_000)
		stored := conference.Summary{Revision: 3, Participants: []conference.Participant{{Session: "alice"}, {Session: "bob"}}}
		if damaged {
			stored.Participants = nil
		}
		for i, line := range []string{"120 alice fabricTerminated at=5", "200 carol audioMute at=6"} {
			s.line(strings.Fields(line))
			s.advance(s.now + 40_000)
			for _, p := range s.set.Partials() {
				if i > 0 { // a second restoration, after the conference has grown
					s.set.Restored(p, instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 6000}, stored, s.now)
					continue
				}
				for _, line := range []string{"160 alice fabricAdded at=0 seq=7", "160 bob fabricAdded at=1"} {
					e, _ := s.event(strings.Fields(line))
					require.Equal(t, live.Applied, s.set.Restore(&e, s.now))
				}
				s.set.Restored(p, instance.Span{Start: conferencetest.Base, End: conferencetest.Base + 5000}, stored, s.now)
			}
			s.advance(s.now + 40_000)
		}
		require.Len(t, s.out, 2)
		require.Equal(t, []int{4, 5}, []int{s.out[0].Revision, s.out[1].Revision})
		require.Equal(t, []int{0, 1}, []int{s.out[0].Added, s.out[1].Added}, "damaged: %t", damaged)
		require.Len(t, s.out[1].Participants, 3)
	}
}

// TestClientsAreOfTheSession: participants, also without fabrics, and their issues have the session's
// client; those of an earlier revision are not new.
//
// spec: OUT-01
func TestClientsAreOfTheSession(t *testing.T) {
	chrome := event.Client{SiteID: "north", ApplicationVersion: "3", UserAgent: "Mozilla/5.0 Chrome/142.0 Safari/537.36"}
	long := event.Client{SiteID: strings.Repeat("x", 257)}
	fold := conferencetest.Fold([]event.Event{
		{AppID: "a", ConferenceID: "c", Session: "s1", Seq: 1, AtMs: 1000, Fabric: 1, Kind: event.KindEvent, Name: "fabricAdded", Client: &chrome},
		{AppID: "a", ConferenceID: "c", Session: "s2", Seq: 1, AtMs: 1000, Kind: event.KindFeedback, Client: &long},
		{AppID: "a", ConferenceID: "c", Session: "s3", Seq: 1, AtMs: 1000, Fabric: 1, Kind: event.KindEvent, Name: "fabricAdded"},
	}, quality.DefaultBounds())
	clients := map[string]conference.Client{}
	for _, p := range fold.Participants {
		clients[p.Session] = p.Client
	}
	require.Equal(t, map[string]conference.Client{"s1": {SiteID: "north", ApplicationVersion: "3", Browser: "chrome", BrowserVersion: "142"}, "s2": {}, "s3": {}}, clients)
}
