package sqlstore

import (
	"math"

	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/storage"
)

// failedDrivers returns one driver for each outcome of failed conferences.
func failedDrivers() (out []driver) {
	for _, outcome := range digest.FailedOutcomes {
		out = append(out, driver{kind: indexOutcome, outcome: outcome})
	}
	return out
}

// isScored reports whether a query has a range of scores.
func isScored(q storage.Query) bool { return q.MinMOS != nil || q.MaxMOS != nil }

// scores returns the range of scores of a query.
func scores(q storage.Query) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	if q.MinMOS != nil {
		low = *q.MinMOS
	}
	if q.MaxMOS != nil {
		high = *q.MaxMOS
	}
	return low, high
}

// noScore reports whether the range of scores is empty. PostgreSQL orders NaN above all numbers.
func noScore(q storage.Query) bool {
	low, high := scores(q)
	return !(low <= high)
}

// band returns the column mos_band: twice a score, rounded up, in 1 to 10. Its index is in order of start within
// each band.
func band(mos float64) int { return 10 - int((5-min(max(mos, 0.5), 5))*2) }

// bandDrivers returns one driver for each band in a range of scores, at most 10. The highest and the lowest band may
// contain scores out of the range, so they are last: then they are read only as far back as the page is not full.
func bandDrivers(q storage.Query) (out []driver) {
	low, high := scores(q)
	add := func(b int) { out = append(out, driver{kind: indexBand, band: b}) }
	for b := band(low) + 1; b < band(high); b++ {
		add(b)
	}
	if band(high) > band(low) {
		add(band(high))
	}
	add(band(low))
	return out
}

// addScore adds the conditions of a query on failed outcomes and scores that the driver does not imply.
func addScore(c *condition, q storage.Query, d driver) {
	if q.Failed && d.outcome == "" {
		var values []any
		for _, outcome := range digest.FailedOutcomes {
			values = append(values, Text(outcome))
		}
		c.add("{has failed "+d.row()+"}", values...)
	}
	if q.MinMOS != nil {
		c.add("c.mos >= ?", *q.MinMOS)
	}
	if q.MaxMOS != nil {
		c.add("c.mos <= ?", *q.MaxMOS)
	}
}
