package qoswssreceiver

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// addPreCall adds the record of a pre-call test, under a scope without a conference. Names of providers are the
// application's, like its siteID; addresses are cut in all other texts.
func (t *translator) addPreCall(f *protocol.PreCall) {
	r := t.record(f.Header, protocol.Scope{}, 0, semconv.EventPreCall, 12)
	r.PutStr(semconv.PreCallTrigger, f.Trigger)
	r.PutStr(semconv.PreCallStatus, f.Status)
	putText(r, semconv.PreCallReason, t.text(f.Reason))
	r.PutBool(semconv.PreCallInterrupted, f.Interrupted)
	r.PutBool(semconv.PreCallMediaConnectivity, f.MediaConnectivity)
	putNumber(r, semconv.PreCallRTTMs, f.RTTMs)
	putNumber(r, semconv.PreCallLossFraction, f.LossFraction)
	putNumber(r, semconv.PreCallThroughputBps, f.ThroughputBps)
	putText(r, semconv.PreCallNetworkType, t.addresses.Text(t.users.measuredText(f.NetworkType)))
	if f.BytesSent != 0 {
		r.PutInt(semconv.PreCallBytesSent, f.BytesSent)
	}
	r.PutDouble(semconv.PreCallDurationMs, f.DurationMs)
	if len(f.Providers) == 0 {
		return
	}
	providers := r.PutEmptySlice(semconv.PreCallProviders)
	providers.EnsureCapacity(len(f.Providers))
	for i := range f.Providers {
		t.addProvider(providers.AppendEmpty().SetEmptyMap(), &f.Providers[i])
	}
}

func (t *translator) addProvider(m pcommon.Map, p *protocol.PreCallProvider) {
	m.EnsureCapacity(8)
	m.PutStr(semconv.ProviderName, t.users.text(p.Provider))
	m.PutBool(semconv.ProviderAcceptable, p.Acceptable)
	putText(m, semconv.ProviderReason, p.Reason)
	putNumber(m, semconv.ProviderRTTMs, p.RTTMs)
	putNumber(m, semconv.ProviderJitterMs, p.JitterMs)
	putNumber(m, semconv.ProviderLossFraction, p.LossFraction)
	putNumber(m, semconv.ProviderThroughputBps, p.ThroughputBps)
	if len(p.Transports) == 0 {
		return
	}
	transports := m.PutEmptySlice(semconv.ProviderTransports)
	for i := range p.Transports {
		transport := &p.Transports[i]
		m := transports.AppendEmpty().SetEmptyMap()
		m.PutStr(semconv.TransportProtocol, transport.RelayProtocol)
		m.PutBool(semconv.TransportConnected, transport.Connected)
		putNumber(m, semconv.TransportConnectMs, transport.ConnectMs)
		putText(m, semconv.TransportError, t.text(transport.Error))
	}
}

// putNumber omits nil.
func putNumber(m pcommon.Map, name string, v *float64) {
	if v != nil {
		m.PutDouble(name, *v)
	}
}
