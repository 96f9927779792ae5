package webhookexporter

import (
	"encoding/json"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// maxProvidersBytes bounds the encoded providers of one point.
const maxProvidersBytes = 700

// readPreCall identifies the point of a pre-call test, and returns its fact. A fact without PreCall is no sample.
func readPreCall(p *storage.Point, session string, record plog.LogRecord) (f notice.Fact, why dropReason) {
	attributes := record.Attributes()
	result := storage.PreCallResult{
		Status: eventlog.Text(attributes, semconv.PreCallStatus), Interrupted: eventlog.True(attributes, semconv.PreCallInterrupted),
	}
	if list, ok := attributes.Get(semconv.PreCallProviders); ok && list.Type() == pcommon.ValueTypeSlice {
		for _, one := range list.Slice().All() {
			if one.Type() == pcommon.ValueTypeMap {
				result.Providers = append(result.Providers, storage.PreCallProvider{
					Provider: eventlog.Text(one.Map(), semconv.ProviderName), Acceptable: eventlog.True(one.Map(), semconv.ProviderAcceptable),
				})
			}
		}
	}
	counts, failed := result.Failed("")
	if !counts {
		return f, ""
	}
	seq, _ := eventlog.Integer(attributes, semconv.FrameSeq)
	if _, err := storage.ParseSessionID(session); err != nil || seq < 1 {
		return f, dropPreCall
	}
	at := record.Timestamp()
	if at == 0 {
		at = record.ObservedTimestamp()
	}
	p.ConferenceID = fmt.Sprintf("precall/%s/%d", session, seq) // a test has no conference: this is its identity
	p.Start = at.AsTime().Truncate(time.Millisecond)
	p.End = p.Start
	return notice.Fact{PreCall: &failed, Providers: failedProviders(&result)}, ""
}

// failedProviders reports for each provider whether it failed, for as many providers as a point has room for.
func failedProviders(r *storage.PreCallResult) map[string]bool {
	out := map[string]bool{}
	size := 0
	for i := range r.Providers {
		name := r.Providers[i].Provider
		text, err := json.Marshal(name)
		if size += len(text) + len(":false,"); err != nil || name == "" || size > maxProvidersBytes {
			break
		}
		_, out[name] = r.Failed(name)
	}
	return out
}
