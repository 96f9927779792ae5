package qualityprocessor

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/confmap/xconfmap"

	"github.com/qosrtc/qos/internal/quality"
)

// Config configures the quality processor.
type Config struct {
	// Labels are the boundary conditions of excellent, good, fair, poor and bad.
	Labels labelsConfig `mapstructure:"labels"`
	// Video holds the constants of the video model.
	Video videoConfig `mapstructure:"video"`

	_ struct{}
}

type labelsConfig struct {
	// MOS lists the inclusive lower bounds of excellent, good, fair and poor.
	MOS []float64 `mapstructure:"mos"`
	// Preset names a set of bounds instead: itu-g107.
	Preset string `mapstructure:"preset"`

	_ struct{}
}

type videoConfig struct {
	// X0 is the midpoint of the coding term: 7.0 for conversation, 7.7 for film and sport.
	X0 float64 `mapstructure:"x0"`
	// FreezeCountWeight is what each freeze of the last 60 s costs.
	FreezeCountWeight float64 `mapstructure:"freeze_count_weight"`
	// FreezeShareWeight is what the frozen share of the interval costs.
	FreezeShareWeight float64 `mapstructure:"freeze_share_weight"`
	// OutboundLossPercent is the remote loss that divides an outbound score by e.
	OutboundLossPercent float64 `mapstructure:"outbound_loss_percent"`

	_ struct{}
}

var _ xconfmap.Validator = (*Config)(nil)

// Validate reports every fault.
func (c *Config) Validate() error {
	_, labels := c.Labels.bounds()
	video := c.Video.params().Validate()
	if video != nil {
		video = fmt.Errorf("video: %w", video)
	}
	return errors.Join(labels, video)
}

// bounds resolves the labels: those listed, those of the preset, or the default.
func (l labelsConfig) bounds() (quality.Bounds, error) {
	switch {
	case l.Preset != "" && l.MOS != nil:
		return quality.Bounds{}, errors.New("labels: give mos or preset, not both")
	case l.Preset != "":
		b, ok := quality.PresetBounds(l.Preset)
		if !ok {
			return b, fmt.Errorf("labels::preset: %q is unknown, there is %q", l.Preset, quality.PresetITUG107)
		}
		return b, nil
	case l.MOS != nil:
		b, err := quality.NewBounds(l.MOS)
		if err != nil {
			err = fmt.Errorf("labels::mos: %w", err)
		}
		return b, err
	}
	return quality.DefaultBounds(), nil
}

func (v videoConfig) params() quality.VideoParams {
	return quality.VideoParams{
		X0:          v.X0,
		FreezeCount: v.FreezeCountWeight,
		FreezeShare: v.FreezeShareWeight,
		OutboundD:   v.OutboundLossPercent,
	}
}
