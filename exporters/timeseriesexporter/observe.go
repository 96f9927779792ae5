package timeseriesexporter

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/protocol"
)

// stages are the values of the label "stage" besides "other".
var stages = []string{"noRemoteDescription", "gathering", "connectivity", "dtls"}

// uncounted is what there was no room for.
type uncounted struct {
	overflow   int64 // records of too many apps, counted under "other"
	unfollowed int64 // issues of too many that are open
}

// observe counts every record that is not marked as a duplicate.
func (a *aggregates) observe(logs plog.Logs) (left uncounted) {
	for _, rl := range logs.ResourceLogs().All() {
		appID, ok := rl.Resource().Attributes().Get(semconv.AppID)
		if !ok || appID.Str() == "" {
			continue
		}
		app, over := a.app(appID.Str())
		for _, sl := range rl.ScopeLogs().All() {
			for _, record := range sl.LogRecords().All() {
				dup, ok := record.Attributes().Get(semconv.Duplicate)
				again := ok && dup.Bool()
				switch {
				case record.EventName() == semconv.EventIssue: // also when it is told again: it may be open
					if !a.observeIssue(app, record.Attributes(), again) {
						left.unfollowed++
					}
				case again:
					continue
				default:
					a.observeRecord(app, record)
				}
				if over {
					left.overflow++
				}
			}
		}
	}
	return left
}

func (a *aggregates) observeRecord(app *appMetrics, record plog.LogRecord) {
	attrs := record.Attributes()
	switch record.EventName() {
	case semconv.EventStats:
		a.observeStats(app, attrs)
	case semconv.EventEvent:
		a.observeEvent(app, attrs)
	case semconv.EventError:
		a.count(semconv.MetricErrors, app.name, semconv.LabelFunction, oneOf(protocol.Functions, eventlog.Text(attrs, semconv.ErrorFunction)))
	case semconv.EventFeedback:
		a.observeFeedback(app, attrs)
	case semconv.EventSkip:
		app.lostFrames.Add(whole(attrs, semconv.SkipStats) + whole(attrs, semconv.SkipEvents))
	case semconv.EventSummary:
		a.observeSummary(app, attrs)
	}
}

// measured is what observeStats picks out of a record in one pass.
type measured struct {
	statsType, media            string
	mos, jitterMs, rttMs        float64
	packets, lost, remoteLoss   float64
	remoteJitterMs              float64
	hasMOS, hasJitter, hasRTT   bool
	hasRemoteLoss, hasRemoteJit bool
}

func pick(attrs pcommon.Map) measured {
	var m measured
	for key, v := range attrs.All() {
		switch key {
		case semconv.StatsType:
			m.statsType = v.Str()
		case semconv.MediaType:
			m.media = v.Str()
		case semconv.QualityMOS:
			m.mos, m.hasMOS = bounded(asFloat(v)), true
		case attrJitter:
			m.jitterMs, m.hasJitter = bounded(asFloat(v)), true
		case attrRTT:
			m.rttMs, m.hasRTT = bounded(asFloat(v)), true
		case attrPackets:
			m.packets = bounded(asFloat(v))
		case attrLost:
			m.lost = bounded(asFloat(v))
		case attrRemoteLoss:
			m.remoteLoss, m.hasRemoteLoss = bounded(asFloat(v)), true
		case attrRemoteJitter:
			m.remoteJitterMs, m.hasRemoteJit = bounded(asFloat(v)), true
		}
	}
	return m
}

var (
	attrJitter       = semconv.Stats("jitterMs")
	attrRTT          = semconv.Stats("rttMs")
	attrPackets      = semconv.Stats("packets")
	attrLost         = semconv.Stats("packetsLost")
	attrRemoteLoss   = semconv.Stats("remoteLossFraction")
	attrRemoteJitter = semconv.Stats("remoteJitterMs")
)

func (a *aggregates) observeStats(app *appMetrics, attrs pcommon.Map) {
	app.measurements.Inc()
	m := pick(attrs)
	if m.media != "audio" && m.media != "video" {
		return
	}
	switch m.statsType {
	case "inbound-rtp":
		a.observeInbound(a.stream(app.name, m.media, "inbound"), m)
	case "outbound-rtp":
		a.observeOutbound(a.stream(app.name, m.media, "outbound"), m)
	}
}

func (a *aggregates) observeInbound(s *streamMetrics, m measured) {
	m.observeCommon(s)
	if expected := m.packets + m.lost; expected > 0 {
		s.loss.Update(min(1, max(0, m.lost/expected)))
	}
	if m.hasJitter {
		s.jitter.Update(m.jitterMs / 1000)
	}
}

// observeOutbound takes loss and jitter from the remote end's report.
func (a *aggregates) observeOutbound(s *streamMetrics, m measured) {
	m.observeCommon(s)
	if m.hasRemoteLoss {
		s.loss.Update(m.remoteLoss)
	}
	if m.hasRemoteJit {
		s.jitter.Update(m.remoteJitterMs / 1000)
	}
}

func (m measured) observeCommon(s *streamMetrics) {
	if m.hasMOS {
		s.mos.Update(m.mos)
	}
	if m.hasRTT {
		s.rtt.Update(m.rttMs / 1000)
	}
}

func (a *aggregates) observeEvent(app *appMetrics, attrs pcommon.Map) {
	var data struct {
		SetupMs *float64 `json:"setupMs"`
		Stage   string   `json:"stage"`
	}
	switch eventlog.Text(attrs, semconv.EventName) {
	case "fabricSetup":
		if json.Unmarshal([]byte(eventlog.Text(attrs, semconv.EventData)), &data) == nil && data.SetupMs != nil {
			app.setupDelay.Update(bounded(*data.SetupMs) / 1000)
		}
	case "fabricSetupFailed":
		_ = json.Unmarshal([]byte(eventlog.Text(attrs, semconv.EventData)), &data) // an unknown stage counts as other
		a.count(semconv.MetricFabricSetupFailed, app.name, semconv.LabelStage, oneOf(stages, data.Stage))
	case "iceDisruptionStart":
		app.disruptions.Inc()
	}
}

func (a *aggregates) observeFeedback(app *appMetrics, attrs pcommon.Map) {
	if n := whole(attrs, semconv.FeedbackOverall); n >= 1 && n <= 5 {
		a.count(semconv.MetricFeedback, app.name, semconv.LabelRating, strconv.Itoa(n))
	}
}

// observeSummary counts the first revision only: a conference is counted once
// (requirement CONF-02), and so is each participant, who may be in a later one only.
func (a *aggregates) observeSummary(app *appMetrics, attrs pcommon.Map) {
	app.participants.Add(whole(attrs, semconv.SummaryAdded))
	if number(attrs, semconv.SummaryRevision) != 1 {
		return
	}
	a.count(semconv.MetricConferences, app.name, semconv.LabelOutcome, oneOf(conference.Outcomes, eventlog.Text(attrs, semconv.SummaryOutcome)))
	if found := eventlog.Text(attrs, semconv.SummaryCause); found != "" {
		a.count(semconv.MetricConferenceCauses, app.name, semconv.LabelCause, oneOf(causes, found))
	}
	app.duration.Update(bounded(number(attrs, semconv.SummaryEnd)-number(attrs, semconv.SummaryStart)) / 1000)
	if v, ok := attrs.Get(semconv.SummaryMOS); ok {
		app.mos.Update(bounded(asFloat(v)))
	}
	a.observeIssues(app, attrs)
}

// issueAttrs are the attributes that count issues, and the kinds.
var issueAttrs = func() map[string]string {
	m := make(map[string]string, len(detect.Kinds))
	for _, kind := range detect.Kinds {
		m[semconv.SummaryIssuesPrefix+string(kind)] = string(kind)
	}
	return m
}()

// causes are the words of likely causes.
var causes = func() []string {
	words := make([]string, len(cause.Causes))
	for i, c := range cause.Causes {
		words[i] = string(c)
	}
	return words
}()

func (a *aggregates) observeIssues(app *appMetrics, attrs pcommon.Map) {
	for key := range attrs.All() {
		if kind := issueAttrs[key]; kind != "" {
			a.add(semconv.MetricIssues, app.name, semconv.LabelKind, kind, whole(attrs, key))
		}
	}
}

// oneOf keeps a label closed: what a client sends can never add a value.
func oneOf(known []string, v string) string {
	if slices.Contains(known, v) {
		return v
	}
	return "other"
}

func number(attrs pcommon.Map, key string) float64 {
	if v, ok := attrs.Get(key); ok {
		return asFloat(v)
	}
	return 0
}

func asFloat(v pcommon.Value) float64 {
	if v.Type() == pcommon.ValueTypeInt {
		return float64(v.Int())
	}
	return v.Double()
}

// maxValue bounds what is counted at once: one absurd number would spoil a sum for good.
const maxValue = 1e10

// bounded returns NaN, which nothing counts, for what no measure can be.
func bounded(v float64) float64 {
	if math.Abs(v) > maxValue {
		return math.NaN()
	}
	return v
}

// whole returns a count that is neither negative nor absurd.
func whole(attrs pcommon.Map, key string) int {
	if v := bounded(number(attrs, key)); v > 0 {
		return int(v) // at most maxValue
	}
	return 0
}
