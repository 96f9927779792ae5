package e2e

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// wholeError is an error on the time-line.
type wholeError struct {
	Kind, Name, Message, Code, ConstraintName, Stack, LocalSDP, RemoteSDP string

	Data                              map[string]any
	LocalSDPMissing, RemoteSDPMissing int
}

// largeSDP returns an SDP of that many bytes, no two lines of which are alike.
func largeSDP(bytes int) string {
	var b strings.Builder
	b.WriteString("v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=\"\\ \tÜ日👩\r\n")
	for i := 0; b.Len() < bytes; i++ {
		fmt.Fprintf(&b, "a=candidate:%d 1 udp 2122260223 192.0.2.1 50000 typ host\r\n", i)
	}
	return b.String()[:bytes]
}

// TestSDPInParts: an SDP of 100 KiB that comes in parts, in any order and twice, is whole in the
// API and on the page, but for its addresses. Parts make no error, and no conference longer.
//
// spec: API-01, CONF-02, DASH-02, PRIV-01
func TestSDPInParts(t *testing.T) {
	browser.Require(t, browser.Chromium)
	s := &scene{collector: startCollector(t)}
	one := s.connect("ada")
	at := time.Now().UnixMilli()
	local := largeSDP(100 << 10)
	frame := func(kind string, seq uint64, afterMs int64, members map[string]any) {
		members["type"], members["seq"], members["at"], members["fabric"] = kind, seq, at+afterMs, 1
		text, err := json.Marshal(members)
		require.NoError(t, err)
		one.say(string(text))
	}
	stored := strings.ReplaceAll(local, " 192.0.2.1 ", " 192.0.2.0 ")
	line := func(at int) int { return at + strings.IndexByte(local[at:], '\n') + 1 }
	part := func(seq uint64, from, to int) {
		frame("sdp", seq, 90_000-int64(seq), map[string]any{"error": 2, "field": "localSDP", "offset": from, "text": local[from:to]})
	}
	frame("event", 1, 0, map[string]any{"event": "fabricAdded"})
	at -= 60_000 // parts may be stamped later: they prolong nothing
	part(5, line(80_000), len(local))
	part(4, line(40_000), line(80_000))
	frame("error", 2, 60_100, map[string]any{
		"function": "setRemoteDescription", "name": "OverconstrainedError", "message": "too much",
		"code": "7", "constraintName": "width", "stack": "OverconstrainedError: too much\n    at call.js:7:3", "details": `{"status":500}`,
		"localSDPBytes": len(local), "remoteSDPBytes": 9,
	})
	part(3, 0, line(40_000))
	part(6, line(30_000), line(50_000))
	frame("event", 7, 60_200, map[string]any{"event": "fabricTerminated"})
	for one.hears("ack").Seq != 7 {
	}
	s.endsAs("by hand", "totallyFailed")
	row := s.list("by hand")[0]
	require.Less(t, row.EndAt-row.StartAt, int64(1000), "parts are no activity")

	frame("sdp", 8, 60_300, map[string]any{"error": 2, "field": "remoteSDP", "offset": 0, "text": "v=0\r"})
	for one.hears("ack").Seq != 8 {
	}
	found := s.errorIn(row)
	require.Equal(t, stored, found.LocalSDP)
	require.Zero(t, found.LocalSDPMissing)
	require.Equal(t, "v=0\r\n[bytes 4 to 8 of 9 are missing]\n", found.RemoteSDP, "a late one, and none")
	require.Equal(t, 5, found.RemoteSDPMissing)
	require.Equal(t, []string{"7", "width", "OverconstrainedError: too much\n    at call.js:7:3"}, []string{found.Code, found.ConstraintName, found.Stack})
	require.Equal(t, map[string]any{"status": 500.0}, found.Data)
	require.InDelta(t, 1, samples(t, s.read(s.metrics+"/metrics")).Sum("qos_reported_errors_total", `app="demo"`, `function="setRemoteDescription"`), 0)
	s.checkErrorOnPage(t, row, stored)
}

// errorIn returns the only error of a conference.
func (s *scene) errorIn(one row) *wholeError {
	s.t.Helper()
	var answer struct{ Timeline []wholeError }
	s.ask("/api/conference", url.Values{"app": {appID}, "id": {one.ID}, "at": {strconv.FormatInt(one.StartAt, 10)}}, &answer)
	var found []*wholeError
	for i := range answer.Timeline {
		if answer.Timeline[i].Kind == "error" {
			found = append(found, &answer.Timeline[i])
		}
	}
	require.Len(s.t, found, 1)
	return found[0]
}

// checkErrorOnPage reads the error as a person would.
func (s *scene) checkErrorOnPage(t *testing.T, one row, local string) {
	t.Helper()
	b := browser.Start(t, browser.Chromium)
	query := url.Values{"app": {appID}, "id": {one.ID}, "at": {strconv.FormatInt(one.StartAt, 10)}}
	p := openPage(t, b, "error", s.dashboard+"/conference?"+query.Encode())
	p.Until(patience, "document.querySelector('[data-testid=entries] details')")
	var line string
	p.Get("[...document.querySelectorAll('[data-testid=entries] li')].find((li) => li.querySelector('details')).innerText", &line)
	require.Contains(t, line, "OverconstrainedError: too much · code 7 · constraint width")
	var titles, texts []string
	p.Get("[...document.querySelectorAll('[data-testid=entries] .what > details > summary')].map((s) => s.textContent)", &titles)
	require.Equal(t, []string{"Stack", "Data", "Local SDP", "Remote SDP (5 bytes missing)"}, titles)
	p.Run("document.querySelectorAll('[data-testid=sdp]').forEach((one) => { one.open = true; })")
	p.Until(patience, "document.querySelectorAll('[data-testid=sdp] .sdp').length === 2")
	p.Get("[...document.querySelectorAll('[data-testid=sdp] pre')].map((s) => s.textContent)", &texts)
	require.Equal(t, strings.Split(strings.TrimSuffix(local, "\r\n"), "\r\n"), strings.Split(texts[0], "\n"))
	require.Empty(t, b.Errors(), "the page runs without an error")
}

// TestErrorsWhole: errors as browsers make them, said with the library as it is served, are whole
// in the store: the constraint of a camera that cannot be, the stack of an Error, the plain
// members of a circular object, the code of a DOMException, and two SDPs of 100 KiB.
//
// spec: API-01
func TestErrorsWhole(t *testing.T) {
	browser.Require(t, browserKinds()...)
	c := newCollector(t)
	served := startLibraryPages(t, t.TempDir())
	c.origins = append(c.origins, served.url)
	c.start()
	served.of(t, c)
	for _, kind := range browserKinds() {
		t.Run(kind, func(t *testing.T) {
			s := &scene{collector: c}
			p := openPage(t, browser.Start(t, kind), kind, served.url+"/errors.html?"+url.Values{"room": {kind}}.Encode())
			until(t, p, "outcome.done || outcome.errors.length")
			var got struct {
				Errors     []string
				Stack, SDP string
				Constraint struct{ Name, Constraint string }
				Answers    map[string]answer
			}
			p.Get("outcome", &got)
			require.Empty(t, got.Errors)
			for function, said := range got.Answers {
				require.Equal(t, "success", said.Status, function)
				require.Empty(t, said.Msg, function)
			}
			checkWholeErrors(t, s, kind, got.Constraint.Constraint, got.Stack, got.SDP)
		})
	}
}

func checkWholeErrors(t *testing.T, s *scene, room, constraint, stack, sdp string) {
	t.Helper()
	found := map[string]wholeError{}
	browser.Eventually(t, patience, "the collector has all of "+room, func() (bool, string) {
		rows := s.list(room)
		if len(rows) != 1 {
			return false, fmt.Sprint(rows)
		}
		var answer struct {
			Timeline []struct {
				wholeError
				Function string
			}
		}
		s.ask("/api/conference", url.Values{"app": {appID}, "id": {room}, "at": {strconv.FormatInt(rows[0].StartAt, 10)}}, &answer)
		for _, e := range answer.Timeline {
			found[e.Function] = e.wholeError
		}
		last := found["setLocalDescription"]
		return last.LocalSDP != "" && last.LocalSDPMissing+last.RemoteSDPMissing == 0, fmt.Sprint(len(answer.Timeline), last.LocalSDPMissing)
	})
	require.Equal(t, "OverconstrainedError", found["getUserMedia"].Name)
	require.Equal(t, "width", constraint)
	require.Equal(t, constraint, found["getUserMedia"].ConstraintName)
	require.NotEmpty(t, stack)
	require.Equal(t, stack, found["createOffer"].Stack)
	circular := found["createAnswer"]
	require.Equal(t, []string{"Circular", "round", "7"}, []string{circular.Name, circular.Message, circular.Code})
	require.Equal(t, map[string]any{"status": 500.0}, circular.Data)
	last := found["setLocalDescription"]
	require.Equal(t, "8", last.Code)
	require.Greater(t, len(sdp), 100<<10)
	stored := strings.ReplaceAll(sdp, " 192.0.2.1 ", " 192.0.2.0 ")
	require.Equal(t, stored, last.LocalSDP)
	require.Equal(t, stored, last.RemoteSDP)
}
