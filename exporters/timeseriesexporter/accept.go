package timeseriesexporter

import (
	"mime"
	"strconv"
	"strings"
)

const (
	openMetricsType = "application/openmetrics-text"
	textType        = "text/plain"
)

// wantsOpenMetrics reports whether a client prefers OpenMetrics to the Prometheus text format, by
// the quality values of its Accept headers (RFC 9110). A wildcard does not ask for it.
func wantsOpenMetrics(accept []string) bool {
	var openMetrics, text float64
	for one := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		media, parameters, err := mime.ParseMediaType(one)
		if err != nil {
			continue
		}
		switch media {
		case openMetricsType:
			if version := parameters["version"]; version == "" || version == "1.0.0" {
				openMetrics = max(openMetrics, quality(parameters["q"]))
			}
		case textType:
			text = max(text, quality(parameters["q"]))
		}
	}
	return openMetrics > 0 && openMetrics >= text
}

// quality returns a quality value: 1 if there is none, 0 if it is not one.
func quality(q string) float64 {
	if q == "" {
		return 1
	}
	v, err := strconv.ParseFloat(q, 64)
	if err != nil || !(v >= 0 && v <= 1) {
		return 0
	}
	return v
}
