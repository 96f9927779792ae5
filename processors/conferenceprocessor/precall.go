package conferenceprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// markPreCalls marks the pre-call tests that were received before, and returns their number. A test in a refused call
// is marked, too, when it arrives again: components other than the one that refused may have counted it.
func (c *conferences) markPreCalls(logs plog.Logs) (duplicates int) {
	for _, resource := range logs.ResourceLogs().All() {
		session := ""
		for _, scope := range resource.ScopeLogs().All() {
			if eventlog.Text(scope.Scope().Attributes(), semconv.ConferenceID) != "" {
				continue
			}
			for _, record := range scope.LogRecords().All() {
				if record.EventName() != semconv.EventPreCall {
					continue
				}
				if session == "" {
					session = eventlog.Text(resource.Resource().Attributes(), semconv.SessionID)
				}
				seq, _ := eventlog.Integer(record.Attributes(), semconv.FrameSeq)
				if c.seenPreCall(frameID{session, uint64(max(0, seq))}) { // not negative
					record.Attributes().PutBool(semconv.Duplicate, true)
					duplicates++
				}
			}
		}
	}
	return duplicates
}

// seenPreCall adds a pre-call test, and reports whether it was received before.
func (c *conferences) seenPreCall(id frameID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.preCalls.has(id) {
		return true
	}
	c.preCalls.add(id)
	return false
}
