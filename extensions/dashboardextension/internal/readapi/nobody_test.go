//go:build !fuzz

package readapi

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/storage"
)

// counted is a store that counts what it is asked, and hands out changes.
type counted struct {
	*memory
	mu        sync.Mutex
	queries   int
	followers int
	ended     chan struct{} // gets one value when a follower ends
	changes   chan storage.Change
}

func (c *counted) Reader() storage.Reader     { return c }
func (c *counted) Follower() storage.Follower { return c }

func (c *counted) count(queries, followers int) (int, int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queries += queries
	c.followers += followers
	return c.queries, c.followers
}

func (c *counted) Conferences(ctx context.Context, q storage.Query) (storage.Page, error) {
	c.count(1, 0)
	return c.memory.Conferences(ctx, q)
}

func (c *counted) Conference(ctx context.Context, ref storage.Ref) (storage.Conference, error) {
	c.count(1, 0)
	return c.memory.Conference(ctx, ref)
}

func (c *counted) Records(ctx context.Context, ref storage.Ref, yield func(string, storage.Record) bool) error {
	c.count(1, 0)
	return c.memory.Records(ctx, ref, yield)
}

func (c *counted) Digests(ctx context.Context, q storage.DigestQuery, yield func(storage.Digest) bool) error {
	c.count(1, 0)
	return c.memory.Digests(ctx, q, yield)
}

func (c *counted) Follow(ctx context.Context, _ storage.Filter, yield func(storage.Change) bool) error {
	c.count(0, 1)
	defer func() { c.count(0, -1); c.ended <- struct{}{} }()
	if !yield(storage.Change{CatchUp: true}) {
		return ctx.Err()
	}
	for {
		select {
		case change := <-c.changes:
			if !yield(change) {
				return ctx.Err()
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// TestNobodyLooks: without an open page nobody follows the store and nothing queries it, and a stream by itself queries nothing.
//
// spec: DASH-05
func TestNobodyLooks(t *testing.T) {
	m := &memory{}
	twoParty(m)
	c := &counted{memory: m, ended: make(chan struct{}, 8), changes: make(chan storage.Change)}
	base := startOn(t, c, nil)
	queries, followers := c.count(0, 0)
	require.Zero(t, queries)
	require.Zero(t, followers)

	e := openEvents(t, base, "?app=demo")
	c.changes <- storage.Change{AppID: "demo", ConferenceID: "stand up/1", From: t0, To: t0, Records: 1}
	require.Contains(t, e.next(), `"records":1`)
	queries, followers = c.count(0, 0)
	require.Zero(t, queries, "a change is not a query")
	require.Equal(t, 1, followers)

	require.NoError(t, e.body.Close())
	<-c.ended
	_, followers = c.count(0, 0)
	require.Zero(t, followers, "a page that is closed or hidden")
}
