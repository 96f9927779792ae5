package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/harness"
)

// fabricated is a conference of one participant.
type fabricated struct {
	id       string
	ago      time.Duration // since its end; negative: in the future
	lasted   time.Duration
	setupMs  int
	rating   int           // 0: none
	ratedAgo time.Duration // since the rating
}

// send sends the conference's frames, from its start to its end, and returns when all are acknowledged.
func (e fabricated) send(t *testing.T, c *collector) {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	base := c.receiver + "/"
	grant, err := authtest.Login(t.Context(), client, base, harness.Origin, appID, appSecret, protocol.UserID{Name: "ann", Alias: "ann"})
	require.NoError(t, err)
	w, err := harness.Dial(t.Context(), base, false)
	require.NoError(t, err)
	defer w.Close()
	now := time.Now()
	end := now.Add(-e.ago)
	start := end.Add(-e.lasted).UnixMilli()
	seq := 0
	next := func(kind string, at int64, rest string) string {
		seq++
		return fmt.Sprintf(`{"type":%q,"seq":%d,"at":%d,%s}`, kind, seq, at, rest)
	}
	event := func(at int64, name, data string) string {
		return next("event", at, fmt.Sprintf(`"fabric":1,"event":%q,"data":%s`, name, data))
	}
	lines := []string{
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, now.UnixMilli()),
		fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"audio"}`, e.id, start),
		`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","rttMs"]}`,
		event(start, "fabricAdded", `{"alreadyConnected":false}`),
		event(start, "remoteDescriptionSet", `{}`),
		event(start+20, "fabricSetup", fmt.Sprintf(`{"setupMs":%d,"gatheringMs":5,"connectivityMs":5,"localCandidateType":"host","remoteCandidateType":"host","relayProtocol":null}`, e.setupMs)),
	}
	const interval = 20_000 // below 30 s, so that the conference does not end
	for at := start + interval; at < end.UnixMilli(); at += interval {
		lines = append(lines, next("stats", at, fmt.Sprintf(`"fabric":1,"intervalMs":%d,"rows":[[1,7,40]]`, interval)))
	}
	if e.rating > 0 {
		lines = append(lines, next("feedback", now.Add(-e.ratedAgo).UnixMilli(), fmt.Sprintf(`"conferenceID":%q,"conferenceAt":%d,"userID":"ann","overall":%d`, e.id, start, e.rating)))
	}
	lines = append(lines, event(end.UnixMilli(), "fabricTerminated", `{"reason":"application"}`))
	require.True(t, w.Send(lines...))
	deadline := time.After(patience)
	for {
		select {
		case message := <-w.Heard():
			if ack, ok := message.(*protocol.Ack); ok && ack.Seq == uint64(seq) {
				return
			}
			if nack, ok := message.(*protocol.Nack); ok {
				require.FailNow(t, nack.Message)
			}
		case <-deadline:
			require.FailNow(t, "no ack")
		}
	}
}

// hooked is a collector that notifies a receiver of windows of 2 minutes, and the notifications.
func hooked(t *testing.T) (*collector, <-chan map[string]any) {
	t.Helper()
	notifications := make(chan map[string]any, 16)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		notifications <- body
	}))
	t.Cleanup(server.Close)
	c := newCollector(t)
	c.origins = append(c.origins, harness.Origin)
	c.more = fmt.Sprintf(`
extensions:
  qosapps: {apps: [{id: %s, secrets: [%s], origins: [%q], webhooks: [{id: ops, url: %q, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}]}]}
exporters:
  qoswebhook:
    dashboard_url: %q
    allowed_networks: [127.0.0.0/8]
    rules:
      window: 2m
      reasons:
        highSetupDelays: {threshold: 0.4, min_samples: 6}
        dissatisfactoryUserFeedback: {threshold: 0.4, min_samples: 3, individual: false}
service: {pipelines: {logs: {exporters: [qosstore, qostimeseries, qoswebhook]}}}
`, appID, appSecret, harness.Origin, server.URL, c.dashboard)
	c.start()
	return c, notifications
}

// notified are the conferences that a notification's link must list, by reason.
var notified = map[string][]string{
	"highSetupDelays":             {"slow & long", "slow 1", "slow/2?x=1#<b>"},
	"dissatisfactoryUserFeedback": {"rated long after", "slow 1"},
}

// TestNotificationLink opens the links of real notifications in real browsers. Each lists exactly the
// conferences that the notification counted: by their setup delay past the limit, or a rating in the
// window. The page shows the reason, keeps it in a search, and takes it away with its limit.
//
// spec: OUT-04, OUT-05, DASH-01
func TestNotificationLink(t *testing.T) {
	browser.Require(t, browserKinds()...)
	c, notifications := hooked(t)
	const call = 30 * time.Second
	for _, e := range []fabricated{
		{id: "before the window", ago: 4 * time.Minute, lasted: call, setupMs: 9000},
		{id: "slow 1", ago: 25 * time.Second, lasted: call, setupMs: 7000, rating: 1, ratedAgo: 26 * time.Second},
		{id: "at the limit", ago: 24 * time.Second, lasted: call, setupMs: 5000, rating: 5, ratedAgo: 25 * time.Second},
		{id: "rated long after", ago: 5 * time.Minute, lasted: call, setupMs: 30, rating: 2, ratedAgo: 10 * time.Second},
		{id: "fast 1", ago: 22 * time.Second, lasted: call, setupMs: 20},
		{id: "slow & long", ago: 21 * time.Second, lasted: 4 * time.Minute, setupMs: 5001},
		{id: "slow/2?x=1#<b>", ago: 20 * time.Second, lasted: call, setupMs: 8000},
		{id: "fast 2", ago: 19 * time.Second, lasted: call, setupMs: 20},
	} {
		e.send(t, c)
	}
	links := map[string]string{}
	for len(links) < len(notified) {
		select {
		case n := <-notifications:
			reason := n["reason"].(string)
			require.Equal(t, "interval", n["triggerType"])
			require.Equal(t, float64(len(notified[reason])), n["actualValue"], "%s", n["text"])
			links[reason] = n["url"].(string)
		case <-time.After(patience):
			require.FailNow(t, "no notification", "%v", links)
		}
	}
	fabricated{id: "after the notification", ago: -10 * time.Second, lasted: call, setupMs: 9000, rating: 1, ratedAgo: -10 * time.Second}.send(t, c)
	c.finds(t, url.Values{"id": {"after the notification"}}, "after the notification")
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			b := browser.Start(t, kind)
			for reason, link := range links {
				c.opens(t, b, reason, link)
			}
			require.Empty(t, b.Errors(), "the page runs without an error")
		})
	}
}

// listedIDs are the conferences that the page lists, as JavaScript.
const listedIDs = `[...document.querySelectorAll('[data-testid=conference]')].map((row) => row.dataset.id).sort()`

// opens opens the link of a notification.
func (c *collector) opens(t *testing.T, b *browser.Browser, reason, link string) {
	t.Helper()
	p := openPage(t, b, reason, link)
	lists := func(ids []string) {
		t.Helper()
		want, err := json.Marshal(ids)
		require.NoError(t, err)
		p.Until(patience, fmt.Sprintf("document.getElementById('list').getAttribute('aria-busy') === 'false' && JSON.stringify(%s) === JSON.stringify(%s)", listedIDs, want))
	}
	want := slices.Sorted(slices.Values(notified[reason]))
	lists(want)
	p.Until(patience, fmt.Sprintf("location.pathname === '/search' && document.querySelector('[data-testid=also][data-kind=reason]').textContent.includes(%q)", reason))
	c.picture(t, p, "reported-"+reason+"-"+strings.ToLower(b.Kind))

	p.Run(`(() => { const f = document.getElementById('filters'); f.elements.kind.value = 'id'; f.elements.word.value = 'slow 1'; f.requestSubmit(); })()`)
	p.Until(patience, "new URLSearchParams(location.search).get('id') === 'slow 1'")
	lists([]string{"slow 1"})
	u, err := url.Parse(link)
	require.NoError(t, err)
	for _, name := range []string{"reason", "past", "app", "from", "to"} { // to the millisecond, though the form has minutes
		p.Until(patience, fmt.Sprintf("new URLSearchParams(location.search).get(%q) === %q", name, u.Query().Get(name)))
	}
	p.Run("history.back()")
	lists(want)
	p.Run("document.querySelector('[data-testid=also][data-kind=reason] a').click()")
	p.Until(patience, "!/reason|past/.test(location.search)")
	p.Until(patience, listedIDs+".length > "+strconv.Itoa(len(want))+" && "+listedIDs+".includes('fast 1')")
	p.CloseTab()
}
