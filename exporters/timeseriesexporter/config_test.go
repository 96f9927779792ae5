package timeseriesexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDefaultConfigIsValid(t *testing.T) {
	require.NoError(t, createDefaultConfig().(*Config).Validate())
}

func TestValidateNamesEveryFault(t *testing.T) {
	err := (&Config{}).Validate()
	require.ErrorContains(t, err, "endpoint must not be empty")
	require.ErrorContains(t, err, "max_apps must be positive (got 0)")
	require.ErrorContains(t, err, "max_series must be positive (got 0)")
	require.ErrorContains(t, err, `series must be "aggregate" or "conference"`)
	cfg := createDefaultConfig().(*Config)
	cfg.SeriesIdleTimeout = -1
	require.ErrorContains(t, cfg.Validate(), "series_idle_timeout must not be negative")
}
