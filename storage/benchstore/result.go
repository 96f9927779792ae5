package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qosrtc/qos/tests/kit/bench"
)

// table is the figures of one section in Markdown: one row for each engine and case, one column for each
// metric, both in the order of the first figure.
type table struct {
	columns []string
	rows    [][2]string
	cells   map[[3]string]float64
}

// report receives the results of an engine.
type report struct {
	name string
	*table
}

// add adds one figure.
func (r report) add(what, metric string, value float64) {
	row := [2]string{r.name, what}
	if !slices.Contains(r.columns, metric) {
		r.columns = append(r.columns, metric)
	}
	if !slices.Contains(r.rows, row) {
		r.rows = append(r.rows, row)
	}
	if r.cells == nil {
		r.cells = map[[3]string]float64{}
	}
	r.cells[[3]string{r.name, what, metric}] = value
}

// latencies are repeated measurements of one duration.
type latencies []time.Duration

// at returns the quantile q of sorted latencies, at least one.
func (l latencies) at(q float64) time.Duration { return bench.Quantile(l, q) }

// latency adds the usual quantiles in ms, if there are any.
func (r report) latency(what string, l latencies) {
	if len(l) == 0 {
		return
	}
	slices.Sort(l)
	for i, name := range []string{"p50 ms", "p90 ms", "p99 ms", "max ms"} {
		r.add(what, name, ms(l.at([]float64{0.5, 0.9, 0.99, 1}[i])))
	}
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// String returns the table in Markdown.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| engine | what | %s |\n| --- | --- |%s\n", strings.Join(t.columns, " | "), strings.Repeat(" ---: |", len(t.columns)))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s | %s |", row[0], row[1])
		for _, column := range t.columns {
			if v, ok := t.cells[[3]string{row[0], row[1], column}]; ok {
				fmt.Fprintf(&b, " %s", short(v))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// short formats a number with three significant digits and separated thousands.
func short(v float64) string {
	switch {
	case v != 0 && v < 0.995:
		return fmt.Sprintf("%.2g", v)
	case v < 9.95 && v != float64(int64(v)):
		return fmt.Sprintf("%.2f", v)
	case v < 99.5 && v != float64(int64(v)):
		return fmt.Sprintf("%.1f", v)
	}
	digits := fmt.Sprintf("%.0f", v)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
