package storageextension

import (
	"context"
	"fmt"
	"time"

	"github.com/qosrtc/qos/storage"
)

const (
	// trimInterval is the time between two comparisons of a store's size with its limit.
	trimInterval = 5 * time.Minute
	// trimStep is the least time whose conferences are deleted at once, and trimParts the parts of all the time.
	trimStep  = 10 * time.Minute
	trimParts = 50
	// trimKept is the time whose conferences are never deleted for the store's size.
	trimKept = time.Hour
)

// trimmer is an engine whose size can be limited.
type trimmer interface {
	storage.Remover
	Size(ctx context.Context) (bytes int64, err error)
	// Oldest returns the end of the conference that ended first, or storage.ErrNotFound.
	Oldest(ctx context.Context) (time.Time, error)
}

// trim deletes the conferences that ended first until the store takes at most maxBytes. It returns the number of
// those deleted, and an error if the conferences of the last hour alone take more.
func trim(ctx context.Context, db trimmer, maxBytes int64, now time.Time) (deleted int, err error) {
	for {
		size, err := db.Size(ctx)
		if err != nil || size <= maxBytes {
			return deleted, err
		}
		oldest, err := db.Oldest(ctx)
		if err != nil {
			return deleted, err
		}
		before := oldest.Add(max(trimStep, now.Sub(oldest)/trimParts))
		if kept := now.Add(-trimKept); before.After(kept) {
			before = kept
		}
		if before.UnixMilli() <= oldest.UnixMilli() { // what ended at that time stays
			return deleted, fmt.Errorf("the store takes %d bytes, of at most %d, and all its conferences ended in the last %s", size, maxBytes, trimKept)
		}
		n, err := db.DeleteBefore(ctx, before)
		deleted += n
		if err != nil {
			return deleted, err
		}
	}
}
