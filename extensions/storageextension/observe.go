package storageextension

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// observe shows who follow the store, until the telemetry is shut down.
func (s *store) observe(db engine) error {
	return errors.Join(
		s.telemetry.RegisterQosstorageFollowersCallback(func(_ context.Context, o metric.Int64Observer) error {
			followers, _ := db.Following()
			o.Observe(int64(followers))
			return nil
		}),
		s.telemetry.RegisterQosstorageFollowOverflowsCallback(func(_ context.Context, o metric.Int64Observer) error {
			_, overflows := db.Following()
			o.Observe(overflows)
			return nil
		}),
	)
}
