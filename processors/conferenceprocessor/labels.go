package conferenceprocessor

import (
	"sync"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/eventlog"
)

// labelCheck logs once that received scores have labels by other bounds, from a collector with other
// rules: then shares of labels contradict the labels of streams and participants.
type labelCheck struct {
	bounds quality.Bounds
	logger *zap.Logger
	once   sync.Once
}

func (c *labelCheck) check(items []eventlog.Item) {
	for i := range items {
		m := items[i].Event.Measured
		if m == nil || !m.Score.MOS.Known || m.Score.Label == "" {
			continue
		}
		if ours := quality.Label(m.Score.MOS.V, c.bounds); ours != m.Score.Label {
			c.log(&m.Score, ours)
			return
		}
	}
}

func (c *labelCheck) log(s *event.Score, ours string) {
	c.once.Do(func() {
		c.logger.Error("scores are labelled by other bounds: give the collector of the quality processor the same labels in its qosrules extension",
			zap.Float64("mos", s.MOS.V), zap.String("label_received", s.Label), zap.String("label_here", ours))
	})
}
