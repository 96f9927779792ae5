package timeseriesexporter

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pipeline"
	"google.golang.org/protobuf/encoding/protowire"
)

// The state that a persistent queue of the exporter helper stores: its key, and the field numbers
// of the message (PersistentMetadata).
const (
	queueStateKey = "qmv0"

	queueReadIndex  protowire.Number = 3
	queueDispatched protowire.Number = 5
)

// restoreOrder makes the request that was in flight when the collector ended the next one of its
// persistent queue. The exporter helper appends it to the others, and a store refuses
// samples that are older than those before.
func restoreOrder(ctx context.Context, host component.Host, storageID, exporterID component.ID) (err error) {
	extension, ok := host.GetExtensions()[storageID].(storage.Extension)
	if !ok {
		return nil // the queue reports it
	}
	client, err := extension.GetClient(ctx, component.KindExporter, exporterID, pipeline.SignalMetrics.String())
	if err != nil {
		return fmt.Errorf("storage %q: %w", storageID, err)
	}
	defer func() { err = errors.Join(err, client.Close(ctx)) }()
	state, err := client.Get(ctx, queueStateKey)
	if err != nil {
		return fmt.Errorf("storage %q: %w", storageID, err)
	}
	if ordered, ok := undispatch(state); ok {
		err = client.Set(ctx, queueStateKey, ordered)
	}
	return err
}

// undispatch returns the state of a queue whose request in flight is the next one. It reports false
// where there is none, and for a state that a queue of one consumer cannot have.
func undispatch(state []byte) (ordered []byte, ok bool) {
	var next, inFlight uint64
	requests := 0
	for rest := state; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return nil, false
		}
		size := protowire.ConsumeFieldValue(number, kind, rest[n:])
		if size < 0 {
			return nil, false
		}
		value := rest[n : n+size]
		switch {
		case number == queueReadIndex && kind == protowire.Fixed64Type:
			next, _ = protowire.ConsumeFixed64(value)
		case number == queueDispatched && kind == protowire.BytesType:
			list, _ := protowire.ConsumeBytes(value)
			requests += len(list)
			inFlight, _ = protowire.ConsumeFixed64(list)
		case number == queueReadIndex || number == queueDispatched:
			return nil, false
		default:
			ordered = append(ordered, rest[:n+size]...)
		}
		rest = rest[n+size:]
	}
	const indexBytes = 8
	if requests != indexBytes || inFlight+1 != next {
		return nil, false
	}
	ordered = protowire.AppendTag(ordered, queueReadIndex, protowire.Fixed64Type)
	return protowire.AppendFixed64(ordered, inFlight), true
}
