package grafana

import "fmt"

// Selectors of series by the variables of a dashboard. bySite is for metrics that have the label
// site, byApp for others.
const (
	bySite = `app=~"$app",site=~"$site"`
	byApp  = `app=~"$app"`
)

// failed are the outcomes of conferences that count as failed.
const failed = `outcome=~"totallyFailed|partiallyFailed|dropped"`

// bad are the labels of interval scores that count as bad.
const bad = `label=~"poor|bad"`

// over is the increase of a metric over the whole range, by labels.
func over(metric, selector, by string) string {
	return fmt.Sprintf("sum%s (increase(%s{%s}[$__range]))", clause(by), metric, selector)
}

// overWhole is over for a counter of a stock component, which has no zero before its first value: a new series counts whole.
func overWhole(metric, selector, by string) string {
	series := fmt.Sprintf("%s{%s}", metric, selector)
	return fmt.Sprintf("sum%s ((%s unless %[2]s offset $__range) or increase(%[2]s[$__range]))", clause(by), series)
}

// each is the increase of a metric over each step, by labels.
func each(metric, selector, by string) string {
	return fmt.Sprintf("sum%s (increase(%s{%s}[$__rate_interval]))", clause(by), metric, selector)
}

// share divides two increases at the chosen sites. It is 0 where only the part is missing, and absent where the whole is 0.
func share(increase func(metric, selector, by string) string, metric, part, by string) string {
	all := increase(metric, bySite, by)
	return fmt.Sprintf("(%s or 0 * %s) / (%s > 0)", increase(metric, bySite+","+part, by), all, all)
}

// quantile is a quantile of a histogram at the chosen sites.
func quantile(q float64, increase func(metric, selector, by string) string, metric, by string) string {
	if by != "" {
		by = "," + by
	}
	return fmt.Sprintf("histogram_quantile(%g, %s)", q, increase(metric+"_bucket", bySite, "le"+by))
}

// mean is the mean of a histogram's values.
func mean(increase func(metric, selector, by string) string, metric, selector, by string) string {
	return fmt.Sprintf("%s / (%s > 0)", increase(metric+"_sum", selector, by), increase(metric+"_count", selector, by))
}

func clause(by string) string {
	if by == "" {
		return ""
	}
	return " by (" + by + ")"
}

// orZero is 0 where no series exists yet. expr has no labels.
func orZero(expr string) string { return expr + " or vector(0)" }
