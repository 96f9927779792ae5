package qualityprocessor

import (
	"fmt"

	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/call/quality"
)

// Config configures the quality processor.
type Config struct {
	// Video holds the constants of the video model.
	Video videoConfig `mapstructure:"video"`

	_ struct{}
}

type videoConfig struct {
	// X0 is the midpoint of the coding term: 7.0 for conversations, 7.7 for film and sport.
	X0 float64 `mapstructure:"x0"`
	// FreezeCountWeight is the penalty for each freeze of the last 60 s.
	FreezeCountWeight float64 `mapstructure:"freeze_count_weight"`
	// FreezeShareWeight is the penalty for the frozen share of the interval.
	FreezeShareWeight float64 `mapstructure:"freeze_share_weight"`
	// OutboundLossPercent is the remote loss, in percent, that divides an outbound score by e.
	OutboundLossPercent float64 `mapstructure:"outbound_loss_percent"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate reports every error.
func (c *Config) Validate() error {
	if err := c.Video.params().Validate(); err != nil {
		return fmt.Errorf("video: %w", err)
	}
	return nil
}

func (v videoConfig) params() quality.VideoParams {
	return quality.VideoParams{
		X0:          v.X0,
		FreezeCount: v.FreezeCountWeight,
		FreezeShare: v.FreezeShareWeight,
		OutboundD:   v.OutboundLossPercent,
	}
}
