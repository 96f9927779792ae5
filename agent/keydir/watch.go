package keydir

import (
	"context"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// settle is how long the directory must be quiet, so that a file that is being written
	// is not read by halves.
	settle = 100 * time.Millisecond
	// patience is how long a directory that never is quiet is waited for.
	patience = 2 * time.Second
	// LookAgain is how often the directory is read without a sign from the system: network
	// file systems give none, and neither does a directory that was replaced as a whole.
	LookAgain = 30 * time.Second
)

// Watch follows the directory until ctx ends and returns nil then. It returns an error when
// the system cannot watch at all, as when its watches are used up; Poll and Reload still work.
// Renames and links count, Kubernetes' "..data" among them.
func (d *Dir) Watch(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the key directory: %w", err)
	}
	defer watcher.Close() //nolint:errcheck // the descriptor goes with it
	if err := watcher.Add(d.path); err != nil {
		return fmt.Errorf("watch the key directory: %w", err)
	}
	_ = d.Reload() // what changed before the watch stood; it reports by itself
	d.follow(ctx, watcher)
	return nil
}

// Poll looks at the directory each LookAgain until ctx ends: where Watch cannot.
func (d *Dir) Poll(ctx context.Context) {
	again := time.NewTicker(LookAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			_ = d.Reload() // it reports by itself
		}
	}
}

func (d *Dir) follow(ctx context.Context, watcher *fsnotify.Watcher) {
	again := time.NewTicker(LookAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			// A directory that was replaced has lost its watch; for one that was not this
			// changes nothing. Where it fails, Reload says what there is to say.
			_ = watcher.Add(d.path)
		case <-watcher.Events:
			d.quiet(ctx, watcher)
		case <-watcher.Errors: //nolint:errcheck // events were lost, so the directory is read: the best there is
		}
		_ = d.Reload() // it reports by itself
	}
}

// quiet returns when nothing has happened for a while.
func (d *Dir) quiet(ctx context.Context, watcher *fsnotify.Watcher) {
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	still := time.NewTimer(settle)
	defer still.Stop()
	for {
		select {
		case <-watcher.Events:
			still.Reset(settle)
		case <-still.C:
			return
		case <-deadline.C:
			return
		case <-ctx.Done():
			return
		}
	}
}
