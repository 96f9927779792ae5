package storeexporter

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
)

// health tells the host when writing begins to fail and when it works again, for the
// health check to show. A record that no store can keep, and a caller who does not wait,
// say nothing of the store.
type health struct {
	host component.Host

	mu      sync.Mutex
	failing bool
}

// seen takes down the outcome of a write.
func (h *health) seen(err error) {
	if errors.Is(err, context.Canceled) || err != nil && consumererror.IsPermanent(err) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	failing := err != nil
	if failing == h.failing {
		return
	}
	h.failing = failing
	if failing {
		componentstatus.ReportStatus(h.host, componentstatus.NewRecoverableErrorEvent(err))
	} else {
		componentstatus.ReportStatus(h.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
