package conferenceprocessor

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/semconv"
)

// markPreCalls marks the pre-call tests that have passed before, and returns their number. A test of a call that fails
// is marked, too, when it arrives again: components beside the one that refused may have counted it.
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
				if c.passed(frameID{session, uint64(max(0, seq))}) { // not negative
					record.Attributes().PutBool(semconv.Duplicate, true)
					duplicates++
				}
			}
		}
	}
	return duplicates
}

// passed adds a pre-call test, and reports whether it was there.
func (c *conferences) passed(id frameID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.preCalls.has(id) {
		return true
	}
	c.preCalls.add(id)
	return false
}
