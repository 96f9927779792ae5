package series

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/semconv"
)

// Reason is why a record was dropped.
type Reason uint8

// The reasons.
const (
	ReasonAttribute Reason = iota // an attribute that the record needs is missing, or none
	ReasonLabel                   // a text is too long for a label, no UTF-8, or has control characters
	ReasonTime                    // the record's time is out of range
	ReasonValue                   // a number is out of range
	NumReasons

	counted // not dropped
)

// Reasons are their names.
var Reasons = [NumReasons]string{"attribute", "label", "time", "value"}

// AllMetrics stands for each metric of a record in Left.Overflow.
const AllMetrics = "all"

// Left is what had no series of its own.
type Left struct {
	Overflow  map[string]int64  // records that an overflow series counts, by metric; those of app OtherApp under AllMetrics
	Dropped   [NumReasons]int64 // records
	Untracked int64             // issues that are missing in the gauge: too many are open
}

// Empty reports whether nothing was left.
func (l *Left) Empty() bool {
	return len(l.Overflow) == 0 && l.Dropped == [NumReasons]int64{} && l.Untracked == 0
}

// A record's time may differ from the collector's by these: more can only be a wrong clock.
const (
	maxPast   = 30 * 24 * time.Hour
	maxFuture = 24 * time.Hour
)

// batch counts the records of one call.
type batch struct {
	set   *Set
	read  *eventlog.Measurements
	nowMs int64
	age   time.Duration // now, since the set was made
	left  Left

	source   source
	scope    scope
	exemplar Exemplar // of the record at hand, without a value
}

// source is what the records of a resource share.
type source struct {
	fault                    Reason
	id, site, version, agent string
	app                      string // label, once needed
	overApp                  bool
	browserKnown             bool
	browser                  string
	counts                   *entry       // of famApp
	seconds                  [4][5]*entry // by stream kind and quality
}

// scope is what the records of a fabric share.
type scope struct {
	fault               Reason
	usage, endpointType string
	conference          string // only for per-conference series
	span                [8]byte
	relay               string
	streams             [4]*entry // by stream kind
}

// Observe counts the records that are not marked as duplicates. What it drops makes no series.
func (s *Set) Observe(logs plog.Logs, now time.Time) Left {
	b := batch{set: s, read: eventlog.NewMeasurements(), nowMs: now.UnixMilli(), age: now.Sub(s.began)}
	defer b.read.Release()
	s.sweep.RLock()
	defer s.sweep.RUnlock()
	for _, resource := range logs.ResourceLogs().All() {
		b.openSource(resource.Resource().Attributes())
		for _, sl := range resource.ScopeLogs().All() {
			b.openScope(sl.Scope().Attributes())
			for _, record := range sl.LogRecords().All() {
				b.observe(record)
			}
		}
	}
	return b.left
}

// openSource keeps what was found for the same source before: sessions of one site follow each other.
func (b *batch) openSource(attrs pcommon.Map) {
	s := source{fault: counted}
	for name, v := range attrs.All() {
		switch name {
		case semconv.AppID:
			s.id = v.Str()
		case semconv.SiteID:
			s.site = v.Str()
		case semconv.ApplicationVersion:
			s.version = v.Str()
		case semconv.UserAgent:
			s.agent = v.Str()
		}
	}
	if s.id == b.source.id && s.site == b.source.site && s.version == b.source.version && s.agent == b.source.agent && s.id != "" {
		return
	}
	b.scope = scope{}
	switch {
	case s.id == "":
		s.fault = ReasonAttribute
	case !label(s.id) || !label(s.site) || !label(s.version):
		s.fault = ReasonLabel
	}
	b.source = s
}

func (b *batch) openScope(attrs pcommon.Map) {
	s := scope{fault: counted}
	for name, v := range attrs.All() {
		switch name {
		case semconv.FabricUsage:
			s.usage = optional(usages, v.Str())
		case semconv.RemoteEndpointType:
			s.endpointType = optional(endpointTypes, v.Str())
		case semconv.ConferenceID:
			if b.set.cfg.Series == PerConference {
				s.conference = v.Str()
			}
		}
	}
	if old := &b.scope; old.relay != "" && old.fault == counted && s.usage == old.usage && s.endpointType == old.endpointType && s.conference == old.conference {
		return
	}
	if !label(s.conference) {
		s.fault = ReasonLabel
	}
	b.scope = s
}

// observe counts a record, or drops it.
func (b *batch) observe(record plog.LogRecord) {
	name := record.EventName()
	switch name {
	case semconv.EventStats, semconv.EventEvent, semconv.EventError, semconv.EventFeedback, semconv.EventSkip, semconv.EventSummary, semconv.EventIssue:
	default:
		return
	}
	dup, ok := record.Attributes().Get(semconv.Duplicate)
	again := ok && dup.Bool()
	if again && name != semconv.EventIssue { // an issue that is reported again may be open
		return
	}
	reason := b.fault(record)
	if reason == counted {
		reason = b.count(name, record, again)
	}
	switch {
	case reason != counted:
		b.left.Dropped[reason]++
	case b.source.overApp:
		b.overflow(AllMetrics)
	}
}

// fault checks what all records need, and notes the record's exemplar.
func (b *batch) fault(record plog.LogRecord) Reason {
	switch {
	case b.source.fault != counted:
		return b.source.fault
	case b.scope.fault != counted:
		return b.scope.fault
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
	return counted
}

func (b *batch) count(name string, record plog.LogRecord, again bool) Reason {
	switch name {
	case semconv.EventStats:
		b.stats(record)
		return counted
	case semconv.EventSummary:
		return b.summary(record.Attributes())
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
	default: // counts nothing
	}
	return counted
}

// ratings are label values by rating, 1 to 5.
var ratings = [...]string{1: "1", 2: "2", 3: "3", 4: "4", 5: "5"}

func (b *batch) app() string {
	if s := &b.source; s.app == "" {
		label, known := b.set.app(s.id)
		s.app, s.overApp = label, !known
	}
	return b.source.app
}

func (b *batch) browser() string {
	if s := &b.source; !s.browserKnown {
		s.browser, _ = event.Browser(s.agent)
		s.browserKnown = true
	}
	return b.source.browser
}

func (b *batch) counts() *entry {
	if b.source.counts == nil {
		b.source.counts = b.entry(famApp, values{b.app()})
	}
	return b.source.counts
}

func (b *batch) entry(f family, v values) *entry { return b.set.entry(f, v, b.nowMs) }

func (b *batch) overflow(metric string) {
	if b.left.Overflow == nil {
		b.left.Overflow = map[string]int64{}
	}
	b.left.Overflow[metric]++
}

// increment adds to the counter of a family of one.
func (b *batch) increment(f family, v values, n float64) { b.add(b.entry(f, v), f, 0, n) }

// add adds to a counter, n not negative, or to a gauge.
func (b *batch) add(e *entry, f family, offset int, n float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b.touch(e, f, offset)
	e.points[offset].value += n
	if f != famOpen { // a gauge has no exemplars
		x := b.exemplar
		x.Value = n
		e.points[offset].put(x)
	}
}

// put adds a value to a histogram.
func (b *batch) put(e *entry, f family, offset int, v float64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	b.putLocked(e, f, offset, v)
}

func (b *batch) putLocked(e *entry, f family, offset int, v float64) {
	b.touch(e, f, offset)
	p := &e.points[offset]
	x := b.exemplar
	x.Value, x.bucket = v, bucketOf(metrics[f][offset].Bounds, v)
	p.counts[x.bucket]++
	p.value += v
	p.put(x)
}

func (b *batch) touch(e *entry, f family, offset int) {
	e.last = max(e.last, b.age)
	if e.overflow {
		b.overflow(metrics[f][offset].Name)
	}
}
