package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// result is one figure. Section, Engine and Case name its row, Metric its column.
type result struct {
	Section string  `json:"section"`
	Engine  string  `json:"engine"`
	Case    string  `json:"case"`
	Metric  string  `json:"metric"` // with its unit
	Value   float64 `json:"value"`
}

// report takes the results of a section as they come.
type report struct {
	section, engine string
	out             io.Writer
}

// add writes one figure as a line of JSON.
func (r report) add(what, metric string, value float64) error {
	return json.NewEncoder(r.out).Encode(result{r.section, r.engine, what, metric, value})
}

// latencies are how long the same thing took each time.
type latencies []time.Duration

// at returns the quantile q of sorted latencies; there must be some.
func (l latencies) at(q float64) time.Duration {
	return l[min(len(l)-1, int(q*float64(len(l))))]
}

// latency writes the usual quantiles in ms, if there is anything to tell of.
func (r report) latency(what string, l latencies) error {
	if len(l) == 0 {
		return nil
	}
	slices.Sort(l)
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50 ms", 0.5}, {"p90 ms", 0.9}, {"p99 ms", 0.99}, {"max ms", 1}} {
		if err := r.add(what, q.name, ms(l.at(q.q))); err != nil {
			return err
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// table draws the results of one section in Markdown: a row an engine and case, a column a
// metric, both in the order in which they came first.
func table(results []result) string {
	var columns []string
	var rows [][2]string
	cells := map[[3]string]float64{}
	for _, r := range results {
		row := [2]string{r.Engine, r.Case}
		if !slices.Contains(columns, r.Metric) {
			columns = append(columns, r.Metric)
		}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
		cells[[3]string{r.Engine, r.Case, r.Metric}] = r.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| engine | what | %s |\n| --- | --- |%s\n", strings.Join(columns, " | "), strings.Repeat(" ---: |", len(columns)))
	for _, row := range rows {
		fmt.Fprintf(&b, "| %s | %s |", row[0], row[1])
		for _, column := range columns {
			if v, ok := cells[[3]string{row[0], row[1], column}]; ok {
				fmt.Fprintf(&b, " %s", short(v))
			}
			b.WriteString(" |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// short writes a number with three digits that count, and thousands apart.
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
