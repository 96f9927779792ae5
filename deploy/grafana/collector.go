package grafana

import (
	"fmt"
	"strings"
)

// byInstance selects the metrics of collectors.
const byInstance = `instance=~"$instance"`

func collector() Dashboard {
	return dashboard("qos-collector", "qos: collector health",
		"The internal telemetry of the collectors: what they receive, refuse, drop and write, and the memory that it takes.",
		[]Variable{several(labelValues("instance", "Collector", "otelcol_process_uptime"), ".+")},
		stats(
			"",
			stat("Collectors", "Collectors that are scraped.", "none", fmt.Sprintf("count (otelcol_process_uptime{%s})", byInstance)),
			stat("Connections", "Open WebSocket connections.", "none", now("otelcol_receiver_qoswss_connections")),
			stat("Live conferences", "Conferences that have not ended.", "none", now("otelcol_processor_conference_live")),
			stat("Refused frames", "Frames that the receiver rejected permanently in the range.", "none",
				orZero(over("otelcol_receiver_qoswss_frames_refused", byInstance, ""))).limits(1, 100).decimals(0),
			stat("Rejected records", "Records that the store exporter rejected in the range.", "none",
				orZero(over("otelcol_qosstore_rejected_records", byInstance, ""))).limits(1, 100).decimals(0),
			stat("Failed exports", "Records and samples that an exporter could not deliver, or could not queue, in the range.", "none", failedExports()).limits(1, 100).decimals(0),
			stat("Lost notifications", "Notifications that were given up after 23 hours (dead letters), or dropped because too many waited, in the range.", "none",
				fmt.Sprintf("(%s) + (%s)", orZero(over("otelcol_qoswebhook_deliveries", byInstance+`,outcome="dead"`, "")),
					orZero(over("otelcol_qoswebhook_dropped_notices", byInstance, "")))).limits(1, 10).decimals(0),
		),
		graphs(
			"Receiver",
			graph("Frames", "Numbered frames by what became of them. Deferred frames are sent again by the client.", "cps",
				frames("accepted"), frames("deferred"), frames("duplicate"), frames("refused")),
			graph("Received bytes", "Payload of the messages that were received, refused ones included.", "Bps",
				query{rate("otelcol_receiver_qoswss_received_bytes", "instance"), "{{instance}}"}),
			graph("Connections", "Open WebSocket connections.", "none",
				query{fmt.Sprintf("sum by (instance) (otelcol_receiver_qoswss_connections{%s})", byInstance), "{{instance}}"}),
		),
		graphs(
			"Admission",
			graph("Handshakes", "Handshake requests by result: granted, challenged, or the code of the refusal (docs/protocol.md, section 9).", "cps",
				split("otelcol_receiver_qoswss_auth_requests", "result")...),
			graph("Closed connections", "Connections that the receiver closed, by code (docs/protocol.md, section 9), or because of a forbidden frame (protocol), silence (idle) or a client that does not read (write).", "cps",
				split("otelcol_receiver_qoswss_connections_closed", "code")...),
			graph("Rate limits", "Decisions of the rate limits, by limit.", "cps",
				split("otelcol_receiver_qoswss_throttle_decisions", "kind")...),
		),
		graphs(
			"Conferences",
			graph("Conferences in memory", "Conferences that have not ended, and those that are kept for late data.", "none",
				query{now("otelcol_processor_conference_live"), "live"}, query{now("otelcol_processor_conference_kept"), "kept"}),
			graph("Ended and revised", "Summaries of conferences that ended, and revised ones after late data, per second.", "cps",
				query{orZero(rate("otelcol_processor_conference_ended", "")), "ended"}, query{orZero(rate("otelcol_processor_conference_revised", "")), "revised"}),
			graph("Records that no summary counts", "Records that no summary counts, and abandoned summaries, per second, by reason.", "cps",
				split("otelcol_processor_conference_dropped", "reason")...),
		),
		graphs(
			"Store and exporters",
			graph("Written records", "Records and summaries that were written to the store, per second.", "cps",
				query{orZero(rate("otelcol_qosstore_written_records", "")), "records"}, query{orZero(rate("otelcol_qosstore_written_summaries", "")), "summaries"}),
			graph("Rejected by the store", "Records that the store exporter rejected, per second, by reason.", "cps",
				split("otelcol_qosstore_rejected_records", "reason")...),
			graph("Unusable store", "Operations of the dashboard, the sign-in, the registry of apps and the webhooks that failed because of the store, per second.", "cps",
				query{orZero(rate("otelcol_qosdashboard_store_errors", "")), "dashboard"}, query{orZero(rate("otelcol_qosaccess_store_errors", "")), "sign-in"},
				query{orZero(rate("otelcol_qosapps_refresh_failures", "")), "apps"}, query{orZero(rate("otelcol_qoswebhook_store_failures", "")), "webhooks"}),
		),
		exports(),
		graphs(
			"Webhooks",
			graph("Webhooks", "Attempts to deliver notifications, per second, by outcome; dead is the last one of a notification that was given up.", "cps",
				split("otelcol_qoswebhook_deliveries", "outcome")...),
			graph("Dropped by webhooks", "Notifications dropped because too many waited, and conferences, feedback and pre-call tests that no window counts, per second, by reason.", "cps",
				append([]query{{orZero(rate("otelcol_qoswebhook_dropped_notices", "")), "notifications"}}, split("otelcol_qoswebhook_dropped_points", "reason")...)...),
		),
		graphs(
			"Process",
			graph("Memory", "Resident memory of the process.", "bytes",
				query{fmt.Sprintf("sum by (instance) (otelcol_process_memory_rss{%s})", byInstance), "{{instance}}"}),
			graph("Processor", "Processor time per second: 1 is one core.", "none",
				query{rate("otelcol_process_cpu_seconds", "instance"), "{{instance}}"}),
			graph("Refused by the memory limiter", "Records that the memory limiter refused, per second. Clients keep their frames and send more slowly.", "cps",
				query{orZero(rate("otelcol_processor_memory_limiter_refused_log_records", "")), "refused"}),
		),
	)
}

// Counters of the exporters' stock part: records of logs and samples of metrics that were not delivered, and those that a
// queue had no room for, or whose persistent queue could not be written.
const (
	failedRecords   = "otelcol_exporter_send_failed_log_records"
	failedPoints    = "otelcol_exporter_send_failed_metric_points"
	unqueuedRecords = "otelcol_exporter_enqueue_failed_log_records"
	unqueuedPoints  = "otelcol_exporter_enqueue_failed_metric_points"
)

func failedExports() string {
	var parts []string
	for _, metric := range []string{failedRecords, failedPoints, unqueuedRecords, unqueuedPoints} {
		parts = append(parts, "("+orZero(overWhole(metric, byInstance, ""))+")")
	}
	return strings.Join(parts, " + ")
}

func exports() row {
	queue := fmt.Sprintf("max (otelcol_exporter_queue_size{%s} / (otelcol_exporter_queue_capacity{%[1]s} > 0))", byInstance)
	return graphs(
		"Exporters",
		graph("Sent", "Records that exporters delivered, and samples of metrics, per second.", "cps",
			query{rate("otelcol_exporter_sent_log_records", "exporter"), "{{exporter}}"},
			query{orZero(rate("otelcol_exporter_sent_metric_points", "")), "samples"}),
		graph("Failed exports", "Records and samples that exporters could not deliver, per second. A push is retried without end, and shows in its queue alone.", "cps",
			query{orZero(rate(failedRecords, "")), "records"}, query{orZero(rate(failedPoints, "")), "samples"},
			query{orZero(rate(unqueuedRecords, "")), "records, not queued"}, query{orZero(rate(unqueuedPoints, "")), "samples, not queued"}),
		graph("Fullest queue", "Requests that wait in the fullest queue of an exporter, of those that it can hold. One that grows without end has a dead receiver.", "percentunit",
			query{orZero(queue), "fullest"}).between(0, 1),
	)
}

// split shows a counter in total, and divided by a label. The total is 0 before it counts.
func split(metric, by string) []query {
	return []query{{orZero(rate(metric, "")), "all"}, {rate(metric, by), "{{" + by + "}}"}}
}

func rate(metric, by string) string {
	return fmt.Sprintf("sum%s (rate(%s{%s}[$__rate_interval]))", clause(by), metric, byInstance)
}

func now(metric string) string { return orZero(fmt.Sprintf("sum (%s{%s})", metric, byInstance)) }

func frames(result string) query {
	return query{orZero(rate("otelcol_receiver_qoswss_frames_"+result, "")), result}
}
