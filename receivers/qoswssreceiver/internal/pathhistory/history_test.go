package pathhistory

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/call/recommend"
	"github.com/qosrtc/qos/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// slowStore yields one conference per read, after a delay.
type slowStore struct {
	mu      sync.Mutex
	delay   time.Duration
	err     error
	body    []byte
	queries []storage.DigestQuery
	most    int // reads at the same time
	running int
}

func (s *slowStore) Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	s.mu.Lock()
	s.queries = append(s.queries, q)
	s.running++
	s.most = max(s.most, s.running)
	delay, err := s.delay, s.err
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running--
		s.mu.Unlock()
	}()
	select {
	case <-time.After(delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	yield(storage.Digest{AppID: q.AppID, Body: s.body})
	yield(storage.Digest{AppID: q.AppID, Body: []byte("damaged")})
	yield(storage.Digest{AppID: q.AppID})
	return err
}

func (s *slowStore) reads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queries)
}

func conferenceOf() []byte {
	fabric := func(connected bool, local, remote string) digest.Fabric {
		return digest.Fabric{Connected: connected, LocalCandidateType: local, RemoteCandidateType: remote}
	}
	d := digest.Digest{Members: []digest.Member{
		{SiteID: "hq", Fabrics: []digest.Fabric{fabric(true, "host", "srflx"), fabric(true, "relay", "host"), fabric(true, "host", "relay"), fabric(false, "", ""), fabric(true, "", "")}},
		{SiteID: "hq", Fabrics: []digest.Fabric{fabric(true, "prflx", "host")}},
		{Fabrics: []digest.Fabric{fabric(false, "", "")}},
		{SiteID: "branch", Fabrics: []digest.Fabric{fabric(false, "", "")}},
	}}
	return d.Encode()
}

// spec: PRE-05
func TestPathsAreCountedBySite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{body: conferenceOf()}
		h := New(store, func(string, error) { t.Error("no read failed") })
		defer h.Close()
		now := time.Now()
		require.Equal(t, recommend.Paths{Direct: 2, Relayed: 2, Failed: 1}, h.Paths(t.Context(), "demo", "hq", now))
		require.Equal(t, recommend.Paths{Failed: 1}, h.Paths(t.Context(), "demo", "branch", now))
		require.Zero(t, h.Paths(t.Context(), "demo", "elsewhere", now))
		require.Zero(t, h.Paths(t.Context(), "demo", "", now))
		require.Equal(t, []storage.DigestQuery{{AppID: "demo", From: now.Add(-Window), To: now}}, store.queries)
		require.Zero(t, (*History)(nil).Paths(t.Context(), "demo", "hq", now))
		(*History)(nil).Close()
	})
}

// The store is read at most once in Age, and only while somebody asks. Until the read ends, the old counts are returned.
func TestCountsAreReadAgainInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{body: conferenceOf()}
		h := New(store, func(string, error) {})
		defer h.Close()
		old := h.Paths(t.Context(), "demo", "hq", time.Now())
		time.Sleep(Age - time.Second)
		h.Paths(t.Context(), "demo", "hq", time.Now())
		require.Equal(t, 1, store.reads())
		time.Sleep(time.Hour)
		require.Equal(t, 1, store.reads(), "nobody asked")
		store.body, store.delay = (&digest.Digest{}).Encode(), 10*time.Second
		asked := time.Now()
		require.Equal(t, old, h.Paths(t.Context(), "demo", "hq", time.Now()))
		require.Equal(t, old, h.Paths(t.Context(), "demo", "hq", time.Now()))
		require.Equal(t, asked, time.Now(), "nobody waits")
		time.Sleep(11 * time.Second)
		require.Zero(t, h.Paths(t.Context(), "demo", "hq", time.Now()))
		require.Equal(t, 2, store.reads())
	})
}

func TestSlowStoreDelaysNobodyForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{body: conferenceOf(), delay: time.Hour}
		var failures []error
		h := New(store, func(appID string, err error) {
			require.Equal(t, "demo", appID)
			failures = append(failures, err)
		})
		defer h.Close()
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.Zero(t, h.Paths(ctx, "demo", "hq", start))
		require.Equal(t, time.Second, time.Since(start))
		time.Sleep(readTime)
		synctest.Wait()
		require.Len(t, failures, 1)
		require.ErrorIs(t, failures[0], context.DeadlineExceeded)
	})
}

func TestFailedReadKeepsTheCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{body: conferenceOf()}
		var failures []error
		h := New(store, func(_ string, err error) { failures = append(failures, err) })
		defer h.Close()
		old := h.Paths(t.Context(), "demo", "hq", time.Now())
		store.err, store.body = errors.New("away"), nil
		time.Sleep(Age)
		h.Paths(t.Context(), "demo", "hq", time.Now())
		synctest.Wait()
		require.Equal(t, []error{store.err}, failures)
		require.Equal(t, old, h.Paths(t.Context(), "demo", "hq", time.Now()))
		require.Equal(t, 2, store.reads(), "the next read is due after Age")
	})
}

func TestHistoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowStore{body: conferenceOf(), delay: time.Millisecond}
		h := New(store, func(string, error) {})
		defer h.Close()
		for i := range MaxApps + 5 {
			h.Paths(t.Context(), fmt.Sprint("app", i), "hq", time.Now())
		}
		require.Len(t, h.apps, MaxApps)
		require.NotContains(t, h.apps, "app0")
		require.Equal(t, 1, store.most, "one application is read at a time")
		sites := map[string]recommend.Paths{}
		for i := range MaxSites + 5 {
			count(sites, &digest.Digest{Members: []digest.Member{{SiteID: strconv.Itoa(i), Fabrics: []digest.Fabric{{}}}}})
		}
		require.Len(t, sites, MaxSites)
		count(sites, &digest.Digest{Members: []digest.Member{{SiteID: "0", Fabrics: []digest.Fabric{{}}}}})
		require.Equal(t, 2, sites["0"].Failed)
	})
}

func TestCloseEndsAReadInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&slowStore{delay: time.Hour}, func(string, error) { t.Error("Close is no failure") })
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		h.Paths(ctx, "one", "hq", time.Now())
		h.Paths(ctx, "two", "hq", time.Now())
		h.Close()
		h.Close()
		require.Zero(t, h.Paths(t.Context(), "three", "hq", time.Now()))
	})
}
