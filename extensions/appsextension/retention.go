package appsextension

import (
	"context"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"
)

// retentionInterval is the time between two runs, as the store's own: short against any retention.
const retentionInterval = time.Hour

// removeOld deletes the old conferences of apps that have a retention of their own. An app whose conferences cannot be deleted keeps those of no other.
func (r *registry) removeOld(ctx context.Context, now time.Time) {
	apps := r.now.Load().apps
	for _, id := range slices.Sorted(maps.Keys(apps)) {
		hours := apps[id].App.RetentionHours
		if hours == 0 || ctx.Err() != nil {
			continue
		}
		n, err := r.remover.DeleteAppBefore(ctx, id, now.Add(-time.Duration(hours)*time.Hour))
		r.telemetry.QosappsRetentionDeleted.Add(ctx, int64(n))
		switch {
		case err != nil && ctx.Err() == nil:
			r.telemetry.QosappsRetentionFailures.Add(ctx, 1)
			r.logger.Error("the old conferences of an app could not all be deleted", zap.String("app", id), zap.Int("deleted", n), zap.Error(err))
		case n > 0:
			r.logger.Info("the old conferences of an app were deleted", zap.String("app", id), zap.Int("deleted", n))
		}
	}
}
