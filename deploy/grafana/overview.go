package grafana

func overview() Dashboard {
	return dashboard("qos-overview", "qos: fleet overview",
		"How many conferences took place, how many of them failed, and how good they were. Begin here.",
		appsAndSites(),
		stats("The whole range", keyFigures()...),
		graphs(
			"Over time",
			bars("Conferences by outcome", "Conferences that ended in each step, by their outcome. A conference has one outcome.",
				query{each("qos_conferences_total", bySite, "outcome"), "{{outcome}}"}).opens(ofLabel("outcome", "outcome")),
			bars("Conferences by app", "Conferences that ended in each step, by app.",
				query{each("qos_conferences_total", bySite, "app"), "{{app}}"}).opens(ofLabel("app", "app")),
			bars("Participants by browser", "Participants of ended conferences in each step, by the family of their browser.",
				query{each("qos_participants_total", bySite, "browser"), "{{browser}}"}),
		),
		graphs(
			"Compared",
			graph("Failed conferences by app", "Share of the conferences that failed: totally, partially, or dropped.", "percentunit",
				query{share(each, "qos_conferences_total", failed, "app"), "{{app}}"}).between(0, 1).opens(ofLabel("app", "app")),
			graph("Score by app", "Mean score of ended conferences, 1 to 5 (MOS).", "none",
				query{mean(each, "qos_conference_mos", bySite, "app"), "{{app}}"}).between(1, 5).decimals(2).opens(ofLabel("app", "app")),
		),
		row{"Apps and sites", graphHeight, []Panel{
			compare("Apps", "Conferences of the whole range by app. A row's title filters the list of conferences.", "app"),
			compare("Sites", "Conferences of the whole range by site; mixed: the participants are at several sites.", "site"),
		}},
	)
}

// keyFigures are the figures that an operator has objectives for.
func keyFigures() []Panel {
	return []Panel{
		stat("Conferences", "Conferences that ended in the range.", "none", orZero(over("qos_conferences_total", bySite, ""))).decimals(0),
		stat("Failed", "Share of the conferences that failed: totally, partially, or dropped.", "percentunit",
			share(over, "qos_conferences_total", failed, "")).limits(0.02, 0.05).decimals(1),
		stat("Bad stream time", "Share of the scored time of audio and video streams whose score was poor or bad.", "percentunit",
			share(over, "qos_stream_seconds_total", bad, "")).limits(0.02, 0.05).decimals(1),
		stat("Setup delay, p95", "95 % of the fabrics were connected within this time after addNewFabric.", "s",
			quantile(0.95, over, "qos_fabric_setup_delay_seconds", "")).limits(2, 5).decimals(1),
		stat("Score", "Mean score of ended conferences, 1 to 5 (MOS).", "none",
			mean(over, "qos_conference_mos", bySite, "")).floors(4, 3.5).decimals(2),
		stat("Open issues", "Issues of live conferences that are open now.", "none",
			orZero("sum (qos_open_issues{"+bySite+"})")).decimals(0),
	}
}

func compare(title, description, by string) Panel {
	p := table(title, description, by, []string{"none", "percentunit", "percentunit", "s"},
		query{over("qos_conferences_total", bySite, by), "Conferences"},
		query{share(over, "qos_conferences_total", failed, by), "Failed"},
		query{share(over, "qos_stream_seconds_total", bad, by), "Bad stream time"},
		query{quantile(0.95, over, "qos_fabric_setup_delay_seconds", by), "Setup delay, p95"})
	p.FieldConfig.Defaults.Links = []Link{{Title: openTitle, URL: list + by + "=${__data.fields[0]}&" + period, TargetBlank: true}}
	return p
}
