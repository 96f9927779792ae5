package conferenceprocessor

import (
	"sync"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/internal/records"
)

// labelCheck says once that scores come labelled by other bounds than ours: then the
// shares of labels and the labels of streams and participants contradict each other.
type labelCheck struct {
	bounds quality.Bounds
	logger *zap.Logger
	once   sync.Once
}

func (c *labelCheck) look(items []records.Item) {
	for i := range items {
		s := items[i].Event.Stats
		if s == nil || !s.MOS.Known || s.Label == "" {
			continue
		}
		if ours := quality.Label(s.MOS.V, c.bounds); ours != s.Label {
			c.tell(s, ours)
			return
		}
	}
}

func (c *labelCheck) tell(s *conference.Stats, ours string) {
	c.once.Do(func() {
		c.logger.Error("the quality processor labels scores by other bounds: give both the same labels, and labels_mos of the receiver too",
			zap.Float64("mos", s.MOS.V), zap.String("stamped", s.Label), zap.String("ours", ours))
	})
}
