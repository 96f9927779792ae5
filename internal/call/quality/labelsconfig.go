package quality

import (
	"errors"
	"fmt"
)

// LabelsConfig is the setting of the boundary conditions, in every component that labels.
type LabelsConfig struct {
	// MOS lists the inclusive lower bounds of excellent, good, fair and poor.
	MOS []float64 `mapstructure:"mos"`
	// Preset names a set of bounds instead: itu-g107.
	Preset string `mapstructure:"preset"`

	_ struct{}
}

// Bounds returns the bounds that are listed, those of the preset, or the default. Errors name
// the key.
func (l LabelsConfig) Bounds() (Bounds, error) {
	switch {
	case l.Preset != "" && l.MOS != nil:
		return Bounds{}, errors.New("labels: give mos or preset, not both")
	case l.Preset != "":
		b, ok := PresetBounds(l.Preset)
		if !ok {
			return b, fmt.Errorf("labels::preset: %q is unknown, there is %q", l.Preset, PresetITUG107)
		}
		return b, nil
	case l.MOS != nil:
		b, err := NewBounds(l.MOS)
		if err != nil {
			err = fmt.Errorf("labels::mos: %w", err)
		}
		return b, err
	}
	return DefaultBounds(), nil
}
