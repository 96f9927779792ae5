package timeseriesexporter

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWantsOpenMetrics: a scraper gets the format that it prefers.
//
// spec: OUT-01
func TestWantsOpenMetrics(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                             false,
		"*/*":                          false,
		"text/plain":                   false,
		"application/openmetrics-text": true,
		"application/openmetrics-text; version=1.0.0":          true,
		"application/openmetrics-text;version=2.0.0":           false,
		"application/openmetrics-text;version=0.0.1":           false,
		"application/openmetrics-text;q=0":                     false,
		"application/openmetrics-text;q=0.3,text/plain;q=0.5":  false,
		"application/openmetrics-text;q=x":                     false,
		"text/plain;q=0.5, application/openmetrics-text;q=0.5": true,
		"application/openmetrics-text;;;,":                     false,
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1": true,
	} {
		require.Equal(t, want, wantsOpenMetrics([]string{accept}), accept)
	}
	require.True(t, wantsOpenMetrics([]string{"text/html", "application/openmetrics-text"}))
}
