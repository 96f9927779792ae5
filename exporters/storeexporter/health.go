package storeexporter

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer/consumererror"
)

// health reports to the host when writing begins to fail and when it works again, for the health
// check. Invalid records and canceled calls do not change the health of the store.
type health struct {
	host component.Host

	mu      sync.Mutex
	failing bool
}

// record records the result of a write.
func (h *health) record(err error) {
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
