package storeexporter

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"

	"github.com/qosrtc/qos/storage"
)

// reported is a host that takes down what components say of themselves.
type reported struct {
	component.Host
	events []componentstatus.Status
}

func (r *reported) Report(e *componentstatus.Event) { r.events = append(r.events, e.Status()) }

func TestHealthIsReportedOnceAChange(t *testing.T) {
	host := &reported{}
	h := &health{host: host}
	away := errors.New("the database is away")
	for _, err := range []error{
		nil, nil, context.Canceled,
		away, away, classify(fmt.Errorf("long id: %w", storage.ErrInvalid)), context.Canceled, context.DeadlineExceeded,
		nil, nil, away,
	} {
		h.record(err)
	}
	require.Equal(t, []componentstatus.Status{
		componentstatus.StatusRecoverableError, componentstatus.StatusOK, componentstatus.StatusRecoverableError,
	}, host.events)
}
