package storageextension

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/storage"
)

const (
	// retentionInterval is the time between two runs: short against any sensible retention.
	retentionInterval = time.Hour
	// packInterval is short against the time for which a conference stays loose.
	packInterval = time.Minute
	// hoursInterval is the time without a change of an hour before its columns are made.
	hoursInterval = 5 * time.Minute
	// hoursAfter is the time from the end of an hour until it is marked. Most calls that started in it have ended by then.
	hoursAfter = time.Hour
	// erasureInterval is short against what an operator waits for. Without an erasure a run is one small read.
	erasureInterval = 5 * time.Second
)

// keeper is what an engine does to what it holds. Both work in small steps between the
// writes, and go on with the next call where they were stopped.
type keeper interface {
	storage.Remover
	storage.HourMaker
	Pack(ctx context.Context, before time.Time) (storage.Packed, error)
}

// keep starts the housekeeping of a store.
func (s *store) keep(db keeper) {
	if after := s.cfg.Retention; after > 0 {
		s.tasks = append(s.tasks, periodic.Start(retentionInterval, func(ctx context.Context, now time.Time) {
			n, err := db.DeleteBefore(ctx, now.Add(-after))
			s.deleted(ctx, n, unlessStopped(ctx, err))
		}))
	}
	if db, ok := db.(trimmer); ok && s.cfg.MaxSizeMiB > 0 {
		s.tasks = append(s.tasks, periodic.Start(trimInterval, func(ctx context.Context, now time.Time) {
			n, err := trim(ctx, db, s.cfg.MaxSizeMiB<<20, now)
			s.deleted(ctx, n, unlessStopped(ctx, err))
		}))
	}
	if after := s.cfg.PackAfter; after > 0 {
		s.tasks = append(s.tasks, periodic.Start(packInterval, func(ctx context.Context, now time.Time) {
			p, err := db.Pack(ctx, now.Add(-after))
			s.packed(ctx, p, unlessStopped(ctx, err))
		}))
	}
	s.tasks = append(s.tasks, periodic.Start(hoursInterval, func(ctx context.Context, now time.Time) {
		n, err := db.MakeHours(ctx, now.Add(-hoursAfter))
		s.hours(ctx, n, unlessStopped(ctx, err))
	}))
}

// erase starts the erasures of a store: those that are registered, and those that a stopped process left.
func (s *store) erase(db storage.Users) {
	s.tasks = append(s.tasks, periodic.Start(erasureInterval, func(ctx context.Context, _ time.Time) {
		n, err := db.RunErasures(ctx)
		s.erased(ctx, n, unlessStopped(ctx, err))
	}))
}

// erased takes down what one run of the erasures did.
func (s *store) erased(ctx context.Context, n int, err error) {
	s.telemetry.QosstorageErasures.Add(ctx, int64(n))
	if err != nil {
		s.telemetry.QosstorageErasureFailures.Add(ctx, 1)
		s.logger.Error("erasures could not all be completed; the next run continues", zap.Int("completed", n), zap.Error(err))
	} else if n > 0 {
		s.logger.Info("erasures completed", zap.Int("completed", n))
	}
}

// unlessStopped is err, but stopping is no failure.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// deleted takes down what one run of the retention did.
func (s *store) deleted(ctx context.Context, n int, err error) {
	s.telemetry.QosstorageDeletedConferences.Add(ctx, int64(n))
	if err != nil {
		s.telemetry.QosstorageRetentionFailures.Add(ctx, 1)
		s.logger.Error("the retention could not delete all old conferences", zap.Int("deleted", n), zap.Error(err))
	} else if n > 0 {
		s.logger.Info("the retention deleted old conferences", zap.Int("deleted", n))
	}
}

// hours records one run of MakeHours. Pages about hours without columns read each digest, which takes longer.
func (s *store) hours(ctx context.Context, n int, err error) {
	s.telemetry.QosstorageHourWrites.Add(ctx, int64(n))
	if err != nil {
		s.telemetry.QosstorageHourFailures.Add(ctx, 1)
		s.logger.Warn("the columns of ended hours could not all be made; the next run continues", zap.Int("made", n), zap.Error(err))
	}
}

// packed takes down what one run of the packing did.
func (s *store) packed(ctx context.Context, p storage.Packed, err error) {
	s.telemetry.QosstoragePackedConferences.Add(ctx, int64(p.Conferences))
	s.telemetry.QosstoragePackedRecords.Add(ctx, int64(p.Records))
	s.telemetry.QosstoragePackedBytes.Add(ctx, p.Bytes)
	if err != nil {
		s.telemetry.QosstoragePackFailures.Add(ctx, 1)
		s.logger.Error("ended conferences could not all be packed", zap.Int("packed", p.Conferences), zap.Error(err))
	}
}
