package qualityprocessor

import (
	"context"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/processors/qualityprocessor/internal/metadata"
)

const (
	qualityPrefix = "qos.quality." // of all that this processor adds
	screenUsage   = "screen"       // value of semconv.FabricUsage
	usualRows     = 16             // rows of a frame that need no allocation
)

// inputAttr holds the attribute of each input of a model.
var inputAttr = func() (names [quality.NumInputs]string) {
	for i := range names {
		names[i] = semconv.QualityInputPrefix + quality.InputName(i).String()
	}
	return names
}()

// scorer adds scores to records. It keeps nothing between two calls.
type scorer struct {
	bounds    quality.Bounds
	video     quality.VideoParams
	telemetry *metadata.TelemetryBuilder
	outcomes  [2][quality.NumReasons]metric.AddOption // made once: audio, video
}

func newScorer(cfg *Config, set component.TelemetrySettings) (*scorer, error) {
	bounds, err := cfg.Labels.Bounds()
	if err != nil {
		return nil, err
	}
	telemetry, err := metadata.NewTelemetryBuilder(set)
	if err != nil {
		return nil, err
	}
	s := &scorer{bounds: bounds, video: cfg.Video.params(), telemetry: telemetry}
	for i, media := range [...]string{audio, video} {
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

// scoreScope scores the measurements of one fabric, frame by frame: the rows of a frame
// stand next to each other, and the candidate pair's round-trip time serves the streams
// that have none of their own.
func (s *scorer) scoreScope(scope plog.ScopeLogs, t *tally) {
	usage, found := scope.Scope().Attributes().Get(semconv.FabricUsage)
	screen := found && usage.Type() == pcommon.ValueTypeStr && usage.Str() == screenUsage
	frame := make([]measurement, 0, usualRows)
	for _, record := range scope.LogRecords().All() {
		if record.EventName() != semconv.EventStats {
			continue
		}
		frame = append(frame, measurement{})
		last := len(frame) - 1
		frame[last].read(record)
		if last > 0 && (frame[last].seq < 0 || frame[last].seq != frame[0].seq) {
			s.scoreFrame(frame[:last], screen, t)
			frame[0] = frame[last]
			frame = frame[:1]
		}
	}
	s.scoreFrame(frame, screen, t)
}

func (s *scorer) scoreFrame(frame []measurement, screen bool, t *tally) {
	rtt, silent := pairRTT(frame), pairsSilent(frame)
	markLowerLayers(frame)
	for i := range frame {
		m := &frame[i]
		if !m.stream() {
			continue
		}
		if _, known := m.num[rttMs].Get(); !known {
			m.num[rttMs] = rtt
		}
		m.unheard = silent
		var res quality.Result
		media := 0
		if m.mediaType == audio {
			res = quality.ScoreAudio(m.audioInput())
		} else {
			media = 1
			res = quality.ScoreVideo(m.videoInput(screen), s.video)
		}
		t[media][res.Reason]++
		s.write(m, &res)
	}
}

// pairRTT returns the round-trip time of the frame's candidate pair.
func pairRTT(frame []measurement) quality.Opt {
	for i := range frame {
		if _, known := frame[i].num[rttMs].Get(); known && frame[i].statsType == candidatePair {
			return frame[i].num[rttMs]
		}
	}
	return quality.Opt{}
}

// pairsSilent tells whether nothing came in over the frame's candidate pairs: then no report of
// the remote end did either, and what browsers still tell of its last one is no evidence.
func pairsSilent(frame []measurement) bool {
	silent := false
	for i := range frame {
		if frame[i].statsType != candidatePair {
			continue
		}
		n, known := frame[i].num[bytesReceived].Get()
		if !known || n > 0 {
			return false
		}
		silent = true
	}
	return silent
}

// write adds what was found. Scores that the record brought along are not ours: they go.
func (s *scorer) write(m *measurement, res *quality.Result) {
	if m.scored {
		m.attrs.RemoveIf(func(key string, _ pcommon.Value) bool {
			return strings.HasPrefix(key, qualityPrefix)
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
	if m.mediaType == audio {
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
