package privacy

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// zoe is the user that is erased. No other text has the ID.
const zoe = "zoe-7f3a4711"

// erasing is a collector with a management API.
type erasing struct {
	*harness.Collector
	t                            *testing.T
	store, dashboard, management string
	client                       *http.Client
}

func deployErasing(t *testing.T) *erasing {
	t.Helper()
	dir := t.TempDir()
	d := &erasing{
		t: t, store: filepath.Join(dir, "store"), dashboard: harness.FreeAddress(t), management: harness.FreeAddress(t),
		client: &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}},
	}
	d.Collector = harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(d.store), Dashboard: d.dashboard,
		Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, apps: [{id: %s, secrets: [%s], origins: [%q]}], management: {endpoint: %q, tokens: [{name: test, token: %q}]}}`,
			filepath.Join(dir, "key"), harness.AppID, harness.AppSecret, harness.Origin, d.management, managementToken),
	})
	d.Start()
	return d
}

// manage sends a request to the management API and returns the answer.
func (d *erasing) manage(method, path, body string, status int) string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, "http://"+d.management+"/api/v1/apps/"+harness.AppID+path, strings.NewReader(body))
	require.NoError(d.t, err)
	req.Header.Set("Authorization", "Bearer "+managementToken)
	req.Header.Set("Content-Type", "application/json")
	resp, err := d.client.Do(req)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.Equal(d.t, status, resp.StatusCode, string(text))
	return string(text)
}

// speaker is one session over a WebSocket.
type speaker struct {
	t    *testing.T
	ws   *websocket.Conn
	seq  int
	room string
	at   int64
}

// speak begins the session of a user who has a remote end in a room.
func (d *erasing) speak(user, remote, room string, hello map[string]any) *speaker {
	d.t.Helper()
	grant, err := authtest.Login(d.t.Context(), d.client, d.URL(), harness.Origin, harness.AppID, harness.AppSecret, protocol.UserID{Name: user, Alias: user})
	require.NoError(d.t, err)
	dialer := websocket.Dialer{HandshakeTimeout: harness.Patience}
	ws, resp, err := dialer.DialContext(d.t.Context(), "ws"+strings.TrimPrefix(d.URL(), "http")+"ws", http.Header{"Origin": {harness.Origin}})
	require.NoError(d.t, err)
	defer resp.Body.Close()
	d.t.Cleanup(func() { _ = ws.Close() })
	require.NoError(d.t, ws.SetReadDeadline(time.Now().Add(harness.Patience)))
	s := &speaker{t: d.t, ws: ws, room: room, at: time.Now().UnixMilli()}
	members := map[string]any{"token": grant.Token, "session": grant.Session, "acked": 0}
	maps.Copy(members, hello)
	s.announce("Hello", members)
	s.announce("Columns", nil)
	s.announce("Fabric", map[string]any{"fabric": 1, "conferenceID": room, "addedAt": s.at, "remoteUserID": remote})
	return s
}

// send sends a message with zoe in every text that has room, numbered.
func (s *speaker) send(name string, change map[string]any) {
	s.t.Helper()
	s.seq++
	s.line(name, change)
}

func (s *speaker) announce(name string, change map[string]any) {
	s.t.Helper()
	s.line(name, change)
}

func (s *speaker) line(name string, change map[string]any) {
	s.t.Helper()
	members, _ := message(s.t, name, form{text: zoe})
	members["at"], members["seq"], members["addedAt"] = s.at, s.seq, s.at
	maps.Copy(members, change)
	require.NoError(s.t, s.ws.WriteMessage(websocket.TextMessage, line(s.t, members)))
}

// events are those of a call. Each has zoe in all texts of its data; userIDChange renames the remote end.
var events = []string{
	"fabricAdded", "remoteDescriptionSet", "fabricSetup", "selectedCandidatePairChange", "wifiStats", "activeDeviceList", "streamAdded", "dominantSpeaker",
	"callDetails", "customEvent", "customStats", "madeUpLater",
}

// everything sends each kind of message.
func (s *speaker) everything() {
	s.t.Helper()
	for _, name := range events {
		s.send("Event", map[string]any{"event": name})
	}
	for _, name := range []string{"Stats", "ErrorReport", "SDPPart", "Feedback", "Log"} {
		s.send(name, nil)
	}
	for _, user := range []any{zoe, map[string]string{"userName": zoe, "aliasName": "zo"}} {
		s.send("Feedback", map[string]any{"userID": user})
		s.send("Event", map[string]any{"event": "associateMstWithUserID", "data": map[string]any{"ssrc": 7, "userID": user}})
	}
}

// acked waits until all that was sent is stored.
func (s *speaker) acked() {
	s.t.Helper()
	for {
		_, text, err := s.ws.ReadMessage()
		require.NoError(s.t, err)
		require.NotContains(s.t, string(text), `"nack"`)
		var frame struct {
			Type string `json:"type"`
			Seq  int    `json:"seq"`
		}
		require.NoError(s.t, json.Unmarshal(text, &frame))
		if frame.Type == "ack" && frame.Seq >= s.seq {
			return
		}
	}
}

// files returns the content of the store's files.
func (d *erasing) files() string {
	d.t.Helper()
	names, err := filepath.Glob(filepath.Join(d.store, "*"))
	require.NoError(d.t, err)
	require.NotEmpty(d.t, names)
	var all strings.Builder
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(d.t, err)
		all.Write(text)
	}
	return all.String()
}

func (d *erasing) page(room string, at int64) string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, fmt.Sprintf("http://%s/api/conference?app=%s&id=%s&at=%d", d.dashboard, harness.AppID, room, at), http.NoBody)
	require.NoError(d.t, err)
	resp, err := d.client.Do(req)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusOK, resp.StatusCode, string(text))
	return string(text)
}

// A user is erased while a call of theirs is live and another has ended. What both ends send afterwards, and the
// summary that the collector makes of its memory, have the pseudonym. No file of the store has the ID, while the collector runs
// and after its end, and after a restart that restores the conference.
//
// spec: PRIV-02
func TestErasureOfALiveCall(t *testing.T) {
	t.Parallel()
	d := deployErasing(t)
	ended := d.speak(zoe, "bob", "ended", nil)
	ended.everything()
	ended.send("Event", map[string]any{"event": "fabricTerminated", "data": map[string]any{"reason": "application"}})
	ended.acked()
	own, other := d.speak(zoe, "bob", "live", nil), d.speak("bob", zoe, "live", nil)
	for _, s := range []*speaker{own, other} {
		s.everything()
		s.acked()
	}
	require.Contains(t, d.files(), zoe, "the same search finds it before")
	before := d.page("live", own.at)
	require.Contains(t, before, `"user":"zo"`)
	require.NotContains(t, before, zoe, "an event gave the ID as a real name: its alias is shown in all places")
	exported := strings.Split(strings.TrimSpace(d.manage(http.MethodPost, "/users/export", `{"userID": "`+zoe+`"}`, http.StatusOK)), "\n")
	require.JSONEq(t, `{"type":"end","complete":true}`, exported[len(exported)-1])
	require.Greater(t, len(exported), 40)

	var e struct{ ID, State, Pseudonym string }
	require.NoError(t, json.Unmarshal([]byte(d.manage(http.MethodPost, "/users/erase", `{"userID": "`+zoe+`"}`, http.StatusAccepted)), &e))
	for _, s := range []*speaker{own, other} { // while it runs
		s.everything()
		s.acked()
	}
	require.Eventually(t, func() bool {
		require.NoError(t, json.Unmarshal([]byte(d.manage(http.MethodGet, "/users/erasures/"+e.ID, "", http.StatusOK)), &e))
		return e.State == "done"
	}, harness.Patience, 50*time.Millisecond)
	d.clean("erased")
	for _, s := range []*speaker{own, other} {
		s.everything()
		s.send("Event", map[string]any{"event": "fabricTerminated", "data": map[string]any{"reason": "application"}})
		s.acked()
	}
	for _, room := range []string{"live", "ended"} {
		require.Eventually(t, func() bool { return strings.Contains(d.page(room, own.at), `"state":"ended"`) }, harness.Patience, 50*time.Millisecond, room)
		page := d.page(room, own.at)
		absent(t, room, page)
		require.Contains(t, page, e.Pseudonym)
	}
	d.clean("running")
	d.Stop()
	d.clean("ended")
	d.Start()
	plain := map[string]any{"applicationVersion": "1", "library": "1", "userAgent": "browser"}
	again := d.speak("bob", zoe, "live", plain) // late feedback of a session that began after the erasure, about the old call
	again.send("Feedback", map[string]any{"fabric": nil, "conferenceID": "live", "conferenceAt": own.at})
	again.acked()
	absent(t, "after the restart", d.page("live", own.at))
	require.Contains(t, d.page("live", own.at), "bob")
	last := strings.Split(strings.TrimSpace(d.manage(http.MethodPost, "/users/export", `{"userID": "`+zoe+`"}`, http.StatusOK)), "\n")
	require.Len(t, last, 2, "the ID that was asked for, and the end")
}

// A collector that is killed in the middle of an erasure continues it after its start.
//
// spec: PRIV-02
func TestErasureSurvivesKills(t *testing.T) {
	t.Parallel()
	const rooms = 20
	d, at := deployErasing(t), int64(0)
	for n := range rooms {
		s := d.speak(zoe, "bob", fmt.Sprint("room-", n), nil)
		s.everything()
		s.acked()
		require.NoError(t, s.ws.Close())
		at = s.at
	}
	require.Contains(t, d.files(), zoe, "the same search finds it before")
	var e struct {
		ID, State, Pseudonym string
		Sessions             int
	}
	require.NoError(t, json.Unmarshal([]byte(d.manage(http.MethodPost, "/users/erase", `{"userID": "`+zoe+`"}`, http.StatusAccepted)), &e))
	state := func() string {
		require.NoError(t, json.Unmarshal([]byte(d.manage(http.MethodGet, "/users/erasures/"+e.ID, "", http.StatusOK)), &e))
		return e.State
	}
	require.NotEqual(t, "done", state())
	d.Kill()
	require.Contains(t, d.files(), zoe, "killed before the end")
	for range 2 { // as soon as it has begun again, unless it is done
		d.Start()
		if state() != "done" {
			t.Log("killed again in state", e.State)
		}
		d.Kill()
	}
	d.Start()
	require.Eventually(t, func() bool { return state() == "done" }, harness.Patience, 50*time.Millisecond)
	require.Equal(t, rooms, e.Sessions)
	d.clean("done")
	require.Contains(t, d.page(fmt.Sprint("room-", rooms-1), at), e.Pseudonym)
}

func (d *erasing) clean(when string) {
	d.t.Helper()
	absent(d.t, when, d.files())
}

// absent checks that a text does not have the ID.
func absent(t *testing.T, name, text string) {
	t.Helper()
	if i := strings.Index(text, zoe); i >= 0 {
		require.Failf(t, "the ID is left", "%s: %q", name, text[max(0, i-200):min(len(text), i+100)])
	}
}
