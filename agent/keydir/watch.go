package keydir

import (
	"context"
	"time"
)

const (
	// Interval is how often the directory is read.
	Interval = time.Second
	// settle is the time between the first sight of a change and its use, so that a file that is
	// being written is not read by halves.
	settle = 100 * time.Millisecond
)

// Watch follows the directory until ctx ends. A change is seen within Interval in every form and on
// every file system: a file that is written, renamed over, a link, a directory that is replaced.
func (d *Dir) Watch(ctx context.Context) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		if key, err := d.load(); err != nil || d.Failed() || !key.Equal(d.Current()) {
			select {
			case <-time.After(settle):
			case <-ctx.Done():
			}
			_ = d.Reload() // it reports by itself
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
