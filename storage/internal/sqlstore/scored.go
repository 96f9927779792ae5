package sqlstore

import (
	"math"

	"github.com/qosrtc/qos/internal/digest"
	"github.com/qosrtc/qos/storage"
)

// failedDrivers are the listings of which that of failed conferences consists.
func failedDrivers() (out []driver) {
	for _, outcome := range digest.FailedOutcomes {
		out = append(out, driver{by: byOutcome, outcome: outcome})
	}
	return out
}

// isScored reports whether a query is for a range of scores.
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

// noScore reports whether no score is in the range of a query. PostgreSQL takes NaN for the greatest number.
func noScore(q storage.Query) bool {
	low, high := scores(q)
	return !(low <= high)
}

// band is the column mos_band: twice a score, rounded up, in 1 to 10. An index by band is in order of start within each.
func band(mos float64) int { return 10 - int((5-min(max(mos, 0.5), 5))*2) }

// bandDrivers are the listings that hold a range of scores, at most 10. The first have nothing else. Of the highest and
// the lowest a part may be out of the range: they are looked through only as far back as the others leave a page unfilled.
func bandDrivers(q storage.Query) (out []driver) {
	low, high := scores(q)
	add := func(b int) { out = append(out, driver{by: byBand, band: b}) }
	for b := band(low) + 1; b < band(high); b++ {
		add(b)
	}
	if band(high) > band(low) {
		add(band(high))
	}
	add(band(low))
	return out
}

// scored adds what a query says of outcome and score, but for what the driver says.
func scored(c *condition, q storage.Query, d driver) {
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
