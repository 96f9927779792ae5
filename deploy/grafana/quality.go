package grafana

func quality() Dashboard {
	return dashboard("qos-quality", "qos: quality",
		"How good audio and video were, and which measure of the network explains it.",
		appsAndSites(),
		graphs(
			"Scores",
			shares("Stream time by quality", "Scored time of audio and video streams, divided by the label of its score.",
				query{each("qos_stream_seconds_total", bySite, "label"), "{{label}}"}).opens(ofLabel("quality", "label")),
			graph("Score by medium and direction", "Mean score of the streams' intervals, 1 to 5 (MOS). Outbound scores use the reports of the remote end.", "none",
				query{mean(each, "qos_stream_mos", bySite, "media, direction"), "{{media}} {{direction}}"}).between(1, 5).decimals(2),
			heatmap("Distribution of the scores", "Intervals of streams by score. A second band below the first is a group of users with a fault in common.",
				each("qos_stream_mos_bucket", bySite, "le")),
		),
		graphs(
			"Network",
			graph("Packet loss by site, p95", "95 % of the streams' intervals lost at most this share of their packets.", "percentunit",
				query{quantile(0.95, each, "qos_stream_loss_ratio", "site"), "{{site}}"}).limitsLine(0.03).opens(ofLabel("site", "site")),
			graph("Jitter by site, p95", "95 % of the streams' intervals had at most this interarrival jitter.", "s",
				query{quantile(0.95, each, "qos_stream_jitter_seconds", "site"), "{{site}}"}).limitsLine(0.03).opens(ofLabel("site", "site")),
			graph("Round-trip time by site, p95", "95 % of the streams' intervals had at most this round-trip time.", "s",
				query{quantile(0.95, each, "qos_stream_rtt_seconds", "site"), "{{site}}"}).limitsLine(0.3).opens(ofLabel("site", "site")),
		),
		graphs(
			"Compared",
			ranking("Score by relay", "Mean score of inbound streams by the transport to the TURN server; none: without a relay.", "none",
				query{mean(over, "qos_stream_mos", bySite+`,direction="inbound"`, "relay"), "{{relay}}"}).between(1, 5).decimals(2),
			ranking("Score by remote endpoint", "Mean score of inbound streams by the type of the remote end: another browser, or a media server.", "none",
				query{mean(over, "qos_stream_mos", bySite+`,direction="inbound"`, "endpoint_type"), "{{endpoint_type}}"}).between(1, 5).decimals(2),
			ranking("Score by usage", "Mean score of inbound streams by the usage of their fabric.", "none",
				query{mean(over, "qos_stream_mos", bySite+`,direction="inbound"`, "usage"), "{{usage}}"}).between(1, 5).decimals(2),
		),
		graphs(
			"Issues and ratings",
			graph("Open issues", "Issues of live conferences that were open, by kind (docs/quality.md).", "none",
				query{"sum by (kind) (qos_open_issues{" + bySite + "})", "{{kind}}"}),
			ranking("Issues of ended conferences", "Issues in the summaries of ended conferences, by kind.", "none",
				query{over("qos_issues_total", bySite, "kind"), "{{kind}}"}).decimals(0),
			ranking("Ratings", "Ratings of users, 1 (bad) to 5 (excellent).", "none",
				query{over("qos_feedback_total", bySite, "rating"), "{{rating}}"}).decimals(0),
		),
	)
}

// limitsLine draws a line at the default threshold of the detector of issues.
func (p Panel) limitsLine(at float64) Panel {
	d := &p.FieldConfig.Defaults
	d.Thresholds = &Thresholds{"absolute", []Step{{Color: "transparent"}, {"orange", &at}}}
	d.Custom["thresholdsStyle"] = map[string]any{"mode": "dashed"}
	return p
}
