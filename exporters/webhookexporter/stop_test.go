package webhookexporter

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// slowReceiver answers a request when release is closed. It closes asked at the first one.
func slowReceiver(t *testing.T) (s *httptest.Server, asked, release chan struct{}, requests *atomic.Int64) {
	t.Helper()
	asked, release, requests = make(chan struct{}), make(chan struct{}), new(atomic.Int64)
	s = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 1 {
			close(asked)
		}
		<-release
	}))
	t.Cleanup(s.Close)
	return s, asked, release, requests
}

// An answer that arrives while the exporter stops is recorded: the notice is not sent again.
//
// spec: OUT-03
func TestAnswerWhileStopping(t *testing.T) {
	s, asked, release, requests := slowReceiver(t)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	a := apps{hooks: []notice.Hook{{ID: "h", URL: s.URL, Secrets: []string{secret}}}}
	e := startExporter(t, stored{Store: store}, a, nil)
	e.grace = stopGrace // it is read when an attempt begins
	at := time.Now().Add(-time.Minute)
	require.NoError(t, e.consume(t.Context(), summaryOf("demo", "c", at, at, 1, "totallyFailed")))
	<-asked
	e.cancel()
	close(release)
	require.NoError(t, e.shutdown(t.Context()))
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Len(t, page, 1)
	require.Equal(t, []any{storage.NoticeDelivered, 1, 200}, []any{page[0].State, page[0].Attempts, page[0].Status})
	require.EqualValues(t, 1, requests.Load())
}

// A receiver that does not answer holds the stop up for the grace alone, and no attempt is counted.
//
// spec: OUT-03
func TestHungReceiverWhileStopping(t *testing.T) {
	s, asked, release, _ := slowReceiver(t)
	t.Cleanup(func() { close(release) })
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	a := apps{hooks: []notice.Hook{{ID: "h", URL: s.URL, Secrets: []string{secret}}}}
	e := startExporter(t, stored{Store: store}, a, func(c *Config) { c.Timeout = time.Minute })
	at := time.Now().Add(-time.Minute)
	require.NoError(t, e.consume(t.Context(), summaryOf("demo", "c", at, at, 1, "totallyFailed")))
	<-asked
	require.NoError(t, e.shutdown(t.Context()))
	page, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "demo"})
	require.NoError(t, err)
	require.Equal(t, []any{storage.NoticePending, 0}, []any{page[0].State, page[0].Attempts})
	require.Less(t, stopGrace+settleTimeout+releaseTimeout+renewEvery, takeFor, "no other collector has the lease meanwhile")
}

// away is a store that refuses to record attempts while it is set.
type away struct {
	storage.Notices
	refuse atomic.Bool
}

func (a *away) UpdateNotice(ctx context.Context, n storage.Notice, from storage.NoticeState) error {
	if a.refuse.Load() {
		return errors.New("the store is away")
	}
	return a.Notices.UpdateNotice(ctx, n, from)
}

// An answer that the store did not take is recorded later, in place of another attempt. A replay of a
// dead letter is an attempt of its own.
//
// spec: OUT-03
func TestAnswerIsRecordedLater(t *testing.T) {
	r := newReceiver(t)
	r.fail.Store(http.StatusGone)
	store := openStore(t, filepath.Join(t.TempDir(), "store"))
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	hook := notice.Hook{ID: "h", URL: r.URL, Secrets: []string{secret}}
	e := startExporter(t, stored{Store: store}, apps{hooks: []notice.Hook{hook}}, nil)
	require.NoError(t, e.shutdown(t.Context()))
	refusing := &away{Notices: store}
	refusing.refuse.Store(true)
	e.engine.store = refusing
	now := time.Now()
	due := storage.Notice{ID: "n", AppID: "demo", Hook: "h", CreatedAt: now, DueAt: now.Add(-time.Second), Body: []byte("{}")}
	_, err := store.AddNotices(t.Context(), []storage.Notice{due}, 9)
	require.NoError(t, err)
	require.Error(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Error(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Len(t, r.all(), 1)
	refusing.refuse.Store(false)
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Len(t, r.all(), 1)
	n, err := store.Notice(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, []any{storage.NoticeDead, 1, 410}, []any{n.State, n.Attempts, n.Status})

	// Another collector's attempt was recorded meanwhile: this one's is not, and another is due.
	n.State, n.Attempts = storage.NoticePending, 1
	require.NoError(t, store.UpdateNotice(t.Context(), n, storage.NoticeDead))
	e.engine.unrecorded.Store("n", unrecordedAttempt{n, "dead"})
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Len(t, r.all(), 2)
	n, err = store.Notice(t.Context(), "n")
	require.NoError(t, err)

	n.State, n.Attempts = storage.NoticePending, 0
	require.NoError(t, store.UpdateNotice(t.Context(), n, storage.NoticeDead))
	r.fail.Store(0)
	require.NoError(t, e.engine.sendDue(t.Context(), "n", &hook, now))
	require.Len(t, r.all(), 3)
	n, err = store.Notice(t.Context(), "n")
	require.NoError(t, err)
	require.Equal(t, storage.NoticeDelivered, n.State)
}
