package grafana

func app() Dashboard {
	return dashboard("qos-app", "qos: one app",
		"One app: its conferences, versions, browsers and sites.",
		[]Variable{appVariable(), several(siteVariable(`qos_participants_total{app=~"$app"}`), ".*")},
		stats("", keyFigures()...),
		graphs(
			"Conferences",
			bars("Conferences by outcome", "Conferences that ended in each step, by outcome.",
				query{each("qos_conferences_total", bySite, "outcome"), "{{outcome}}"}).opens(ofVariable("app"), ofLabel("outcome", "outcome")),
			bars("Conferences by version", "Conferences that ended in each step, by application version; mixed: participants used several.",
				query{each("qos_conferences_total", bySite, "application_version"), "{{application_version}}"}).opens(ofVariable("app"), ofLabel("version", "application_version")),
			ranking("Failed conferences by version", "Share of the conferences that failed in the range, by application version.", "percentunit",
				query{share(over, "qos_conferences_total", failed, "application_version"), "{{application_version}}"}).
				decimals(1).opens(ofVariable("app"), ofLabel("version", "application_version")),
		),
		graphs(
			"Quality",
			shares("Stream time by quality", "Scored time of audio and video streams, divided by the label of its score.",
				query{each("qos_stream_seconds_total", bySite, "label"), "{{label}}"}).opens(ofVariable("app"), ofLabel("quality", "label")),
			graph("Score of conferences", "Mean score of ended conferences, 1 to 5 (MOS).", "none",
				query{mean(each, "qos_conference_mos", bySite, ""), "score"}).between(1, 5).decimals(2).opens(ofVariable("app")),
			graph("Length of conferences", "Half of the conferences, and 95 % of them, were at most this long.", "s",
				query{quantile(0.5, each, "qos_conference_duration_seconds", ""), "p50"},
				query{quantile(0.95, each, "qos_conference_duration_seconds", ""), "p95"}),
		),
		graphs(
			"Browsers and functions",
			ranking("Browsers", "Participants in the range, by browser and major version.", "none",
				query{over("qos_participants_total", bySite, "browser, browser_version"), "{{browser}} {{browser_version}}"}).decimals(0),
			ranking("Setup delay by browser, p95", "95 % of the fabrics were connected within this time, by the family of the browser.", "s",
				query{quantile(0.95, over, "qos_fabric_setup_delay_seconds", "browser"), "{{browser}}"}).decimals(2),
			ranking("Reported errors", "Failures that the application reported in the range, by function and application version.", "none",
				query{over("qos_reported_errors_total", byApp, "application_version, function"), "{{application_version}} {{function}}"}).
				decimals(0).opens(ofVariable("app"), ofLabel("version", "application_version")),
		),
		graphs(
			"Causes and ratings",
			ranking("Likely causes", "Likely causes of the conferences' faults (docs/cause.md), without the cause none.", "none",
				query{over("qos_conference_causes_total", bySite+`,cause!="none"`, "cause"), "{{cause}}"}).decimals(0).opens(ofVariable("app"), ofLabel("cause", "cause")),
			ranking("Ratings", "Ratings of users, 1 (bad) to 5 (excellent).", "none",
				query{over("qos_feedback_total", bySite, "rating"), "{{rating}}"}).decimals(0),
			ranking("Failed setups by site", "Failed fabrics over connected and failed ones in the range, by site.", "percentunit",
				query{setupFailureShare(over, "site"), "{{site}}"}).decimals(1).opens(ofVariable("app"), ofLabel("site", "site")),
		),
	)
}
