package sqlite

import (
	"context"

	"github.com/qosrtc/qos/storage"
)

// Follow implements storage.Follower. All commits are this process's own, for it holds
// the store alone, so that there is never a gap but by a follower's own slowness.
func (s *Store) Follow(ctx context.Context, f storage.Filter, yield func(storage.Change) bool) error {
	if err := s.hub.Follow(ctx, f, yield); err != nil {
		return s.wrap("follow", err)
	}
	return nil
}

// Following returns how many follow the store now, and how often one was so slow that what
// waited for it became a CatchUp.
func (s *Store) Following() (followers int, overflows int64) {
	return s.hub.Followers(), s.hub.Overflows()
}
