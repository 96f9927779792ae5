package series

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// summary counts a conference at its first revision (requirement CONF-02), and each participant once,
// also those that only a later revision has.
func (b *batch) summary(attrs pcommon.Map) Reason {
	site, version := b.label(eventlog.Text(attrs, semconv.SummarySite)), b.label(eventlog.Text(attrs, semconv.SummaryVersion))
	outcome := eventlog.Text(attrs, semconv.SummaryOutcome)
	revision, hasRevision := eventlog.Integer(attrs, semconv.SummaryRevision)
	start, hasStart := eventlog.Integer(attrs, semconv.SummaryStart)
	end, hasEnd := eventlog.Integer(attrs, semconv.SummaryEnd)
	seconds := (float64(end) - float64(start)) / 1000
	switch {
	case !hasRevision || !hasStart || !hasEnd || outcome == "":
		return ReasonAttribute
	case !countable(seconds * 1000):
		return ReasonValue
	}
	b.participants(attrs, site, version)
	if revision != 1 {
		return noReason
	}
	b.beginConferences(site, version)
	b.increment(famConferences, values{b.app(), site, version, intern(outcomes, outcome)}, 1)
	if found := eventlog.Text(attrs, semconv.SummaryCause); found != "" {
		b.increment(famCauses, values{b.app(), site, version, intern(causes, found)}, 1)
	}
	ended := b.entry(famEnded, values{b.app(), site})
	b.put(ended, famEnded, endedDuration, seconds)
	if v, ok := attrs.Get(semconv.SummaryMOS); ok && (v.Type() == pcommon.ValueTypeDouble || v.Type() == pcommon.ValueTypeInt) {
		if mos := eventlog.Number(attrs, semconv.SummaryMOS); mos >= 1 && mos <= 5 {
			b.put(ended, famEnded, endedMOS, mos)
		}
	}
	b.summaryIssues(attrs, site)
	return noReason
}

// beginConferences creates the series of each outcome, so that a store computes the increase to the first
// failure, also in a series that was idle.
func (b *batch) beginConferences(site, version string) {
	for _, outcome := range outcomes {
		b.set.families[famConferences].begin(famConferences, values{b.app(), site, version, outcome}, b.set.cfg.MaxSeries, b.nowMs, b.age)
	}
}

// beginSource creates the series of the source's conferences, and of those whose participants differ.
func (b *batch) beginSource() {
	for _, site := range withMixed(b.source.site) {
		for _, version := range withMixed(b.source.version) {
			b.beginConferences(site, version)
		}
	}
}

// mixed is the site or version of a conference whose participants differ.
const mixed = "mixed"

func withMixed(v string) []string {
	if v == "" {
		return []string{v}
	}
	return []string{v, mixed}
}

// participants counts the participants that no earlier revision has, by client where the summary lists those.
func (b *batch) participants(attrs pcommon.Map, site, version string) {
	left := whole(attrs, semconv.SummaryAdded)
	list, ok := attrs.Get(semconv.SummaryClients)
	if ok && list.Type() == pcommon.ValueTypeSlice {
		for _, one := range list.Slice().All() {
			if one.Type() != pcommon.ValueTypeMap {
				continue
			}
			left -= b.client(one.Map(), left)
		}
	}
	if left > 0 {
		b.increment(famParticipants, values{b.app(), shared(site), shared(version)}, left)
	}
}

// shared returns the value that all participants have in common, empty where they differ.
func shared(v string) string {
	if v == mixed {
		return ""
	}
	return v
}

// client counts the participants of one client, at most most, and returns their number.
func (b *batch) client(c pcommon.Map, most float64) float64 {
	n := min(whole(c, "count"), most)
	site, version, major := b.label(eventlog.Text(c, "site")), b.label(eventlog.Text(c, "version")), eventlog.Text(c, "browser_version")
	if n <= 0 || !isMajor(major) {
		return 0
	}
	b.increment(famParticipants, values{b.app(), site, version, optional(browsers, eventlog.Text(c, "browser")), major}, n)
	return n
}

// isMajor reports whether a text is a major version, or empty.
func isMajor(text string) bool {
	_, major := event.Browser("Firefox/" + text)
	return major == text
}

// issueAttrs are the kinds of issues, by the attribute with their number.
var issueAttrs = func() map[string]string {
	m := make(map[string]string, len(kinds))
	for _, kind := range kinds {
		m[semconv.SummaryIssuesPrefix+kind] = kind
	}
	return m
}()

func (b *batch) summaryIssues(attrs pcommon.Map, site string) {
	for key := range attrs.All() {
		kind, n := issueAttrs[key], whole(attrs, key)
		if kind != "" && n > 0 {
			b.increment(famIssues, values{b.app(), site, kind}, n)
		}
	}
}

// whole returns a count, 0 where it is out of range.
func whole(attrs pcommon.Map, key string) float64 {
	v := eventlog.Number(attrs, key)
	if !countable(v) {
		return 0
	}
	return float64(int64(v)) // at most maxValue
}
