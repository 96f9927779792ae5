package harness

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Metrics are the samples of a scrape by name with labels, as in the Prometheus text format.
type Metrics map[string]float64

// Metrics reads the collector's own metrics.
func (c *Collector) Metrics() Metrics {
	c.tb.Helper()
	body, err := c.get("http://" + c.at.telemetry + "/metrics")
	require.NoError(c.tb, err)
	m, err := ParseMetrics(string(body))
	require.NoError(c.tb, err)
	return m
}

// ParseMetrics reads the Prometheus text format without timestamps.
func ParseMetrics(text string) (Metrics, error) {
	m := Metrics{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		space := strings.LastIndexByte(line, ' ')
		if space < 0 {
			return nil, fmt.Errorf("metrics: %q has no value", line)
		}
		value, err := strconv.ParseFloat(line[space+1:], 64)
		if err != nil {
			return nil, fmt.Errorf("metrics: %q: %w", line, err)
		}
		m[line[:space]] = value
	}
	return m, nil
}

// Sum adds the samples of a name over all labels that contain each of the given texts,
// such as `reason="time"`. A counter that nothing was added to has no sample: 0.
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
next:
	for sample, value := range m {
		of, rest, _ := strings.Cut(sample, "{")
		if of != name {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue next
			}
		}
		sum += value
	}
	return sum
}
