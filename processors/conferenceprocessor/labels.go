package conferenceprocessor

import (
	"sync"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/eventlog"
	"github.com/qosrtc/qos/internal/quality"
)

// labelCheck says once that scores come labelled by other bounds than ours: then the
// shares of labels and the labels of streams and participants contradict each other.
type labelCheck struct {
	bounds quality.Bounds
	logger *zap.Logger
	once   sync.Once
}

func (c *labelCheck) look(items []eventlog.Item) {
	for i := range items {
		m := items[i].Event.Measured
		if m == nil || !m.Score.MOS.Known || m.Score.Label == "" {
			continue
		}
		if ours := quality.Label(m.Score.MOS.V, c.bounds); ours != m.Score.Label {
			c.tell(&m.Score, ours)
			return
		}
	}
}

func (c *labelCheck) tell(s *event.Score, ours string) {
	c.once.Do(func() {
		c.logger.Error("the quality processor labels scores by other bounds: give both the same labels, and labels_mos of the receiver too",
			zap.Float64("mos", s.MOS.V), zap.String("stamped", s.Label), zap.String("ours", ours))
	})
}
