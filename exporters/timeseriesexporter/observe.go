package timeseriesexporter

import (
	"math"
	"slices"
	"strconv"

	"github.com/VictoriaMetrics/metrics"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/cause"
	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
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
	read := eventlog.NewMeasurements()
	defer read.Release()
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
				case record.EventName() == semconv.EventIssue: // also when it is reported again: it may be open
					if !a.observeIssue(app, record.Attributes(), again) {
						left.unfollowed++
					}
				case again:
					continue
				default:
					a.observeRecord(app, read, record)
				}
				if over {
					left.overflow++
				}
			}
		}
	}
	return left
}

func (a *aggregates) observeRecord(app *appMetrics, read *eventlog.Measurements, record plog.LogRecord) {
	switch record.EventName() {
	case semconv.EventStats:
		app.measurements.Inc()
		var m event.Measurement
		read.Read(&m, record.Attributes(), "")
		a.observeMeasurement(app, &m)
		return
	case semconv.EventSummary:
		a.observeSummary(app, record.Attributes())
		return
	}
	switch e := eventlog.Details(record); e.Kind {
	case event.KindEvent:
		a.observeEvent(app, &e)
	case event.KindError:
		a.count(semconv.MetricErrors, app.name, semconv.LabelFunction, oneOf(protocol.Functions, e.Function))
	case event.KindFeedback:
		if e.Feedback.Overall != nil {
			a.count(semconv.MetricFeedback, app.name, semconv.LabelRating, strconv.Itoa(*e.Feedback.Overall))
		}
	case event.KindSkip:
		app.lostFrames.Add(e.Lost.Stats + e.Lost.Events)
	default: // counts nothing
	}
}

// observeMeasurement takes loss and jitter of an outbound stream from the remote end's report.
func (a *aggregates) observeMeasurement(app *appMetrics, m *event.Measurement) {
	if !m.Audio() && !m.Video() {
		return
	}
	var s *streamMetrics
	switch {
	case m.Inbound():
		s = a.stream(app.name, m.MediaType, "inbound")
	case m.Outbound():
		s = a.stream(app.name, m.MediaType, "outbound")
	default:
		return
	}
	for _, level := range [...]struct {
		into *metrics.PrometheusHistogram
		v    event.Value
		unit float64
	}{
		{s.mos, m.Score.MOS, 1},
		{s.rtt, m.Value(protocol.RTTMs), 1000},
		{s.jitter, m.ReceiverJitterMs(), 1000},
		{s.loss, m.Loss().Fraction, 1},
	} {
		if level.v.Known {
			level.into.Update(level.v.V / level.unit)
		}
	}
}

func (a *aggregates) observeEvent(app *appMetrics, e *event.Event) {
	data := e.Data
	if data == nil {
		data = &event.Data{}
	}
	switch e.Name {
	case "fabricSetup":
		if data.SetupMs.Known {
			app.setupDelay.Update(data.SetupMs.V / 1000)
		}
	case "fabricSetupFailed": // an unknown stage counts as other
		a.count(semconv.MetricFabricSetupFailed, app.name, semconv.LabelStage, oneOf(stages, data.Stage))
	case "iceDisruptionStart":
		app.disruptions.Inc()
	}
}

// observeSummary counts the first revision only: a conference is counted once
// (requirement CONF-02), and so is each participant, who may be in a later one only.
func (a *aggregates) observeSummary(app *appMetrics, attrs pcommon.Map) {
	app.participants.Add(whole(attrs, semconv.SummaryAdded))
	if eventlog.Number(attrs, semconv.SummaryRevision) != 1 {
		return
	}
	a.count(semconv.MetricConferences, app.name, semconv.LabelOutcome, oneOf(conference.Outcomes, eventlog.Text(attrs, semconv.SummaryOutcome)))
	if found := eventlog.Text(attrs, semconv.SummaryCause); found != "" {
		a.count(semconv.MetricConferenceCauses, app.name, semconv.LabelCause, oneOf(causes, found))
	}
	app.duration.Update(bounded(eventlog.Number(attrs, semconv.SummaryEnd)-eventlog.Number(attrs, semconv.SummaryStart)) / 1000)
	if _, ok := attrs.Get(semconv.SummaryMOS); ok {
		app.mos.Update(bounded(eventlog.Number(attrs, semconv.SummaryMOS)))
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
	if v := bounded(eventlog.Number(attrs, key)); v > 0 {
		return int(v) // at most maxValue
	}
	return 0
}
