// Package monitor shows how qos-agent is: metrics, health, readiness.
package monitor

import (
	"fmt"
	"io"
	"net/http"

	"github.com/VictoriaMetrics/metrics"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/keydir"
)

// Keys is what the metrics ask about the key directory.
type Keys interface {
	Current() *agent.Key
	Failed() bool
}

// Metrics counts. Each has few series: none bears a user, an address or a token.
type Metrics struct {
	set               *metrics.Set
	answers           map[agent.Reason]*metrics.Counter
	took, who         *metrics.PrometheusHistogram
	accepted, refused *metrics.Counter
}

// New returns metrics that start at zero.
func New(keys Keys) *Metrics {
	set := metrics.NewSet()
	m := &Metrics{
		set: set, answers: make(map[agent.Reason]*metrics.Counter),
		took:     set.NewPrometheusHistogramExt("qos_agent_request_duration_seconds", buckets()),
		who:      set.NewPrometheusHistogramExt("qos_agent_who_duration_seconds", buckets()),
		accepted: set.NewCounter(`qos_agent_key_changes_total{result="accepted"}`),
		refused:  set.NewCounter(`qos_agent_key_changes_total{result="refused"}`),
	}
	for _, reason := range agent.Reasons() {
		m.answers[reason] = set.NewCounter(`qos_agent_requests_total{reason="` + string(reason) + `"}`)
	}
	set.NewGauge("qos_agent_key_refused", func() float64 {
		if keys.Failed() {
			return 1
		}
		return 0
	})
	set.RegisterMetricsWriter(func(w io.Writer) {
		key := keys.Current()
		_, _ = fmt.Fprintf(w, "qos_agent_key_info{keyID=%q,algorithm=%q} 1\n", key.ID(), key.Algorithm())
	})
	return m
}

// buckets go from a bare signature to an origin server that hangs.
func buckets() []float64 {
	return []float64{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5}
}

// Answer counts one.
func (m *Metrics) Answer(a agent.Answer) {
	m.answers[a.Reason].Inc()
	m.took.Update(a.Took.Seconds())
	if a.WhoTook > 0 {
		m.who.Update(a.WhoTook.Seconds())
	}
}

// KeyChange counts a key that was accepted, or one that was refused.
func (m *Metrics) KeyChange(c keydir.Change) {
	if c.Err != nil {
		m.refused.Inc()
		return
	}
	m.accepted.Inc()
}

// Handler serves /metrics, /healthz (the process answers) and /readyz (tokens are made; 503
// and the reason otherwise).
func Handler(m *Metrics, ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		m.set.WritePrometheus(w)
		metrics.WriteProcessMetrics(w)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, nil) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { say(w, ready()) })
	return mux
}

func say(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = fmt.Fprintln(w, err)
		return
	}
	_, _ = fmt.Fprintln(w, "ok")
}
