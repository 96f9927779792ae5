package storeexporter

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// newPreCall reads the record of a pre-call test. It omits attributes of a wrong type.
func newPreCall(session storage.Session, r plog.LogRecord) (out storage.PreCall, err error) {
	attributes := r.Attributes()
	seq, index, err := identity(attributes)
	if err != nil {
		return out, err
	}
	out = storage.PreCall{
		Session: session, Seq: seq, Index: index, At: timeOf(r.Timestamp()), ObservedAt: timeOf(r.ObservedTimestamp()), Result: newResult(attributes),
	}
	if r.Timestamp() == 0 {
		out.At = out.ObservedAt
	}
	if r.Timestamp() == 0 && r.ObservedTimestamp() == 0 || !plausible(out.At) {
		return out, &badField{reasonTime, "timestamp", "nothing in 1970 to 9999"}
	}
	return out, nil
}

func newResult(m pcommon.Map) storage.PreCallResult {
	bytes, _ := eventlog.Integer(m, semconv.PreCallBytesSent)
	return storage.PreCallResult{
		Trigger: eventlog.Text(m, semconv.PreCallTrigger), Status: eventlog.Text(m, semconv.PreCallStatus), Reason: eventlog.Text(m, semconv.PreCallReason),
		Interrupted: eventlog.True(m, semconv.PreCallInterrupted), MediaConnectivity: eventlog.True(m, semconv.PreCallMediaConnectivity),
		RTTMs: number(m, semconv.PreCallRTTMs), LossFraction: number(m, semconv.PreCallLossFraction), ThroughputBps: number(m, semconv.PreCallThroughputBps),
		NetworkType: eventlog.Text(m, semconv.PreCallNetworkType), BytesSent: max(0, bytes), DurationMs: eventlog.Number(m, semconv.PreCallDurationMs),
		Providers: entries(m, semconv.PreCallProviders, protocol.MaxProviders, newProvider),
	}
}

func newProvider(m pcommon.Map) storage.PreCallProvider {
	return storage.PreCallProvider{
		Provider: eventlog.Text(m, semconv.ProviderName), Acceptable: eventlog.True(m, semconv.ProviderAcceptable),
		Reason: protocol.PreCallReason(eventlog.Text(m, semconv.ProviderReason)),
		RTTMs:  number(m, semconv.ProviderRTTMs), JitterMs: number(m, semconv.ProviderJitterMs), LossFraction: number(m, semconv.ProviderLossFraction),
		ThroughputBps: number(m, semconv.ProviderThroughputBps),
		Transports:    entries(m, semconv.ProviderTransports, len(protocol.RelayProtocols), newTransport),
	}
}

func newTransport(m pcommon.Map) storage.PreCallTransport {
	return storage.PreCallTransport{
		RelayProtocol: eventlog.Text(m, semconv.TransportProtocol), Connected: eventlog.True(m, semconv.TransportConnected),
		ConnectMs: number(m, semconv.TransportConnectMs), Error: eventlog.Text(m, semconv.TransportError),
	}
}

// entries returns the maps of a list, at most most.
func entries[T any](m pcommon.Map, name string, most int, read func(pcommon.Map) T) (out []T) {
	list, ok := m.Get(name)
	if !ok || list.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	for _, one := range list.Slice().All() {
		if one.Type() == pcommon.ValueTypeMap && len(out) < most {
			out = append(out, read(one.Map()))
		}
	}
	return out
}

// number returns a finite number, nil if there is none.
func number(m pcommon.Map, name string) *float64 {
	v, ok := eventlog.Known(m, name)
	if !ok {
		return nil
	}
	return &v
}
