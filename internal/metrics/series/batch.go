package series

import (
	"time"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Reason is why a record was dropped.
type Reason uint8

// The reasons.
const (
	ReasonAttribute Reason = iota // a required attribute is missing or invalid
	ReasonTime                    // the record's time is out of range
	ReasonValue                   // a number is out of range
	NumReasons

	noReason // not dropped
)

// Reasons are the names of the reasons.
var Reasons = [NumReasons]string{"attribute", "time", "value"}

// AllMetrics is the key in Left.Overflow of records whose metrics all overflow.
const AllMetrics = "all"

// Left counts the records and series that did not have a series of their own.
type Left struct {
	Overflow  map[string]int64  // records in overflow series, by metric; those of app OtherApp under AllMetrics
	Displaced map[string]int64  // series that were removed for those of another app, by metric
	Dropped   [NumReasons]int64 // records
	Replaced  int64             // records with a label that differs from their text
	Untracked int64             // issues that the gauge lacks: too many are open
}

// Empty reports whether all counts are 0.
func (l *Left) Empty() bool {
	return len(l.Overflow) == 0 && len(l.Displaced) == 0 && l.Dropped == [NumReasons]int64{} && l.Replaced == 0 && l.Untracked == 0
}

// The largest differences of a record's time from the collector's: a larger one is due to a wrong clock.
const (
	maxPast   = 30 * 24 * time.Hour
	maxFuture = 24 * time.Hour
)

// batch counts the records of one call of Observe. Later calls reuse the entries in its cache.
type batch struct {
	set    *Set
	cache  *sourceCache
	read   *eventlog.Measurements
	nowMs  int64
	age    time.Duration // now, since the set was made
	left   Left
	source *source
	scope  scope

	agent        string // of the session
	family       string // of its browser, once known
	browserKnown bool

	replaced     bool     // a label of the current record differs from its text
	exemplar     Exemplar // of the current record, without a value
	measurements float64  // of the source, not added yet
	measured     Exemplar // of the newest of them
}

// Observe counts the records that are not marked as duplicates. A dropped record creates no series.
func (s *Set) Observe(logs plog.Logs, now time.Time) Left {
	b := batch{set: s, read: eventlog.NewMeasurements(), nowMs: now.UnixMilli(), age: now.Sub(s.began)}
	defer b.read.Release()
	s.sweep.RLock()
	defer s.sweep.RUnlock()
	b.cache = s.takeCache()
	defer s.caches.Put(b.cache)
	for _, resource := range logs.ResourceLogs().All() {
		b.openSource(resource.Resource().Attributes())
		for _, sl := range resource.ScopeLogs().All() {
			b.openScope(sl.Scope().Attributes())
			for _, record := range sl.LogRecords().All() {
				b.observe(record)
			}
		}
	}
	b.closeSource()
	return b.left
}

// observe counts a record, or drops it.
func (b *batch) observe(record plog.LogRecord) {
	name := record.EventName()
	switch name {
	case semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventSkip, semconv.EventSummary, semconv.EventIssue, semconv.EventPreCall:
	default:
		return
	}
	dup, ok := record.Attributes().Get(semconv.Duplicate)
	again := ok && dup.Bool()
	if again && name != semconv.EventIssue { // a repeated issue may be open
		return
	}
	b.replaced = b.source.replaced || b.scope.replaced
	reason := b.fault(record)
	if reason == noReason {
		reason = b.count(name, record, again)
	}
	if reason == noReason && !b.source.begun && (name == semconv.EventStats || name == semconv.EventEvent) {
		b.source.begun = true
		b.beginSource()
	}
	b.countLeft(reason)
}

// countLeft counts the current record in Left if it was dropped, shares a series or has a replaced label.
func (b *batch) countLeft(reason Reason) {
	if reason != noReason {
		b.left.Dropped[reason]++
		return
	}
	if b.source.overApp {
		b.overflow(AllMetrics, 1)
	}
	if b.replaced {
		b.left.Replaced++
	}
}

// fault checks the app and the time, which all records need, and sets the record's exemplar.
func (b *batch) fault(record plog.LogRecord) Reason {
	if b.source.app == "" {
		return ReasonAttribute
	}
	at := int64(record.Timestamp() / 1e6) // 2^64 ns are 2^44 ms
	if at == 0 {
		at = int64(record.ObservedTimestamp() / 1e6)
	}
	if at == 0 {
		at = b.nowMs
	}
	if at < b.nowMs-maxPast.Milliseconds() || at > b.nowMs+maxFuture.Milliseconds() {
		return ReasonTime
	}
	b.exemplar = Exemplar{TraceID: record.TraceID(), AtMs: at}
	return noReason
}

func (b *batch) count(name string, record plog.LogRecord, again bool) Reason {
	switch name {
	case semconv.EventStats:
		b.stats(record)
		return noReason
	case semconv.EventSummary:
		return b.summary(record.Attributes())
	case semconv.EventPreCall:
		return b.preCall(record.Attributes())
	case semconv.EventIssue:
		return b.issue(record.Attributes(), again)
	}
	e := eventlog.Details(record)
	switch e.Kind {
	case event.KindEvent:
		return b.event(&e, record.SpanID())
	case event.KindError:
		b.increment(famErrors, values{b.app(), b.source.version, b.browser(), intern(functions, e.Function)}, 1)
	case event.KindFeedback:
		if e.Feedback.Overall != nil {
			b.increment(famFeedback, values{b.app(), b.source.site, ratings[*e.Feedback.Overall]}, 1)
		}
	case event.KindSkip:
		b.add(b.counts(), famApp, appLostFrames, float64(e.Lost.Stats+e.Lost.Events))
	default: // not counted
	}
	return noReason
}

// ratings are label values by rating, 1 to 5.
var ratings = [...]string{1: "1", 2: "2", 3: "3", 4: "4", 5: "5"}
