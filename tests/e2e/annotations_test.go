package e2e

import (
	"fmt"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// lost is an item of /api/unattached.
type lost struct {
	App, ID string
	AboutAt int64
	Entries []struct{ Kind, Name string }
}

// TestAnnotationsMakeNoCall: through the real binary, a survey that a new session sends minutes
// after a call reaches it and revises its summary; one of a call that nobody made is listed as
// unattached; neither that nor a list of devices makes a conference or a success; and a
// getUserMedia error alone is a call that failed.
//
// spec: CONF-01, CONF-05, DASH-02
func TestAnnotationsMakeNoCall(t *testing.T) {
	browser.Require(t, browser.Chromium)
	s := &scene{collector: startCollector(t)}
	begin := time.Now().Add(-10 * time.Minute).UnixMilli()
	ada := s.connect("ada")
	ada.say(fmt.Sprintf(`{"type":"fabric","fabric":2,"conferenceID":"standup","addedAt":%d,"remoteUserID":"grace","fabricUsage":"multiplex"}`, begin))
	ada.sends(1, begin, `"type":"event","fabric":2,"event":"fabricAdded"`)
	ada.sends(2, begin+500, `"type":"event","fabric":2,"event":"remoteDescriptionSet"`)
	ada.sends(3, begin+900, `"type":"event","fabric":2,"event":"fabricSetup","data":{"setupMs":900}`)
	ada.sends(4, begin+25_000, `"type":"event","fabric":2,"event":"fabricTerminated","data":{"reason":"application"}`)
	s.endsAs("standup", "success")

	late := begin + 325_000 // minutes after the end
	survey := func(room string, overall int) string {
		return fmt.Sprintf(`"type":"feedback","conferenceID":%q,"conferenceAt":%d,"userID":"bob","overall":%d`, room, late, overall)
	}
	bob := s.connect("bob")
	bob.sends(1, late, survey("standup", 2))
	bob.sends(2, late, survey("nobody's", 5))
	bob.sends(3, late, fmt.Sprintf(`"type":"event","conferenceID":"only devices","conferenceAt":%d,"event":"activeDeviceList","data":{"deviceList":[]}`, late))
	bob.sends(4, late, fmt.Sprintf(`"type":"error","conferenceID":"no camera","conferenceAt":%d,"function":"getUserMedia","name":"NotFoundError"`, late))

	s.endsAs("no camera", "totallyFailed")
	s.isRevised(t, begin)
	for _, room := range []string{"nobody's", "only devices"} {
		require.Empty(t, s.list(room), "annotations make no conference")
	}
	s.checkUnattached(t, late)
	m := samples(t, s.read(s.metrics+"/metrics"))
	require.InDelta(t, 1, m.Sum("qos_conferences_total", `app="demo"`, `outcome="success"`), 0, "the call, once")
	require.InDelta(t, 1, m.Sum("qos_conferences_total", `app="demo"`, `outcome="totallyFailed"`), 0)
	require.InDelta(t, 1, m.Sum("qos_feedback_total", `app="demo"`, `rating="2"`), 0)
}

// sends sends a frame and waits until the collector has it.
func (c *client) sends(seq uint64, at int64, rest string) {
	c.t.Helper()
	c.say(fmt.Sprintf(`{"seq":%d,"at":%d,%s}`, seq, at, rest))
	for c.hears("ack").Seq != seq {
	}
}

// isRevised waits until the call's summary has the survey.
func (s *scene) isRevised(t *testing.T, begin int64) {
	t.Helper()
	var page struct {
		Conference row
		Summary    struct {
			EndMs        int64
			Feedback     struct{ Count, Worst int }
			Participants []struct{ Alias string }
		}
	}
	browser.Eventually(t, patience, "the survey is in the summary", func() (bool, string) {
		s.ask("/api/conference", url.Values{"app": {appID}, "id": {"standup"}, "at": {strconv.FormatInt(begin, 10)}}, &page)
		return page.Summary.Feedback.Count == 1, fmt.Sprintf("%+v", page)
	})
	require.Equal(t, []any{2, 2, begin + 25_000, 2}, []any{page.Conference.Revision, page.Summary.Feedback.Worst, page.Summary.EndMs, len(page.Summary.Participants)})
	require.Equal(t, "success", page.Conference.Outcome)
	require.Len(t, s.list("standup"), 1)
}

// checkUnattached reads the list of annotations without a conference, and its page.
func (s *scene) checkUnattached(t *testing.T, at int64) {
	t.Helper()
	var answer struct{ Unattached []lost }
	s.ask("/api/unattached", url.Values{"app": {appID}}, &answer)
	require.Len(t, answer.Unattached, 2)
	byID := map[string]lost{}
	for _, u := range answer.Unattached {
		byID[u.ID] = u
	}
	require.Equal(t, "feedback", byID["nobody's"].Entries[0].Kind)
	require.Equal(t, at, byID["nobody's"].AboutAt)
	require.Equal(t, "activeDeviceList", byID["only devices"].Entries[0].Name)

	b := browser.Start(t, browser.Chromium)
	p := openPage(t, b, "unattached", s.dashboard+"/unattached")
	for _, text := range []string{"nobody's", "only devices", "Rated 5 of 5", "Devices in use", "bob"} {
		p.Until(patience, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
	p.Until(patience, "!document.body.innerText.includes('standup')")
	empty := openPage(t, b, "none", s.dashboard+"/unattached?app=another")
	empty.Until(patience, "document.querySelector('[data-testid=empty]')?.innerText.includes('Nothing matches')")
	wrong := openPage(t, b, "wrong", s.dashboard+"/unattached?from=x")
	wrong.Until(patience, "document.querySelector('[role=alert]')?.innerText.includes('from must be an integer')")
}
