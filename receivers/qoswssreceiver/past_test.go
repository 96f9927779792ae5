package qoswssreceiver

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/internal/identity/pseudonym"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/kit/hosttest"
)

// pastStore is a store whose digests a test gives.
type pastStore struct {
	*sqlite.Store
	digest *digest.Digest
	slow   atomic.Bool
	err    error
}

func (s *pastStore) Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	if s.slow.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if s.digest != nil {
		yield(storage.Digest{AppID: q.AppID, Body: s.digest.Encode()})
	}
	return nil
}

func (s *pastStore) PreCalls(ctx context.Context, q storage.PreCallQuery) (storage.PreCallPage, error) {
	if s.slow.Load() {
		<-ctx.Done()
		return storage.PreCallPage{}, ctx.Err()
	}
	if s.err != nil {
		return storage.PreCallPage{}, s.err
	}
	return s.Store.PreCalls(ctx, q)
}

func newPastStore(t *testing.T) *pastStore {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "qos.db"), sqlite.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return &pastStore{Store: store}
}

func withStore(s *pastStore) option {
	return func(c *collector) {
		id := component.MustNewID("qosstorage")
		c.host[id], c.receiver.cfg.Storage = hosttest.Storage{Store: s}, id
	}
}

// tested stores a test that ended some time ago.
func (s *pastStore) tested(t *testing.T, user, site, network string, bps float64, ago time.Duration, change ...func(*storage.PreCall)) {
	t.Helper()
	id, err := uuid.NewV7()
	require.NoError(t, err)
	at := time.Now().Add(-ago).Truncate(time.Millisecond)
	p := storage.PreCall{
		Session: storage.Session{ID: id.String(), AppID: "demo", UserID: user, UserAlias: user, Details: map[string]string{semconv.SiteID: site}},
		Seq:     1, At: at, ObservedAt: at,
		Result: storage.PreCallResult{Trigger: "initialize", Status: "success", NetworkType: network, ThroughputBps: &bps},
	}
	for _, f := range change {
		f(&p)
	}
	_, err = s.AppendPreCalls(t.Context(), []storage.PreCall{p})
	require.NoError(t, err)
}

// spec: PRE-05
func TestRecommendedOfTheTest(t *testing.T) {
	c := startCollector(t, withDefaults(testDefaults))
	answer := c.configuration(c.login("demo", testOrigin).Token, `,"preCall":{"throughputBps":90000,"providers":[{"provider":"t.example","acceptable":true,"rttMs":12}]}`)
	require.Equal(t, []protocol.Reason{
		{Member: "peerConnection.iceServers", Code: "ranking", Text: "the servers are in the order of the pre-call test's results"},
	}, answer.Recommended.Reasons, "the default asks for audio only")
	require.JSONEq(t, `{"iceServers":[{"urls":["turn:t.example"],"username":"u","credential":"p"},{"urls":["stun:s.example"]}]}`, string(answer.Recommended.PeerConnection))
	require.JSONEq(t, `{"audio":true}`, string(answer.Recommended.Media))
}

// spec: PRE-05
func TestRecommendedOfThePast(t *testing.T) {
	relayed := digest.Fabric{Connected: true, LocalCandidateType: "relay"}
	store := newPastStore(t)
	store.digest = &digest.Digest{Members: []digest.Member{{SiteID: "hq", Fabrics: []digest.Fabric{relayed, relayed, relayed, relayed, relayed, relayed}}}}
	c := startCollector(t, withDefaults(testDefaults), withStore(store))
	token := c.login("demo", testOrigin).Token
	codes := func(more string) (codes []string) {
		for _, r := range c.configuration(token, more).Recommended.Reasons {
			codes = append(codes, r.Code)
		}
		return codes
	}
	require.Equal(t, []string{"directPathsFail"}, codes(`,"siteID":"hq"`))
	require.Empty(t, codes(`,"siteID":"elsewhere"`))
	require.Empty(t, codes(""))

	c.host[component.MustNewID("qosapps")].(*testApps).defaults["demo"] = []byte(`{"media":{"audio":true,"video":true}}`)
	const here = `,"siteID":"branch","networkType":"wifi"`
	store.tested(t, "alice", "branch", "cellular", 1, time.Minute)
	store.tested(t, "alice", "other", "wifi", 1, time.Minute)
	store.tested(t, "bob", "branch", "wifi", 1, time.Minute)
	store.tested(t, "alice", "branch", "wifi", 1, testAge+time.Minute)
	store.tested(t, "alice", "branch", "wifi", 1, time.Minute, func(p *storage.PreCall) { p.Result.Interrupted = true })
	store.tested(t, "alice", "branch", "wifi", 1, time.Minute, func(p *storage.PreCall) { p.Result.Status = "failure" })
	require.Empty(t, codes(here))
	store.tested(t, "alice", "branch", "wifi", 400_000, time.Hour)
	require.Equal(t, []string{"throughput"}, codes(here))
	require.Empty(t, codes(here+`,"preCall":{}`), "the test of the request is newer")
	store.tested(t, "alice", "", "wifi", 1, time.Minute)
	require.Empty(t, codes(`,"networkType":"ethernet"`))
	require.Equal(t, []string{"throughput"}, codes(`,"networkType":"wifi"`), "without a site")

	store.err = errors.New("away")
	require.Empty(t, codes(here), "the answer is made without the store")
}

// Users whose records have pseudonyms are found by those.
//
// spec: PRE-05
func TestRecommendedOfAPseudonym(t *testing.T) {
	store := newPastStore(t)
	c := startCollector(t, withDefaults(`{"media":{"audio":true,"video":true}}`), withStore(store))
	keys := pseudonym.New("demo", make([]byte, pseudonym.KeyBytes))
	c.host[component.MustNewID("qosapps")].(*testApps).change("demo", func(app *auth.App) { app.Pseudonyms, app.HashUserIDs = keys, true })
	store.tested(t, keys.ID("alice"), "", "", 400_000, time.Hour)
	require.Len(t, c.configuration(c.login("demo", testOrigin).Token, "").Recommended.Reasons, 1)
}

func TestSlowStoreDelaysNoAnswerForLong(t *testing.T) {
	store := newPastStore(t)
	store.slow.Store(true)
	c := startCollector(t, withDefaults(testDefaults), withStore(store))
	answer := c.configuration(c.login("demo", testOrigin).Token, `,"siteID":"hq"`)
	require.Empty(t, answer.Recommended.Reasons)
	require.NotEmpty(t, answer.ICEServers)

	p := c.receiver.shared.pastCalls
	for range pastReads {
		p.reads <- struct{}{}
	}
	store.slow.Store(false)
	store.tested(t, "alice", "", "", 1, time.Hour)
	u, request := user{"demo", "alice"}, &protocol.ConfigurationRequest{}
	require.Nil(t, p.test(t.Context(), u, request, time.Now()), "too many read at the same time")
	<-p.reads
	require.NotNil(t, p.test(t.Context(), u, request, time.Now()))
}

func TestStoreIsFound(t *testing.T) {
	id := component.MustNewID("qosstorage")
	f := func(host hosttest.Host, want string) {
		t.Helper()
		_, err := findReader(host, id)
		require.ErrorContains(t, err, want)
	}
	f(hosttest.Host{}, `storage: there is no extension "qosstorage"`)
	f(hosttest.Host{id: &testApps{}}, `storage: extension "qosstorage" is not a storage extension`)
	reader, err := findReader(hosttest.Host{}, component.ID{})
	require.NoError(t, err)
	require.Nil(t, reader)
	require.Nil(t, newPast(nil, nil))
}
