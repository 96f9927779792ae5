package series

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
)

// preCall counts a pre-call test, and each provider that it tested.
func (b *batch) preCall(attrs pcommon.Map) Reason {
	status := eventlog.Text(attrs, semconv.PreCallStatus)
	if !contains(statuses, status) {
		return ReasonAttribute
	}
	for _, one := range statuses {
		b.begin(famPreCalls, values{b.app(), b.source.site, one})
	}
	b.increment(famPreCalls, values{b.app(), b.source.site, intern(statuses, status)}, 1)
	list, ok := attrs.Get(semconv.PreCallProviders)
	if !ok || list.Type() != pcommon.ValueTypeSlice {
		return noReason
	}
	for i, one := range list.Slice().All() {
		if one.Type() == pcommon.ValueTypeMap && i < protocol.MaxProviders {
			b.provider(one.Map())
		}
	}
	return noReason
}

// The values of the label acceptable.
const (
	acceptable    = "true"
	notAcceptable = "false"
)

// provider counts the result of one provider.
func (b *batch) provider(m pcommon.Map) {
	name := b.label(eventlog.Text(m, semconv.ProviderName))
	if name == "" {
		return
	}
	b.begin(famProviders, values{b.app(), name, acceptable})
	for _, one := range protocol.PreCallReasons {
		b.begin(famProviders, values{b.app(), name, notAcceptable, one})
	}
	if eventlog.True(m, semconv.ProviderAcceptable) {
		b.increment(famProviders, values{b.app(), name, acceptable}, 1)
	} else {
		reason := intern(protocol.PreCallReasons, eventlog.Text(m, semconv.ProviderReason))
		b.increment(famProviders, values{b.app(), name, notAcceptable, reason}, 1)
	}
	var e *entry
	put := func(offset int, key string, scale, most float64) {
		v, ok := eventlog.Known(m, key)
		if !ok || v < 0 || v > most {
			return
		}
		if e == nil {
			e = b.entry(famProviderResults, values{b.app(), name})
		}
		b.put(e, famProviderResults, offset, v*scale)
	}
	put(providerRTT, semconv.ProviderRTTMs, 1e-3, maxValue)
	put(providerLoss, semconv.ProviderLossFraction, 1, 1)
	put(providerThroughput, semconv.ProviderThroughputBps, 1.0/8, maxValue) // bytes
}

// begin creates a series with the value 0, so that a store computes the increase to the first value.
func (b *batch) begin(f family, v values) {
	b.set.families[f].begin(f, v, b.set.cfg.MaxSeries, b.nowMs, b.age)
}
