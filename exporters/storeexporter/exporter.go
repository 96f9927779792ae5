package storeexporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/qosrtc/qos/exporters/storeexporter/internal/metadata"
	"github.com/qosrtc/qos/storage"
)

// storageExtension is the part of a storage extension that the exporter uses.
type storageExtension interface {
	Writer() storage.Writer
}

type storeExporter struct {
	storage       component.ID
	logger        *zap.Logger
	telemetry     *metadata.TelemetryBuilder
	writer        storage.Writer
	health        health
	loggedReasons sync.Map // skip reasons that were logged
}

func (e *storeExporter) start(_ context.Context, host component.Host) error {
	extension, ok := host.GetExtensions()[e.storage]
	if !ok {
		return fmt.Errorf("storage %q: no such extension; list it under service::extensions", e.storage)
	}
	store, ok := extension.(storageExtension)
	if !ok {
		return fmt.Errorf("storage %q is no storage extension", e.storage)
	}
	if e.writer = store.Writer(); e.writer == nil {
		return fmt.Errorf("storage %q has not started", e.storage)
	}
	e.health.host = host
	return nil
}

func (e *storeExporter) shutdown(context.Context) error {
	e.telemetry.Shutdown()
	return nil
}

// consume writes the records and reports the health of the store.
func (e *storeExporter) consume(ctx context.Context, logs plog.Logs) error {
	t := translate(logs)
	err := e.write(ctx, t)
	if len(t.batches)+len(t.summaries)+len(t.preCalls) > 0 {
		e.health.record(err)
	}
	return err
}

// write writes the records, then the pre-call tests and the summaries. After a partial failure all may be sent again:
// the store counts a record once.
func (e *storeExporter) write(ctx context.Context, t translation) error {
	if len(t.batches) > 0 {
		done, err := e.writer.Append(ctx, t.batches)
		e.telemetry.QosstoreWrittenRecords.Add(ctx, int64(done.New)) // on error, too: of the part that was written
		e.telemetry.QosstoreDuplicateRecords.Add(ctx, int64(done.Duplicates))
		e.telemetry.QosstoreDroppedSearchTerms.Add(ctx, int64(done.TermsDropped))
		if err != nil {
			return classify(err)
		}
	}
	if len(t.preCalls) > 0 {
		done, err := e.writer.AppendPreCalls(ctx, t.preCalls)
		if err != nil {
			return classify(err)
		}
		e.telemetry.QosstoreWrittenRecords.Add(ctx, int64(done.New))
		e.telemetry.QosstoreDuplicateRecords.Add(ctx, int64(done.Duplicates))
	}
	e.report(ctx, t.skipped) // after the writes: a failed call is repeated, and would count them again
	for some := range slices.Chunk(t.summaries, summariesAtOnce) {
		if err := e.putSummaries(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

// summariesAtOnce is the number of summaries that are written at the same time. They share transactions, each of which
// waits a moment for others to join.
const summariesAtOnce = 32

func (e *storeExporter) putSummaries(ctx context.Context, some []storage.Summary) error {
	errs := make([]error, len(some))
	var wg sync.WaitGroup
	for i := range some {
		wg.Go(func() { errs[i] = e.putSummary(ctx, some[i]) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *storeExporter) putSummary(ctx context.Context, s storage.Summary) error {
	err := e.writer.PutSummary(ctx, s)
	switch {
	case errors.Is(err, storage.ErrNotFound): // deleted since: its records are written before it
		e.report(ctx, map[reason]skip{reasonNoSuchConference: {1, "summary", "a span without a conference"}})
		return nil
	case err != nil:
		return classify(err)
	}
	e.telemetry.QosstoreWrittenSummaries.Add(ctx, 1)
	return nil
}

// classify marks errors of records that can never be written as permanent.
func classify(err error) error {
	if errors.Is(err, storage.ErrInvalid) {
		return consumererror.NewPermanent(err)
	}
	return err
}

// report counts the skipped records and logs each reason once, so that a faulty sender does not fill
// the log.
func (e *storeExporter) report(ctx context.Context, skipped map[reason]skip) {
	for why, s := range skipped {
		e.telemetry.QosstoreRejectedRecords.Add(ctx, s.count, metric.WithAttributes(attribute.String("reason", string(why))))
		if why == reasonNoConference {
			continue
		}
		if _, before := e.loggedReasons.LoadOrStore(why, true); !before {
			e.logger.Warn("records that cannot be stored are skipped; further ones are only counted (qosstore_rejected_records)",
				zap.String("field", s.field), zap.String("found", s.found))
		}
	}
}
