package grafana

func failures() Dashboard {
	return dashboard("qos-failures", "qos: failures and causes",
		"Which conferences failed, at which step, for whom, and why.",
		appsAndSites(),
		graphs(
			"Conferences",
			bars("Conferences without success", "Conferences that ended in each step with another outcome than success, by outcome.",
				query{each("qos_conferences_total", bySite+`,outcome!="success"`, "outcome"), "{{outcome}}"}).opens(ofLabel("outcome", "outcome")),
			ranking("Likely causes", "Likely causes of the conferences' faults (docs/cause.md). Conferences without a fault have the cause none and are left out.", "none",
				query{over("qos_conference_causes_total", bySite+`,cause!="none"`, "cause"), "{{cause}}"}).decimals(0).opens(ofLabel("cause", "cause")),
			graph("Failed conferences by version", "Share of the conferences that failed, by application version. A new version that fails more often is visible here first.", "percentunit",
				query{share(each, "qos_conferences_total", failed, "app, application_version"), "{{app}} {{application_version}}"}).
				between(0, 1).opens(ofLabel("app", "app"), ofLabel("version", "application_version")),
		),
		graphs(
			"Setup of fabrics",
			bars("Setup failures by stage", "Fabrics that never connected, by the stage that they reached.",
				query{each("qos_fabric_setup_failures_total", bySite, "stage"), "{{stage}}"}),
			graph("Setup failures by site", "Failed fabrics over connected and failed ones, by site. A site whose share rises alone has lost its TURN server or its network.", "percentunit",
				query{setupFailureShare(each, "site"), "{{site}}"}).opens(ofLabel("site", "site")),
			ranking("Setup failures by browser", "Failed fabrics over connected and failed ones in the range, by the family of the browser.", "percentunit",
				query{setupFailureShare(over, "browser"), "{{browser}}"}).decimals(1),
		),
		graphs(
			"Delays and disruptions",
			graph("Setup delay", "Time from addNewFabric to the connection: half of the fabrics, and 95 % of them, were connected within it.", "s",
				query{quantile(0.5, each, "qos_fabric_setup_delay_seconds", ""), "p50"},
				query{quantile(0.95, each, "qos_fabric_setup_delay_seconds", ""), "p95"}),
			ranking("Setup delay by relay, p95", "95 % of the fabrics were connected within this time, by the transport to the TURN server; none: without a relay.", "s",
				query{quantile(0.95, over, "qos_fabric_setup_delay_seconds", "relay"), "{{relay}}"}).decimals(2),
			bars("ICE disruptions by site", "Interruptions of connected fabrics, by site.",
				query{each("qos_ice_disruptions_total", bySite, "site"), "{{site}}"}).opens(ofLabel("site", "site")),
		),
		graphs(
			"Reported by applications and clients",
			bars("Reported errors", "Failures that applications reported, by function.",
				query{each("qos_reported_errors_total", byApp, "function"), "{{function}}"}),
			ranking("Reported errors by version", "Failures that applications reported in the range, by function and application version.", "none",
				query{over("qos_reported_errors_total", byApp, "app, application_version, function"), "{{app}} {{application_version}} {{function}}"}).
				decimals(0).opens(ofLabel("app", "app"), ofLabel("version", "application_version")),
			bars("Measurements dropped by clients", "Frames that clients dropped before they sent them, because they had no connection for long.",
				query{each("qos_client_dropped_frames_total", byApp, "app"), "{{app}}"}),
		),
	)
}

// setupFailureShare divides failed fabrics by all fabrics.
func setupFailureShare(increase func(metric, selector, by string) string, by string) string {
	good := increase("qos_fabric_setup_delay_seconds_count", bySite, by)
	broken := "(" + increase("qos_fabric_setup_failures_total", bySite, by) + " or 0 * " + good + ")"
	return broken + " / ((" + broken + " + " + good + ") > 0)"
}
