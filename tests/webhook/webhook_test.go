package webhook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/store/postgrestest"
)

// withPostgres runs the tests beside a server.
type withPostgres struct{ *testing.M }

func (m withPostgres) Run() int { return postgrestest.Run(m.M) }

func TestMain(m *testing.M) {
	harness.TestsAtOnce(8)
	harness.VerifyMain(withPostgres{m})
}

const (
	secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	token  = "a-token-of-the-management-api-0123456789"
)

// notification is one request to a receiver.
type notification struct {
	at     time.Time
	header http.Header
	text   []byte
	body   map[string]any
}

// receiver collects notifications of a real HTTP server, and answers with a status, while it is held
// not before its client has left.
type receiver struct {
	*httptest.Server
	status atomic.Int64
	held   atomic.Bool
	mu     sync.Mutex
	got    []notification
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.status.Store(http.StatusNoContent)
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		n := notification{at: time.Now(), header: req.Header}
		n.text, _ = io.ReadAll(req.Body)
		_ = json.Unmarshal(n.text, &n.body)
		r.mu.Lock()
		r.got = append(r.got, n)
		r.mu.Unlock()
		if r.held.Load() {
			<-req.Context().Done()
			return
		}
		w.WriteHeader(int(r.status.Load()))
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) all() []notification {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *receiver) await(t *testing.T, n int) []notification {
	t.Helper()
	require.Eventually(t, func() bool { return len(r.all()) >= n }, harness.Patience, 5*time.Millisecond)
	return r.all()
}

// deployment is a collector with a webhook, a dashboard and the management API.
type deployment struct {
	*harness.Collector
	dashboard, management string
}

func deploy(t *testing.T, r *receiver, rules string) deployment {
	t.Helper()
	dir := t.TempDir()
	return deployOn(t, r, rules, harness.SQLite(filepath.Join(dir, "store")), filepath.Join(dir, "key"))
}

// deployOn starts a deployment on a store, with the master key in a file.
func deployOn(t *testing.T, r *receiver, rules, store, key string) deployment {
	t.Helper()
	d := deployment{dashboard: harness.FreeAddress(t), management: harness.FreeAddress(t)}
	d.Collector = harness.NewCollector(t, harness.Options{
		Storage: store, Dashboard: d.dashboard,
		Webhooks: fmt.Sprintf(`{dashboard_url: "http://%s", allowed_networks: [127.0.0.0/8], rules: {reasons: {%s}}}`, d.dashboard, rules),
		Apps: fmt.Sprintf(`{key_file: %q, storage: qosstorage, management: {endpoint: %q, tokens: [{name: test, token: %s}]}, apps: [{id: %s, secrets: [%s], origins: [%q], webhooks: [{id: ops, url: %q, secret: %s}]}]}`,
			key, d.management, token, harness.AppID, harness.AppSecret, harness.Origin, r.URL, secret),
	})
	d.Start()
	return d
}

// call runs a conference of one participant to its end, and returns when it ended.
func call(t *testing.T, c *harness.Collector, id string, failed bool) time.Time {
	t.Helper()
	return callOf(t, c, harness.AppID, harness.AppSecret, id, failed)
}

func callOf(t *testing.T, c *harness.Collector, app, appSecret, id string, failed bool) time.Time {
	t.Helper()
	client := &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	grant, err := authtest.Login(t.Context(), client, c.URL(), harness.Origin, app, appSecret, protocol.UserID{Name: "ann", Alias: "ann"})
	require.NoError(t, err)
	w, err := harness.Dial(t.Context(), c.URL(), false)
	require.NoError(t, err)
	defer w.Close()
	at := time.Now().UnixMilli()
	setup := `"event":"fabricSetup","data":{"setupMs":20,"gatheringMs":5,"connectivityMs":5,"localCandidateType":"host","remoteCandidateType":"host","relayProtocol":null}`
	if failed {
		setup = `"event":"fabricSetupFailed","data":{"stage":"connectivity","failureMs":20,"reason":"failed"}`
	}
	require.True(t, w.Send(
		fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, at),
		fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":%q,"addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`, id, at),
	))
	ended := time.Now()
	w.Deliver(t, 4,
		fmt.Sprintf(`{"type":"event","seq":1,"at":%d,"fabric":1,"event":"fabricAdded","data":{"alreadyConnected":false}}`, at),
		fmt.Sprintf(`{"type":"event","seq":2,"at":%d,"fabric":1,"event":"remoteDescriptionSet","data":{}}`, at+1),
		fmt.Sprintf(`{"type":"event","seq":3,"at":%d,"fabric":1,%s}`, at+20, setup),
		fmt.Sprintf(`{"type":"event","seq":4,"at":%d,"fabric":1,"event":"fabricTerminated","data":{"reason":"application"}}`, at+21),
	)
	return ended
}

// follow opens the link of a notification as the page does, and returns the conferences listed.
func follow(t *testing.T, link string) (ids []string) {
	t.Helper()
	require.Contains(t, string(get(t, link, "")), `data-testid="filters"`)
	u, err := url.Parse(link)
	require.NoError(t, err)
	var list struct{ Conferences []struct{ ID string } }
	require.NoError(t, json.Unmarshal(get(t, "http://"+u.Host+"/api/conferences?"+u.RawQuery, ""), &list))
	for _, c := range list.Conferences {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

func get(t *testing.T, link, bearer string) []byte {
	t.Helper()
	return do(t, http.MethodGet, link, bearer, http.StatusOK)
}

func do(t *testing.T, method, link, bearer string, status int) []byte {
	t.Helper()
	return send(t, method, link, bearer, status, "")
}

// send sends a request with a body, and headers as pairs.
func send(t *testing.T, method, link, bearer string, status int, text string, headers ...string) []byte {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, link, strings.NewReader(text))
	require.NoError(t, err)
	if bearer != "" {
		req.Header.Set("Authorization", "Bearer "+bearer)
	}
	if text != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Equal(t, status, res.StatusCode, string(body))
	return body
}

// A failed conference notifies once, whatever ends in between: the receiver is down, the collector is
// killed. The link lists that conference alone.
//
// spec: OUT-02, OUT-03, OUT-04
func TestOneNotification(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	d := deploy(t, r, "")
	call(t, d.Collector, "good one", false)
	r.status.Store(http.StatusServiceUnavailable)
	call(t, d.Collector, "bad/one", true)
	r.await(t, 1)
	d.Kill()
	r.status.Store(http.StatusNoContent)
	d.Start()
	call(t, d.Collector, "bad/two", true)
	got := r.await(t, 3)

	verifier, err := standardwebhooks.NewWebhook(secret)
	require.NoError(t, err)
	ids := map[string][]string{}
	for _, n := range got {
		require.NoError(t, verifier.Verify(n.text, n.header))
		require.Len(t, n.body, 10)
		require.Equal(t, []any{"failedConferences", "individual", harness.AppID}, []any{n.body["reason"], n.body["triggerType"], n.body["appId"]})
		ids[n.header.Get("webhook-id")] = follow(t, n.body["url"].(string))
	}
	require.Len(t, ids, 2)
	var listed []string
	for _, found := range ids {
		require.Len(t, found, 1)
		listed = append(listed, found...)
	}
	slices.Sort(listed)
	require.Equal(t, []string{"bad/one", "bad/two"}, listed)
	tampered := bytes.Replace(got[0].text, []byte("failed"), []byte("wailed"), 1)
	require.Error(t, verifier.Verify(tampered, got[0].header))
	d.Kill()
	d.Start()
	call(t, d.Collector, "bad/three", true)
	r.await(t, 4)
	require.Len(t, r.all(), 4, "a restart sends nothing again")
}

// The link of an interval lists just the conferences that were counted.
//
// spec: OUT-02, OUT-04
func TestIntervalLink(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	d := deploy(t, r, `failedConferences: {threshold: 0.5, min_samples: 4, individual: false}`)
	for i := range 4 {
		call(t, d.Collector, fmt.Sprint("call ", i), i > 0)
	}
	n := r.await(t, 1)[0]
	require.Equal(t, []any{"interval", 3.0, 0.5, 0.75}, []any{n.body["triggerType"], n.body["actualValue"], n.body["threshold"], n.body["fractionalValue"]})
	require.Equal(t, []string{"call 1", "call 2", "call 3"}, follow(t, n.body["url"].(string)))
}

// Operators test a webhook, see its deliveries, and replay what its receiver refused for good.
//
// spec: OUT-03
func TestManagement(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	d := deploy(t, r, "")
	api := "http://" + d.management + "/api/v1/apps/" + harness.AppID + "/webhooks/ops/"
	r.status.Store(http.StatusGone)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal(do(t, http.MethodPost, api+"test", token, http.StatusAccepted), &made))
	deliveries := func(query string) (page struct {
		Deliveries []struct {
			ID, State, Error string
			Status, Attempts int
			LatencyMs        *int
		}
	},
	) {
		require.NoError(t, json.Unmarshal(get(t, api+"deliveries"+query, token), &page))
		return page
	}
	require.Eventually(t, func() bool { return len(deliveries("?state=dead").Deliveries) == 1 }, harness.Patience, 20*time.Millisecond)
	one := deliveries("").Deliveries[0]
	require.Equal(t, []any{made.ID, "dead", 410, 1, "status 410"}, []any{one.ID, one.State, one.Status, one.Attempts, one.Error})
	require.NotNil(t, one.LatencyMs)
	r.status.Store(http.StatusOK)
	do(t, http.MethodPost, api+"deliveries/"+made.ID+"/replay", token, http.StatusAccepted)
	require.Eventually(t, func() bool { return len(deliveries("?state=delivered").Deliveries) == 1 }, harness.Patience, 20*time.Millisecond)
	got := r.all()
	require.Len(t, got, 2)
	require.Equal(t, got[0].header.Get("webhook-id"), got[1].header.Get("webhook-id"))
	require.Equal(t, "test", got[1].body["reason"])
	require.Contains(t, got[1].body["url"], "/search?app=")
	do(t, http.MethodPost, api+"deliveries/"+made.ID+"/replay", token, http.StatusConflict)
	do(t, http.MethodPost, strings.Replace(api, "/ops/", "/none/", 1)+"test", token, http.StatusNotFound)
}

// TestLatency measures the time from the end of a conference to the arrival of its notification.
func TestLatency(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	d := deploy(t, r, "")
	const calls = 20
	var took []time.Duration
	for i := range calls {
		ended := call(t, d.Collector, fmt.Sprint("call ", i), true)
		took = append(took, r.await(t, i+1)[i].at.Sub(ended))
	}
	slices.Sort(took)
	t.Logf("from the end of a conference to its notification: p50 %s, p99 %s, max %s of %d", took[calls/2], took[calls*99/100], took[calls-1], calls)
	require.Less(t, took[calls*99/100], 2*time.Second+30*time.Second)
}
