package follow

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/qosrtc/qos/storage"
)

// BenchmarkPublish is what a commit pays for those who follow: busy ones, for whom the
// change is merged, which is the dearer case.
func BenchmarkPublish(b *testing.B) {
	for _, followers := range []int{0, 1, 200} {
		b.Run(strconv.Itoa(followers), func(b *testing.B) {
			h := NewHub()
			ctx, cancel := context.WithCancel(b.Context())
			var busy, done sync.WaitGroup
			busy.Add(followers)
			for range followers {
				done.Go(func() {
					_ = h.Follow(ctx, storage.Filter{}, func(storage.Change) bool { busy.Done(); <-ctx.Done(); return false })
				})
			}
			busy.Wait()
			changes := []storage.Change{change("a", "x", 0, 1, 8)}
			b.ReportAllocs()
			for b.Loop() {
				h.Publish(changes)
			}
			cancel()
			done.Wait()
		})
	}
}
