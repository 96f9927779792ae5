package qualityprocessor

import (
	"context"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/call/rules"
	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadata"
	"github.com/qosrtc/qos/protocol"
)

const usualRows = 16 // rows of a frame that need no allocation

// inputAttr maps the inputs of a model to attributes.
var inputAttr = func() (names [quality.NumInputs]string) {
	for i := range names {
		names[i] = semconv.QualityInputPrefix + quality.InputName(i).String()
	}
	return names
}()

// scorer adds scores to records. It has no state between two calls.
type scorer struct {
	bounds    quality.Bounds
	video     quality.VideoParams
	telemetry *metadata.TelemetryBuilder
	outcomes  [2][quality.NumReasons]metric.AddOption // for audio and video, prepared once
}

func newScorer(cfg *Config, set component.TelemetrySettings) (*scorer, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	s := &scorer{bounds: quality.DefaultBounds(), video: cfg.Video.params(), telemetry: telemetry}
	for i, media := range [...]string{protocol.Audio, protocol.Video} {
		for why := range s.outcomes[i] {
			outcome := quality.Reason(why).String()
			if outcome == "" {
				outcome = "scored"
			}
			s.outcomes[i][why] = metric.WithAttributeSet(attribute.NewSet(
				attribute.String("media_type", media), attribute.String("outcome", outcome)))
		}
	}
	return s, nil
}

// recordZeros records the first data point of each outcome (package zeros).
func (s *scorer) recordZeros(ctx context.Context) {
	for media := range s.outcomes {
		for why := range s.outcomes[media] {
			s.telemetry.ProcessorQualityRecords.Add(ctx, 0, s.outcomes[media][why])
		}
	}
}

// start reads the bounds of labels from the collector's rules.
func (s *scorer) start(_ context.Context, host component.Host) error {
	assessment, err := rules.Of(host)
	s.bounds = assessment.Labels
	return err
}

func (s *scorer) shutdown(context.Context) error {
	s.telemetry.Shutdown()
	return nil
}

// tally counts the outcomes of one batch.
type tally [2][quality.NumReasons]int64

func (s *scorer) processLogs(ctx context.Context, logs plog.Logs) (plog.Logs, error) {
	var t tally
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			s.scoreScope(scope, &t)
		}
	}
	for media := range t {
		for why, n := range t[media] {
			if n > 0 {
				s.telemetry.ProcessorQualityRecords.Add(ctx, n, s.outcomes[media][why])
			}
		}
	}
	return logs, nil
}

// scoreScope scores the measurements of one fabric, frame by frame. The rows of a frame are adjacent.
// Streams without a round-trip time use that of the frame's candidate pair.
func (s *scorer) scoreScope(scope plog.ScopeLogs, t *tally) {
	usage := eventlog.Text(scope.Scope().Attributes(), semconv.FabricUsage)
	read := eventlog.NewMeasurements()
	defer read.Release()
	frame := make([]row, 0, usualRows)
	for _, record := range scope.LogRecords().All() {
		if record.EventName() != semconv.EventStats {
			continue
		}
		last := len(frame)
		frame = append(frame, row{attrs: record.Attributes()})
		m := &frame[last]
		said := read.Read(&m.Measurement, m.attrs, usage)
		m.seq, m.scored = said.Seq, said.Scored
		if last > 0 && (m.seq < 0 || m.seq != frame[0].seq) {
			s.scoreFrame(frame[:last], t)
			frame[0] = *m
			frame = frame[:1]
		}
	}
	s.scoreFrame(frame, t)
}

func (s *scorer) scoreFrame(frame []row, t *tally) {
	rtt, silent := pairRTT(frame), pairsSilent(frame)
	markLowerLayers(frame)
	countLatePictures(frame)
	for i := range frame {
		m := &frame[i]
		if !m.isStream() {
			continue
		}
		if !m.Known(protocol.RTTMs) {
			m.Put(protocol.RTTMs, rtt)
		}
		m.Unheard = silent
		var res quality.Result
		media := 0
		if m.Audio() {
			res = quality.ScoreAudio(&m.Measurement)
		} else {
			media = 1
			res = quality.ScoreVideo(&m.Measurement, s.video)
		}
		t[media][res.Reason]++
		res.Round()
		s.write(m, &res)
	}
}

// write adds the result. It removes scores that the record already has: another component wrote them.
func (s *scorer) write(m *row, res *quality.Result) {
	if m.scored {
		m.attrs.RemoveIf(func(key string, _ pcommon.Value) bool {
			return strings.HasPrefix(key, semconv.QualityPrefix)
		})
	}
	if !res.OK() {
		m.attrs.PutStr(semconv.QualityReason, res.Reason.String())
		return
	}
	inputs := res.Inputs()
	m.attrs.EnsureCapacity(m.attrs.Len() + len(inputs) + 7)
	m.attrs.PutDouble(semconv.QualityMOS, res.MOS)
	m.attrs.PutStr(semconv.QualityLabel, quality.Label(res.MOS, s.bounds))
	m.attrs.PutStr(semconv.QualityModel, res.Model)
	if m.Audio() {
		m.attrs.PutDouble(semconv.QualityMOSListening, res.MOSListening)
		m.attrs.PutDouble(semconv.QualityR, res.R)
	}
	m.attrs.PutStr(semconv.QualityConfidence, string(res.Confidence()))
	if res.Assumed != 0 {
		m.attrs.PutStr(semconv.QualityAssumed, res.Assumed.String())
	}
	for _, in := range inputs {
		m.attrs.PutDouble(inputAttr[in.Name], in.Value)
	}
}
