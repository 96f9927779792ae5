package webhookexporter

import (
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// Whatever attempts begin, last and end: a URL has one, an app's first of fast and of slow URLs begin at once, the others
// are bounded, and nothing remains of attempts that ended.
//
// spec: OUT-03
func TestSlots(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s, under, lasts, isSlow := newSlots(), map[target]bool{}, map[target]bool{}, map[target]bool{}
		began := map[target]bool{} // whether it began as one of a slow URL
		apps := rapid.IntRange(1, 400).Draw(r, "apps")
		for range rapid.IntRange(1, 2000).Draw(r, "steps") {
			one := target{fmt.Sprint("app", rapid.IntRange(0, apps-1).Draw(r, "app")), strconv.Itoa(rapid.IntRange(0, 15).Draw(r, "url"))}
			switch rapid.IntRange(0, 5).Draw(r, "step") {
			case 0:
				s.markSlow(one)
				lasts[one] = under[one]
			case 1:
				s.end(one, time.Unix(1, 0))
				if under[one] {
					isSlow[one] = lasts[one]
				}
				delete(under, one)
				delete(lasts, one)
				require.Equal(r, isSlow[one], !s.slowSince(one).IsZero())
			default:
				same, all := 0, 0
				for other := range under {
					if (began[other] || lasts[other]) == isSlow[one] {
						all++
						if other.app == one.app {
							same++
						}
					}
				}
				require.Equal(r, !under[one] && (same == 0 || all < maxSending), s.begin(one), "%v: %d of the app, %d of all", one, same, all)
				if !under[one] && (same == 0 || all < maxSending) {
					under[one], began[one] = true, isSlow[one]
				}
			}
		}
		for one := range under {
			s.end(one, time.Unix(1, 0))
		}
		require.Empty(r, s.attempts)
		for _, p := range s.pools {
			require.Zero(r, p.all)
			require.Empty(r, p.apps)
		}
	})
}

// The number of slow URLs that are known is bounded.
//
// spec: OUT-03
func TestSlowURLsAreBounded(t *testing.T) {
	s := newSlots()
	for i := range maxSlow + 10 {
		one := target{"demo", strconv.Itoa(i)}
		require.True(t, s.begin(one))
		s.markSlow(one)
		s.end(one, time.Unix(int64(i), 0))
		require.False(t, s.slowSince(one).IsZero())
	}
	require.Len(t, s.slow, maxSlow)
}

// crowd is apps with 16 dead webhooks each, and one of a healthy webhook.
type crowd struct {
	apps

	of map[string][]notice.Hook
}

const healthyURL = "https://healthy.example/"

func (c crowd) Webhooks(app string) []notice.Hook { return c.of[app] }

func deadURL(i int) string { return fmt.Sprint("https://dead.example/", i) }

// newCrowd returns apps with n dead webhooks.
func newCrowd(n int) crowd {
	c := crowd{of: map[string][]notice.Hook{"healthy": {{ID: "h", URL: healthyURL, Secrets: []string{secret}}}}}
	for i := range n {
		app := fmt.Sprintf("dead%03d", i/16)
		c.of[app] = append(c.of[app], notice.Hook{ID: fmt.Sprint("h", i%16), URL: deadURL(i), Secrets: []string{secret}})
	}
	return c
}

// pending queues notices of each dead webhook, and of the healthy one.
func (c crowd) pending(tb testing.TB, store storage.Notices, dead, healthy int, now time.Time) {
	tb.Helper()
	var notices []storage.Notice
	for app, hooks := range c.of {
		for _, hook := range hooks {
			n := dead
			if app == "healthy" {
				n = healthy
			}
			for i := range n {
				notices = append(notices, newNotice(fmt.Sprint(app, hook.ID, i), app, hook.ID, notice.Message{AppID: app}, now)...)
			}
		}
	}
	_, err := store.AddNotices(tb.Context(), notices, 99)
	require.NoError(tb, err)
}

// network answers the healthy URL at once, and dead ones when their hang ends, without a status.
type network struct{ hang atomic.Pointer[chan struct{}] }

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.String() == healthyURL {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}
	select {
	case <-*n.hang.Load():
	case <-r.Context().Done():
	}
	return nil, http.ErrServerClosed
}

// 1,000 dead URLs hold all slots that are not of single apps, at first those of fast and then those of slow URLs. A healthy
// URL has its attempt in the tick in which it is due.
//
// spec: OUT-03
func TestDeadURLsHoldNoSlotOfOtherApps(t *testing.T) {
	const dead = 1000
	c, now, n := newCrowd(dead), time.Now(), &network{}
	own := len(c.of) - 1
	e, store := stopped(t, apps{}, nil)
	e.apps, e.engine.client = c, &client{&http.Client{Transport: n}}
	c.pending(t, store, 3, 90, now.Add(-time.Hour))
	s := e.engine.slots
	count := func(at int) int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pools[at].all
	}
	hang := make(chan struct{})
	n.hang.Store(&hang)
	delivered := storage.NoticeDelivered
	healthy := target{"healthy", healthyURL}
	tick := func() { // in which a healthy notice is sent
		t.Helper()
		before, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "healthy", State: &delivered})
		require.NoError(t, err)
		require.NoError(t, e.engine.deliver(t.Context(), now))
		require.Eventually(t, func() bool { // its answer is recorded soon
			after, err := store.NoticesPage(t.Context(), storage.NoticeQuery{AppID: "healthy", State: &delivered})
			s.mu.Lock()
			defer s.mu.Unlock()
			return err == nil && len(after) > len(before) && s.attempts[healthy] == nil
		}, time.Minute, time.Millisecond)
	}
	tick()
	require.GreaterOrEqual(t, count(fastPool)+count(slowPool), maxSending)
	tick()
	for count(slowPool) < dead { // each lasts for patience
		for at := range dead {
			s.markSlow(target{fmt.Sprintf("dead%03d", at/16), deadURL(at)})
		}
		tick()
	}
	tick()
	close(hang)
	e.engine.sending.Wait()

	hang = make(chan struct{})
	n.hang.Store(&hang)
	tick()
	require.Zero(t, count(fastPool), "no dead URL has a slot of fast ones again")
	require.GreaterOrEqual(t, count(slowPool), maxSending)
	require.LessOrEqual(t, count(slowPool), maxSending+own)
	close(hang)
	e.engine.sending.Wait()
}

// known returns the number of URLs that are known to be slow.
func (s *slots) known() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.slow)
}
