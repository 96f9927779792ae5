package readapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// Requests wait for room, in their order, and give back what they hold before they wait for more.
func TestReadersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom()
		begin := func() (context.Context, func()) { return r.charged(t.Context()) }
		var ends []func()
		for range maxReading / readingCharge {
			ctx, end := begin()
			require.NoError(t, take(ctx, 0))
			require.NoError(t, take(ctx, readingCharge), "it has that")
			ends = append(ends, end)
		}
		large, endLarge := begin()
		at := time.Now()
		time.AfterFunc(time.Second, ends[0])
		require.NoError(t, take(large, 0))
		require.Equal(t, time.Second, time.Since(at), "it waited for one that ended")

		time.AfterFunc(time.Second, ends[1])
		require.NoError(t, take(large, 2797))
		require.Equal(t, 2*time.Second, time.Since(at), "it gave back what it had")

		late, endLate := begin()
		require.ErrorIs(t, take(late, 0), errBusy)
		require.Equal(t, 2*time.Second+maxReadingWait, time.Since(at))
		gone, cancel := context.WithTimeout(late, time.Second)
		defer cancel()
		require.ErrorIs(t, take(gone, 0), context.DeadlineExceeded)

		endLarge()
		ends[2]()
		require.NoError(t, take(late, 1_000_000), "a conference beyond the room is read alone")
		require.False(t, r.TryAcquire(1))
		endLate()
		require.True(t, r.TryAcquire(maxReading), "all is given back")
	})
}

// crowd is a store with one conference of many participants. It counts the requests that read its records.
type crowd struct {
	*memory
	reading, most atomic.Int32
}

func (c *crowd) Reader() storage.Reader { return c }

func (c *crowd) Records(context.Context, storage.Ref, func(string, storage.Record) bool) error {
	c.most.Store(max(c.most.Load(), c.reading.Add(1)))
	time.Sleep(20 * time.Millisecond) // a second request that is allowed to has begun
	c.reading.Add(-1)
	return nil
}

func (c *crowd) RecordsFrom(ctx context.Context, ref storage.Ref, _ time.Time, yield func(string, storage.Record) bool) error {
	return c.Records(ctx, ref, yield)
}

// Of many requests for a large conference one reads its records at a time, whatever route they take. A conference is large by
// its participants or by the document of its summary.
func TestLargeConferencesAreReadOneByOne(t *testing.T) {
	f := func(participants, document int) {
		t.Helper()
		c := &crowd{memory: &memory{}}
		summary := &storage.Summary{Document: json.RawMessage(`{"text":"` + strings.Repeat("x", document) + `"}`)}
		all := &call{Conference: storage.Conference{AppID: "demo", ConferenceID: "all hands", Start: time.UnixMilli(1000), End: time.UnixMilli(2000), Summary: summary}}
		for n := range participants {
			all.Participants = append(all.Participants, storage.Participant{Session: storage.Session{ID: fmt.Sprintf("01890a5d-ac96-774b-bcce-%012d", n), UserAlias: "a"}})
		}
		c.calls = append(c.calls, all)
		base := startOn(t, c, nil)
		var requests sync.WaitGroup
		statuses := make([]int, 12)
		for n := range statuses {
			requests.Go(func() {
				path := []string{"/api/conference?", "/api/conference/text?", "/api/conference/tail?from=1000&"}[n%3]
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path+"app=demo&id=all%20hands&at=1500", http.NoBody)
				if err != nil {
					return
				}
				for statuses[n] = http.StatusServiceUnavailable; statuses[n] == http.StatusServiceUnavailable; { // its turn took too long
					resp, err := http.DefaultClient.Do(req)
					if err != nil {
						return
					}
					statuses[n] = resp.StatusCode
					_ = resp.Body.Close()
				}
			})
		}
		requests.Wait()
		require.Equal(t, slices.Repeat([]int{http.StatusOK}, 12), statuses)
		require.EqualValues(t, 1, c.most.Load())
	}
	f(2797, 0)
	f(1, 2000*participantDocument)
}
