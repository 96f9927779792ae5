package series

import (
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/qosrtc/qos/internal/record/semconv"
)

// Content types of the two formats.
const (
	PrometheusText  = "text/plain; version=0.0.4; charset=utf-8"
	OpenMetricsText = "application/openmetrics-text; version=1.0.0; charset=utf-8"
)

// Write writes all series in the Prometheus text format, or in OpenMetrics, which has exemplars.
func (s *Set) Write(w io.Writer, openMetrics bool) error {
	t := text{openMetrics: openMetrics}
	var err error
	s.Each(func(m *Metric, points []Point) bool {
		t.buf = t.buf[:0]
		t.head(m)
		for i := range points {
			t.point(m, &points[i])
		}
		_, err = w.Write(t.buf)
		return err == nil
	})
	if err == nil && openMetrics {
		_, err = io.WriteString(w, "# EOF\n")
	}
	return err
}

// text writes one metric at a time.
type text struct {
	openMetrics bool
	buf         []byte
}

func (t *text) put(parts ...string) {
	for _, part := range parts {
		t.buf = append(t.buf, part...)
	}
}

var help = strings.NewReplacer(`\`, `\\`, "\n", `\n`)

func (t *text) head(m *Metric) {
	name := m.Name
	if t.openMetrics && m.Type == semconv.Counter {
		name = strings.TrimSuffix(name, "_total")
	}
	t.put("# HELP ", name, " ", help.Replace(m.Brief), "\n# TYPE ", name, " ", m.Type, "\n")
	if t.openMetrics && strings.HasSuffix(name, "_seconds") {
		t.put("# UNIT ", name, " seconds\n")
	}
}

func (t *text) point(m *Metric, p *Point) {
	if p.Counts == nil {
		t.sample(m.Name, p.Labels, "", Number(p.Value), p.exemplar(0))
		return
	}
	var total uint64
	for i, n := range p.Counts {
		total += n
		le := "+Inf"
		if i < len(m.Bounds) {
			le = Number(m.Bounds[i])
		}
		t.sample(m.Name+"_bucket", p.Labels, le, strconv.FormatUint(total, 10), p.exemplar(i))
	}
	t.sample(m.Name+"_sum", p.Labels, "", Number(p.Value), nil)
	t.sample(m.Name+"_count", p.Labels, "", strconv.FormatUint(total, 10), nil)
}

func (p *Point) exemplar(bucket int) *Exemplar {
	for i := range p.Exemplars {
		if p.Exemplars[i].bucket == bucket {
			return &p.Exemplars[i]
		}
	}
	return nil
}

var escape = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// Escape returns the value of a label as it is written between quotes in both formats.
func Escape(value string) string { return escape.Replace(value) }

func (t *text) sample(name string, labels []Label, le, value string, x *Exemplar) {
	t.put(name)
	for i, l := range labels {
		t.put("{,"[min(i, 1):min(i, 1)+1], l.Name, `="`, Escape(l.Value), `"`)
	}
	if le != "" {
		t.put(`,le="`, le, `"`)
	}
	t.put("} ", value)
	if x != nil && t.openMetrics {
		t.put(` # {trace_id="`, x.Trace(), `"} `, Number(x.Value), " ", strconv.FormatFloat(float64(x.AtMs)/1000, 'f', 3, 64))
	}
	t.put("\n")
}

// Number returns a number as it is written in both formats; whole numbers have no exponent.
func Number(v float64) string {
	const exact = 1 << 53
	if v == math.Trunc(v) && math.Abs(v) <= exact {
		return strconv.FormatInt(int64(v), 10)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Trace returns the trace ID in hexadecimal.
func (x *Exemplar) Trace() string {
	return hex.EncodeToString(x.TraceID[:])
}
