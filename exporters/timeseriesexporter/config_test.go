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
}
