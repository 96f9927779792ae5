package privacy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// peer is a client's address as a proxy names it. It is in the headers of every request.
const peer = "203.0.113.201"

// reader is the address of a reader of the dashboard, the scrape endpoint and the management API.
const reader = "203.0.113.203"

// managementToken admits to the management API.
const managementToken = "a management token of this test alone"

// relay is the address of a TURN server of the operator, which is kept.
const relay = "192.0.2.33"

// foreign is an origin that no application lists.
const foreign = "http://203.0.113.202"

// other is a server that keeps what is sent to it: webhooks and spans.
type other struct {
	*httptest.Server
	mu   sync.Mutex
	text []byte
}

func newOther(t *testing.T) *other {
	t.Helper()
	o := &other{}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.text = append(o.text, body...)
		w.WriteHeader(http.StatusOK)
	}))
	t.Cleanup(o.Close)
	return o
}

func (o *other) all() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return string(o.text)
}

// deployment is a collector and all to which it writes.
type deployment struct {
	*harness.Collector
	t                        *testing.T
	store, dashboard, scrape string
	management               string
	hooks, spans             *other
	client, reader           *http.Client
	user                     protocol.UserID
	planted                  []planted
}

// deploy starts a collector with a mode of addresses, whose application has further settings.
func deploy(t *testing.T, mode, settings string) *deployment {
	t.Helper()
	dir := t.TempDir()
	d := &deployment{
		t: t, user: protocol.UserID{Name: "ann", Alias: "ann"}, store: filepath.Join(dir, "store"), dashboard: harness.FreeAddress(t), scrape: harness.FreeAddress(t), management: harness.FreeAddress(t), hooks: newOther(t), spans: newOther(t),
	}
	d.reader = &http.Client{Timeout: harness.Patience, Transport: withHeaders{&http.Transport{DisableKeepAlives: true}, reader}}
	d.client = &http.Client{Timeout: harness.Patience, Transport: withHeaders{&http.Transport{DisableKeepAlives: true}, peer}}
	d.Collector = harness.NewCollector(t, harness.Options{
		Storage: harness.SQLite(d.store), Dashboard: d.dashboard,
		Webhooks: fmt.Sprintf(`{dashboard_url: "http://%s", allowed_networks: [127.0.0.0/8]}`, d.dashboard),
		Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, apps: [{id: %s, secrets: [%s], origins: [%q], webhooks: [{id: ops, url: %q, secret: whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}]%s}],
			management: {endpoint: %q, tokens: [{name: ann, token: %q}]}}`,
			filepath.Join(dir, "key"), harness.AppID, harness.AppSecret, harness.Origin, d.hooks.URL, settings, d.management, managementToken),
		More: fmt.Sprintf(`
extensions:
  qosdashboard: {apps: qosapps}
receivers:
  qoswss: {addresses: %s, trusted_proxies: [127.0.0.1], keep_networks: [%s]}
exporters:
  debug: {verbosity: detailed}
  qostimeseries: {endpoint: %q}
service:
  pipelines:
    logs: {exporters: [qosstore, qostimeseries, qoswebhook, debug]}
  telemetry:
    logs: {level: debug}
    traces:
      processors: [{simple: {exporter: {otlp: {protocol: http/protobuf, endpoint: %q}}}}]
`, mode, relay, d.scrape, d.spans.URL+"/v1/traces"),
	})
	d.Start()
	return d
}

// headers are those in which an address of the client may be.
func headers(address string) http.Header {
	h := http.Header{"User-Agent": {"at " + address}, "Origin": {harness.Origin}}
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Cf-Connecting-Ip", "Referer"} {
		h.Set(name, address)
	}
	h.Set("Forwarded", "for="+address)
	return h
}

type withHeaders struct {
	next    http.RoundTripper
	address string
}

func (w withHeaders) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	origin := r.Header.Get("Origin")
	maps.Copy(r.Header, headers(w.address))
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	return w.next.RoundTrip(r)
}

// session returns the lines of a session that plants a form in every text and every ID of it: one conference, and
// one that fails.
func (d *deployment) session(f form, room string) []string {
	grant, err := authtest.Login(d.t.Context(), d.client, d.URL(), harness.Origin, harness.AppID, harness.AppSecret, d.user)
	require.NoError(d.t, err)
	now, seq := time.Now().UnixMilli(), 0
	var lines []string
	add := func(name string, change map[string]any) {
		planting := f
		if name == "Hello" {
			planting.text = cmp.Or(f.hello, f.text)
		}
		members, all := message(d.t, name, planting)
		seq++
		members["at"], members["seq"], members["addedAt"] = now, seq, now
		maps.Copy(members, change)
		maps.Copy(members, f.ids[name])
		lines = append(lines, string(line(d.t, members)))
		d.planted = append(d.planted, all...)
	}
	announce := func(name string, change map[string]any) { add(name, change); seq-- }
	announce("Hello", map[string]any{"token": grant.Token, "session": grant.Session, "acked": 0})
	announce("Columns", nil)
	for fabric := 1; fabric <= 2; fabric++ {
		announce("Fabric", map[string]any{"fabric": fabric, "conferenceID": fmt.Sprint(room, fabric)})
	}
	event := func(fabric int, name string) { add("Event", map[string]any{"event": name, "fabric": fabric}) }
	for _, name := range []string{"fabricAdded", "remoteDescriptionSet", "fabricSetupFailed", "fabricTerminated"} {
		event(2, name)
	}
	for _, name := range []string{
		"fabricAdded", "remoteDescriptionSet", "fabricSetup", "selectedCandidatePairChange", "wifiStats", "activeDeviceList", "streamAdded", "userIDChange",
		"associateMstWithUserID", "dominantSpeaker", "iceDisruptionStart", "callDetails", "customEvent", "customStats", "madeUpLater",
	} {
		event(1, name)
	}
	for _, name := range []string{"Stats", "ErrorReport", "SDPPart", "Feedback", "Log"} {
		add(name, nil)
	}
	if f.ids == nil { // an ID across two parts is not found (docs/security.md)
		d.parts(f, add)
	}
	event(1, "fabricTerminated")
	add("Skip", map[string]any{"from": seq + 1})
	announce("Bye", nil)
	return lines
}

// parts adds an SDP in two parts that a form lies across, and parts of which the first is missing.
func (d *deployment) parts(f form, add func(string, map[string]any)) {
	text := "c=IN IP4 " + f.text + "\r\n"
	half := len("c=IN IP4 ") + len(f.text)/2
	for offset, part := range map[int]string{0: text[:half], half: text[half:]} {
		add("SDPPart", map[string]any{"error": 7, "field": "remoteSDP", "offset": offset, "text": part})
	}
	add("SDPPart", map[string]any{"error": 8, "field": "remoteSDP", "offset": 0, "text": text[:half]})
	add("SDPPart", map[string]any{"error": 8, "field": "remoteSDP", "offset": half, "text": text[half:]})
}

// post sends the lines in one request. A bye would end it.
func (d *deployment) post(lines []string) {
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.URL()+"frames", strings.NewReader(strings.Join(lines[:len(lines)-1], "\n")))
	require.NoError(d.t, err)
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := d.client.Do(req)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusOK, resp.StatusCode, string(answer))
	require.NotContains(d.t, string(answer), `"nack"`)
}

// talk sends the lines over a WebSocket and waits until the collector has stored all and ended the connection.
func (d *deployment) talk(lines []string) {
	dialer := websocket.Dialer{HandshakeTimeout: harness.Patience}
	ws, resp, err := dialer.DialContext(d.t.Context(), "ws"+strings.TrimPrefix(d.URL(), "http")+"ws", headers(peer))
	require.NoError(d.t, err)
	d.t.Cleanup(func() { _ = ws.Close() })
	defer resp.Body.Close()
	require.NoError(d.t, ws.SetReadDeadline(time.Now().Add(harness.Patience)))
	for _, one := range lines {
		require.NoError(d.t, ws.WriteMessage(websocket.TextMessage, []byte(one)))
	}
	for {
		_, answer, err := ws.ReadMessage()
		if err != nil {
			require.True(d.t, websocket.IsCloseError(err, websocket.CloseNormalClosure), "%v", err)
			return
		}
		require.NotContains(d.t, string(answer), `"nack"`)
	}
}

// written returns everything that the collector wrote, by name, after it has stopped.
func (d *deployment) written(rooms int) map[string]string {
	all := map[string]string{
		"api": d.pages(rooms), "scrape": d.get("http://" + d.scrape + "/metrics"), "telemetry": d.get("http://" + d.Telemetry() + "/metrics"),
		"management": d.get("http://" + d.management + "/api/v1/apps/" + harness.AppID),
	}
	require.Eventually(d.t, func() bool { return strings.Count(d.hooks.all(), `"failedConferences"`) >= rooms/2 }, harness.Patience, 20*time.Millisecond)
	files := func(when string) {
		names, err := filepath.Glob(filepath.Join(d.store, "*"))
		require.NoError(d.t, err)
		for _, name := range names {
			text, err := os.ReadFile(name)
			require.NoError(d.t, err)
			all[when+" "+filepath.Base(name)] = string(text)
		}
	}
	files("live")
	d.Stop()
	files("closed")
	all["webhook"], all["spans"], all["log"] = d.hooks.all(), d.spans.all(), d.Log()
	return all
}

// pages returns all conferences as the dashboard's API has them.
func (d *deployment) pages(rooms int) string {
	base := "http://" + d.dashboard + "/api/conference"
	var rows []struct {
		ID      string
		StartAt int64
	}
	require.Eventually(d.t, func() bool {
		var list struct {
			Conferences json.RawMessage
		}
		require.NoError(d.t, json.Unmarshal([]byte(d.get(base+"s?limit=200&app="+harness.AppID)), &list))
		require.NoError(d.t, json.Unmarshal(list.Conferences, &rows))
		return len(rows) == rooms
	}, harness.Patience, 50*time.Millisecond)
	var text strings.Builder
	for _, row := range rows {
		query := url.Values{"app": {harness.AppID}, "id": {row.ID}, "at": {strconv.FormatInt(row.StartAt, 10)}}
		text.WriteString(d.get(base + "?" + query.Encode()))
	}
	return text.String()
}

func (d *deployment) get(link string) string {
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodGet, link, http.NoBody)
	require.NoError(d.t, err)
	req.Header.Set("Authorization", "Bearer "+managementToken)
	resp, err := d.reader.Do(req)
	require.NoError(d.t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(d.t, err)
	require.Equal(d.t, http.StatusOK, resp.StatusCode, string(body))
	return string(body)
}

// Whatever field of whatever message has an address, in whatever form: the store's files, the API, the
// metrics, the webhooks, the spans and the log of the collector have no more of it than its prefix. With keep
// the same search finds each of them: so it would find one that is left. In every mode the address of a
// reader is nowhere, and that of a TURN server of the operator is kept.
//
// spec: PRIV-01
func TestAddresses(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"truncate", "drop", "keep"} {
		t.Run(mode, func(t *testing.T) {
			d := deploy(t, mode, "")
			for i, f := range forms {
				d.talk(d.session(f, fmt.Sprint("talk", i, "-")))
				d.post(d.session(f, fmt.Sprint("post", i, "-")))
			}
			_, err := authtest.Login(t.Context(), d.client, d.URL(), foreign, harness.AppID, harness.AppSecret, protocol.UserID{Name: "ann", Alias: "ann"})
			require.Error(t, err)
			all := d.written(4 * len(forms))
			for name, text := range all {
				require.NotContains(t, text, reader, name)
			}
			require.Contains(t, all["api"], relay)
			if mode == "keep" {
				checkFound(t, d.planted, all)
				return
			}
			for name, text := range all {
				checkAbsent(t, mode, name, strings.ToLower(text))
			}
			for _, p := range d.planted {
				arrived := strings.Contains(all["log"], marker(p.field)+" at ")
				require.Equal(t, !unread[p.field], arrived, p.field)
			}
		})
	}
}

func checkAbsent(t *testing.T, mode, name, text string) {
	t.Helper()
	needles := []string{peer, strings.TrimPrefix(foreign, "http://")}
	for _, f := range forms {
		if !f.drop || mode == "drop" {
			needles = append(needles, f.needle)
		}
	}
	for _, needle := range needles {
		if i := strings.Index(text, needle); i >= 0 {
			require.Fail(t, "an address is left", "%s has %q: %q", name, needle, text[max(0, i-120):min(len(text), i+80)])
		}
	}
}

// checkFound proves that the search finds what is kept, in each place that can have it.
func checkFound(t *testing.T, all []planted, written map[string]string) {
	t.Helper()
	for _, p := range all {
		require.Equal(t, !unread[p.field], strings.Contains(written["log"], p.text), "%v", p)
	}
	for _, f := range forms {
		require.Contains(t, strings.ToLower(written["api"]), f.needle)
	}
	require.Contains(t, written["spans"], peer)
	require.Contains(t, written["log"], foreign)
	require.Contains(t, written["scrape"], forms[0].text)
	names := slices.Collect(maps.Keys(written))
	require.True(t, slices.ContainsFunc(names, func(name string) bool {
		return strings.HasPrefix(name, "live ") && strings.Contains(written[name], forms[0].text)
	}), names)
}
