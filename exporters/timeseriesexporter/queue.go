package timeseriesexporter

import (
	"context"
	"errors"
	"fmt"
	"slices"

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

// restoreOrder makes the requests that were in flight when the collector ended the next ones of its
// persistent queue. The exporter helper appends them to the others, and a store refuses
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

// undispatch returns the state of a queue whose requests in flight are the next ones. There are several
// if the queue hands out requests while the collector ends: each fails at once. It reports false where
// there is none, where a later request was sent already, and for a state that it does not know.
func undispatch(state []byte) (ordered []byte, ok bool) {
	var next uint64
	var inFlight []uint64
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
			for len(list) > 0 {
				index, size := protowire.ConsumeFixed64(list)
				if size < 0 {
					return nil, false
				}
				inFlight, list = append(inFlight, index), list[size:]
			}
		case number == queueReadIndex || number == queueDispatched:
			return nil, false
		default:
			ordered = append(ordered, rest[:n+size]...)
		}
		rest = rest[n+size:]
	}
	if !endsAt(inFlight, next) {
		return nil, false
	}
	ordered = protowire.AppendTag(ordered, queueReadIndex, protowire.Fixed64Type)
	return protowire.AppendFixed64(ordered, next-uint64(len(inFlight))), true
}

// endsAt reports whether indexes are those before next, in any order and without a gap.
func endsAt(indexes []uint64, next uint64) bool {
	slices.Sort(indexes)
	for i, index := range indexes {
		if index+uint64(len(indexes)-i) != next {
			return false
		}
	}
	return len(indexes) > 0
}
