package sqlite

import (
	"context"

	"github.com/qosrtc/qos/storage"
)

// Follow implements storage.Follower. All commits are made by this process, which holds
// the lock of the store, so the only gaps are those of slow followers.
func (s *Store) Follow(ctx context.Context, f storage.Filter, yield func(storage.Change) bool) error {
	if err := s.hub.Follow(ctx, f, yield); err != nil {
		return s.wrap("follow", err)
	}
	return nil
}

// Following returns the number of followers, and how many times a follower's queue overflowed into a
// CatchUp.
func (s *Store) Following() (followers int, overflows int64) {
	return s.hub.Followers(), s.hub.Overflows()
}
