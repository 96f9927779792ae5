// Package series counts events in bounded aggregates: counters, gauges and histograms with the
// labels of semconv.Metrics. It is pure: records and times are arguments, and it has no I/O.
// Each metric has a budget of series. Records beyond it count in one overflow series for each app,
// and series without new values are removed. A record that cannot be counted is dropped with a reason
// and creates no series.
package series
