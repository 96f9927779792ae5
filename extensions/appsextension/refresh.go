package appsextension

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/serve/periodic"
	"github.com/qosrtc/qos/storage"
)

const (
	// pollInterval is how often the store is asked whether anything changed, and files are
	// looked at: with what a read takes, a change is in force within 2 s.
	pollInterval = time.Second
	// pollTimeout bounds one poll, so that files are looked at while the store hangs.
	pollTimeout = 2 * time.Second
)

// kindApp is the kind of setting that holds apps, by AppID.
const kindApp = "app"

// What may fail; each is logged once until it works again.
const (
	troubleStore = "store"
	troubleFiles = "configuration"
)

// run starts the goroutines that keep the apps, the last uses and the bytes of the day up to date.
func (r *registry) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.wg.Go(func() { r.poll(ctx) })
	if r.settings != nil {
		r.wg.Go(func() { writeEvery(ctx, usesInterval, r.writeUses) })
		r.wg.Go(func() { writeEvery(ctx, bytesInterval, r.writeBytes) })
	}
	if r.remover != nil {
		r.retaining = periodic.Start(retentionInterval, r.removeOld)
	}
}

func (r *registry) poll(ctx context.Context) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.kick:
		case <-ctx.Done():
			return
		}
		r.refresh(ctx, time.Now())
	}
}

// writeEvery calls write until the context ends, and once more then.
func writeEvery(ctx context.Context, interval time.Duration, write func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			one, cancel := context.WithTimeout(ctx, interval/2)
			write(one)
			cancel()
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), pollTimeout)
			write(last)
			cancel()
			return
		}
	}
}

// soon lets the next poll come at once.
func (r *registry) soon() {
	select {
	case r.kick <- struct{}{}:
	default: // it comes already
	}
}

// refresh takes what changed. What cannot be read stays as it was.
func (r *registry) refresh(ctx context.Context, now time.Time) {
	if r.declared.failing || r.declared.files.changed() {
		apps, err := r.declared.load()
		r.declared.failing = err != nil
		if err == nil {
			r.catalogue.declare(apps)
		}
		r.tell(ctx, troubleFiles, err)
	}
	if r.management != nil {
		r.management.tokens.refresh(r.logger)
	}
	r.tell(ctx, troubleStore, r.readStore(ctx))
	r.publish(now)
}

// readStore takes what changed in the store.
func (r *registry) readStore(ctx context.Context) error {
	if r.settings == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	revision, err := r.settings.SettingsRevision(ctx)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if revision != r.catalogue.seen {
		if err := r.readChanges(ctx, revision); err != nil {
			return fmt.Errorf("storage: %w", err)
		}
	}
	r.refreshed.Store(time.Now().UnixMilli())
	return nil
}

// readChanges reads everything where the store went back: it was restored from a copy.
func (r *registry) readChanges(ctx context.Context, revision int64) error {
	if revision > r.catalogue.seen {
		changes, err := r.settings.SettingsSince(ctx, kindApp, r.catalogue.seen)
		if err != nil || r.catalogue.merge(changes) {
			return err
		}
	}
	all, err := r.settings.SettingsSince(ctx, kindApp, 0)
	if err == nil {
		r.catalogue.replace(all)
	}
	return err
}

func (r *registry) publish(now time.Time) { r.now.Store(r.catalogue.next(now, r.now.Load())) }

// tell logs a trouble when it begins and when it ends, and counts it each time.
func (r *registry) tell(ctx context.Context, what string, err error) {
	switch {
	case ctx.Err() != nil: // the collector stops
	case err != nil:
		r.telemetry.QosappsRefreshFailures.Add(ctx, 1, sourceOf(what))
		if !r.troubles[what] {
			r.logger.Error("apps cannot be brought up to date; those that are known go on", zap.String("from", what), zap.Error(err))
		}
		r.troubles[what] = true
	case r.troubles[what]:
		r.logger.Info("apps are up to date again", zap.String("from", what))
		delete(r.troubles, what)
	}
}

// reseal seals secrets anew that an older master key sealed, so that it can be taken away.
// It runs once, at the start: collectors that disagree about the newest key would go on
// for ever.
func (r *registry) reseal(ctx context.Context) {
	for id, stored := range r.catalogue.stored {
		if stored.broken {
			continue
		}
		doc := stored.doc.Clone()
		if !doc.Reseal(id, r.vault) {
			continue
		}
		_, err := r.put(ctx, id, doc, stored.revision, time.Now())
		switch {
		case err == nil:
			r.logger.Info("sealed the secrets of an app with the newest key", zap.String("app", id))
		case !errors.Is(err, storage.ErrConflict):
			r.logger.Error("the secrets of an app could not be sealed with the newest key", zap.String("app", id), zap.Error(err))
		}
	}
}
