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

// TestFailedAttempts: calls that came to nothing, each for another reason, from the wire to the
// list, the page and the counters: one that nobody answered, one whose offer could not be made,
// and one without any fabric, for there was no camera.
//
// spec: CONF-01, CONF-05, API-01
func TestFailedAttempts(t *testing.T) {
	browser.Require(t, browser.Chromium)
	s := &scene{collector: startCollector(t)}
	one := s.connect("ada")
	at := time.Now().UnixMilli()
	for i, room := range []string{"unanswered", "no offer"} {
		one.say(fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":%q,"addedAt":%d,"remoteUserID":"grace","fabricUsage":"multiplex"}`, i+2, room, at))
	}
	for i, rest := range []string{
		`"type":"event","fabric":2,"event":"fabricAdded"`,
		`"type":"event","fabric":2,"event":"fabricSetupFailed","data":{"stage":"noRemoteDescription","reason":"terminated"}`,
		`"type":"event","fabric":3,"event":"fabricAdded"`,
		`"type":"error","fabric":3,"function":"createOffer","name":"OperationError","message":"no codec fits"`,
		`"type":"event","fabric":3,"event":"fabricSetupFailed","data":{"stage":"noRemoteDescription","reason":"terminated"}`,
		fmt.Sprintf(`"type":"error","conferenceID":"no camera","conferenceAt":%d,"function":"getUserMedia","name":"NotFoundError","message":"no device"`, at),
	} {
		one.say(fmt.Sprintf(`{"seq":%d,"at":%d,%s}`, i+1, at+int64(i), rest))
	}
	for one.hears("ack").Seq != 6 {
	}

	s.endsAs("unanswered", "missed")
	s.endsAs("no offer", "totallyFailed")
	s.endsAs("no camera", "totallyFailed")
	m := samples(t, s.read(s.metrics+"/metrics"))
	require.InDelta(t, 1, m.Sum("qos_conferences_total", `app="demo"`, `outcome="missed"`), 0)
	require.InDelta(t, 2, m.Sum("qos_conferences_total", `app="demo"`, `outcome="totallyFailed"`), 0)
	require.InDelta(t, 1, m.Sum("qos_reported_errors_total", `app="demo"`, `function="getUserMedia"`), 0)
	require.InDelta(t, 3, m.Sum("qos_participants_total", `app="demo"`), 0)
	s.checkAttemptPages(t, at)
}

// endsAs waits for the summary of the one conference of that name.
func (s *scene) endsAs(room, outcome string) {
	s.t.Helper()
	browser.Eventually(s.t, patience, room+" is "+outcome, func() (bool, string) {
		rows := s.list(room)
		return len(rows) == 1 && rows[0].State == "ended" && rows[0].Outcome == outcome && rows[0].ParticipantCount == 1, fmt.Sprintf("%+v", rows)
	})
}

// checkAttemptPages reads the list and the page of the attempt in a browser.
func (s *scene) checkAttemptPages(t *testing.T, at int64) {
	t.Helper()
	b := browser.Start(t, browser.Chromium)
	list := openPage(t, b, "conferences", s.dashboard+"/search?outcome=totallyFailed")
	list.Until(patience, "/no camera/.test(document.body.innerText) && /no offer/.test(document.body.innerText)")
	list.Until(patience, "!/unanswered/.test(document.body.innerText)")
	query := url.Values{"app": {appID}, "id": {"no camera"}, "at": {strconv.FormatInt(at, 10)}}
	p := openPage(t, b, "attempt", s.dashboard+"/conference?"+query.Encode())
	for _, text := range []string{"no camera", "ada", "getUserMedia", "NotFoundError", "no device"} {
		p.Until(patience, fmt.Sprintf("document.body.innerText.includes(%q)", text))
	}
	p.Until(patience, "/totally failed/i.test(document.body.innerText)")
	require.Empty(t, b.Errors(), "the pages run without an error")
}
