package main

import (
	"context"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/processor"

	"github.com/qosrtc/qos/exporters/storeexporter"
	"github.com/qosrtc/qos/processors/qualityprocessor"
	"github.com/qosrtc/qos/storage"
)

// pipeline is the two components that make a measurement what the store gets, and catches
// what would be written.
type pipeline struct {
	ctx      context.Context
	first    processor.Logs
	last     exporter.Logs
	captured []storage.Batch
}

func startPipeline(ctx context.Context) (p *pipeline, err error) {
	p = &pipeline{ctx: ctx}
	telemetry := componenttest.NewNopTelemetrySettings()
	f := storeexporter.NewFactory()
	p.last, err = f.CreateLogs(ctx, exporter.Settings{ID: component.NewID(f.Type()), TelemetrySettings: telemetry}, f.CreateDefaultConfig())
	if err != nil {
		return nil, err
	}
	if err := p.last.Start(ctx, host{component.MustNewID("qosstorage"): catcher{pipeline: p}}); err != nil {
		return nil, err
	}
	q := qualityprocessor.NewFactory()
	p.first, err = q.CreateLogs(ctx, processor.Settings{ID: component.NewID(q.Type()), TelemetrySettings: telemetry}, q.CreateDefaultConfig(), p.last)
	if err != nil {
		return nil, err
	}
	return p, p.first.Start(ctx, host{})
}

func (p *pipeline) stop() error {
	if err := p.first.Shutdown(p.ctx); err != nil {
		return err
	}
	return p.last.Shutdown(p.ctx)
}

// frame returns what the store gets of a person's next measurement.
func (p *pipeline) frame(who *person) (storage.Batch, error) {
	p.captured = p.captured[:0]
	if err := p.first.ConsumeLogs(p.ctx, who.measure()); err != nil {
		return storage.Batch{}, err
	}
	return p.captured[0], nil
}

type host map[component.ID]component.Component

// GetExtensions implements component.Host.
func (h host) GetExtensions() map[component.ID]component.Component { return h }

// catcher stands where the storage extension does.
type catcher struct {
	component.StartFunc
	component.ShutdownFunc
	pipeline *pipeline
}

// Writer is what the exporter asks for.
func (c catcher) Writer() storage.Writer { return c }

// Append implements storage.Writer.
func (c catcher) Append(_ context.Context, batches []storage.Batch) (storage.Appended, error) {
	c.pipeline.captured = append(c.pipeline.captured, batches...)
	return storage.Appended{}, nil
}

// PutSummary implements storage.Writer. Nobody makes summaries here.
func (c catcher) PutSummary(context.Context, storage.Summary) error { return nil }
