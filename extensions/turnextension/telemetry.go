package turnextension

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/extensions/turnextension/internal/relay"
	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// observe reports the counts of the embedded server when they are read, until the telemetry is shut down.
// They begin at 0, also without a server.
func (s *servers) observe() error {
	t, c := s.telemetry, s.counts
	return errors.Join(
		t.RegisterQosturnActiveAllocationsCallback(func(_ context.Context, o metric.Int64Observer) error {
			for _, kind := range []turnrest.Kind{turnrest.Test, turnrest.Call} {
				held := 0
				if server := s.embedded.Load(); server != nil {
					held = server.Held(kind)
				}
				o.Observe(int64(held), with("kind", kind))
			}
			return nil
		}),
		t.RegisterQosturnAllocationsCallback(func(_ context.Context, o metric.Int64Observer) error {
			for made, n := range c.Allocations {
				o.Observe(n.Load(), with("kind", made.Kind), with("transport", made.Transport))
			}
			return nil
		}),
		t.RegisterQosturnAuthenticationsCallback(each("outcome", c.Authentications)),
		t.RegisterQosturnDroppedPacketsCallback(each("reason", c.Dropped)),
		t.RegisterQosturnEndedAllocationsCallback(each("reason", c.Ended)),
		t.RegisterQosturnRefusedAllocationsCallback(each("reason", c.Refused)),
		t.RegisterQosturnRefusedConnectionsCallback(each("scope", c.Connections)),
		t.RegisterQosturnRefusedPermissionsCallback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(c.Permissions.Load())
			return nil
		}),
		t.RegisterQosturnRelayedCallback(func(_ context.Context, o metric.Int64Observer) error {
			for flow, n := range c.Bytes {
				o.Observe(n.Load(), with("kind", flow.Kind), with("direction", flow.Direction))
			}
			return nil
		}),
	)
}

func with[T ~string](name string, value T) metric.MeasurementOption {
	return metric.WithAttributes(attribute.String(name, string(value)))
}

// each observes a counter by its one attribute.
func each[T ~string](name string, c relay.Counter[T]) metric.Int64Callback {
	return func(_ context.Context, o metric.Int64Observer) error {
		for value, n := range c {
			o.Observe(n.Load(), with(name, value))
		}
		return nil
	}
}
