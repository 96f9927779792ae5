package grafana

import (
	"fmt"
	"slices"
	"strings"
)

// schemaVersion is that of Grafana 10; later ones migrate it.
const schemaVersion = 38

const (
	columns   = 24
	interval  = "10m" // the shortest step: conferences are few in one scrape interval
	list      = "${dashboard_url}/search?"
	period    = "from=${__from}&to=${__to}"
	openTitle = "Show the conferences"
)

// source refers to the variable that selects the data source.
var source = Datasource{Type: "prometheus", UID: "${datasource}"}

// Dashboards returns all dashboards. A dashboard's file has the name of its UID.
func Dashboards() []Dashboard {
	return []Dashboard{overview(), quality(), failures(), app(), site(), collector()}
}

// dashboard lays out rows of panels from the top left.
func dashboard(uid, title, description string, variables []Variable, rows ...row) Dashboard {
	d := Dashboard{
		UID: uid, Title: title, Description: description, Tags: []string{"qos"}, SchemaVersion: schemaVersion, Editable: true,
		GraphTooltip: 1, Refresh: "1m", Time: TimeRange{"now-24h", "now"}, Timezone: "browser",
		Links: []Link{
			{Title: "qos dashboards", Type: "dashboards", Tags: []string{"qos"}, AsDropdown: true, KeepTime: true},
			{Title: "Conferences", Type: "link", URL: "${dashboard_url}/", TargetBlank: true},
		},
		Templating: Templating{List: slices.Concat([]Variable{datasource()}, variables, []Variable{dashboardURL()})},
	}
	y := 0
	for _, r := range rows {
		if r.title != "" {
			open := false
			d.add(Panel{Type: "row", Title: r.title, GridPos: GridPos{H: 1, W: columns, Y: y}, Collapsed: &open, Panels: &[]Panel{}})
			y++
		}
		for i, p := range r.panels {
			width := columns / len(r.panels)
			p.GridPos = GridPos{H: r.height, W: width, X: i * width, Y: y}
			d.add(p)
		}
		y += r.height
	}
	return d
}

func (d *Dashboard) add(p Panel) {
	p.ID = len(d.Panels) + 1
	d.Panels = append(d.Panels, p)
}

// row is panels of the same size beside one another, below a heading if there is one.
type row struct {
	title  string
	height int
	panels []Panel
}

const (
	statHeight  = 4
	graphHeight = 8
)

func stats(title string, panels ...Panel) row  { return row{title, statHeight, panels} }
func graphs(title string, panels ...Panel) row { return row{title, graphHeight, panels} }

// The variables.

func datasource() Variable {
	return Variable{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1}
}

func dashboardURL() Variable {
	return Variable{Name: "dashboard_url", Label: "Address of the qos dashboard", Type: "constant", Query: "http://localhost:8481", Hide: 2}
}

func labelValues(name, label, metric string) Variable {
	query := fmt.Sprintf("label_values(%s, %s)", metric, name)
	return Variable{
		Name: name, Label: label, Type: "query", Query: VariableQuery{query, "variable"}, Definition: query,
		Datasource: &source, Refresh: 2, Sort: 1,
	}
}

// several lets the reader select more than one value, and begins with all. all is the pattern of
// all; ".*" matches series without the label, too.
func several(v Variable, all string) Variable {
	v.Multi, v.IncludeAll, v.AllValue = true, true, all
	v.Current = &Current{"All", "$__all"}
	return v
}

func appsAndSites() []Variable {
	return []Variable{several(appVariable(), ".+"), several(siteVariable("qos_participants_total"), ".*")}
}

func appVariable() Variable { return labelValues("app", "App", "qos_measurements_total") }

func siteVariable(metric string) Variable { return labelValues("site", "Site", metric) }

// The panels.

// query is one query of a panel, and the name of its series.
type query struct{ expr, legend string }

// graph shows values over time.
func graph(title, description, unit string, queries ...query) Panel {
	p := panel("timeseries", title, description, unit)
	p.FieldConfig.Defaults.Custom = map[string]any{
		"drawStyle": "line", "lineWidth": 1, "fillOpacity": 8, "showPoints": "never", "spanNulls": false,
		"stacking": map[string]any{"mode": "none", "group": "A"},
	}
	p.Options = map[string]any{
		"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
		"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
	}
	for i, q := range queries {
		p.Targets = append(p.Targets, Target{RefID: refID(i), Expr: q.expr, LegendFormat: q.legend, Range: true})
	}
	return p
}

// bars shows counts over time, stacked.
func bars(title, description string, queries ...query) Panel {
	p := graph(title, description, "none", queries...)
	custom := p.FieldConfig.Defaults.Custom
	custom["drawStyle"], custom["fillOpacity"], custom["lineWidth"] = "bars", 70, 0
	custom["stacking"] = map[string]any{"mode": "normal", "group": "A"}
	return p
}

// shares shows how a whole is divided over time.
func shares(title, description string, queries ...query) Panel {
	p := graph(title, description, "none", queries...)
	custom := p.FieldConfig.Defaults.Custom
	custom["fillOpacity"], custom["stacking"] = 60, map[string]any{"mode": "percent", "group": "A"}
	return p
}

// stat shows one value of the whole range.
func stat(title, description, unit, expr string) Panel {
	p := panel("stat", title, description, unit)
	p.Targets = []Target{{RefID: "A", Expr: expr, Instant: true}}
	p.Options = map[string]any{
		"colorMode": "value", "graphMode": "none", "justifyMode": "auto", "textMode": "auto",
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
	}
	p.FieldConfig.Defaults.NoValue = "no data"
	return p
}

// ranking shows one value of the whole range for each value of a label, as bars.
func ranking(title, description, unit string, q query) Panel {
	p := panel("bargauge", title, description, unit)
	p.Targets = []Target{{RefID: "A", Expr: fmt.Sprintf("sort_desc(%s)", q.expr), LegendFormat: q.legend, Instant: true}}
	p.Options = map[string]any{
		"displayMode": "basic", "orientation": "horizontal", "showUnfilled": true,
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
	}
	return p
}

// table shows several values of the whole range for each value of a label.
func table(title, description, label string, units []string, queries ...query) Panel {
	p := panel("table", title, description, "none")
	rename := map[string]any{label: strings.ToUpper(label[:1]) + label[1:]}
	for i, q := range queries {
		id := refID(i)
		p.Targets = append(p.Targets, Target{RefID: id, Expr: q.expr, Instant: true, Format: "table"})
		rename["Value #"+id] = q.legend
		p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, Override{
			Matcher{"byName", q.legend}, []Property{{"unit", units[i]}, {"decimals", 2}},
		})
	}
	p.Transformations = []Transformation{
		{"joinByField", map[string]any{"byField": label, "mode": "outer"}},
		{"organize", map[string]any{"excludeByName": map[string]any{"Time": true, "Time 1": true, "Time 2": true, "Time 3": true, "Time 4": true}, "renameByName": rename}},
	}
	p.Options = map[string]any{"showHeader": true, "cellHeight": "sm"}
	return p
}

// heatmap shows the distribution of a histogram over time.
func heatmap(title, description, expr string) Panel {
	p := panel("heatmap", title, description, "none")
	p.Targets = []Target{{RefID: "A", Expr: expr, LegendFormat: "{{le}}", Range: true, Format: "heatmap"}}
	p.Options = map[string]any{"calculate": false, "yAxis": map[string]any{"decimals": 1}, "color": map[string]any{"scheme": "Blues", "mode": "scheme"}}
	return p
}

func panel(kind, title, description, unit string) Panel {
	return Panel{
		Type: kind, Title: title, Description: description, Datasource: &source, Interval: interval,
		FieldConfig: &FieldConfig{
			Defaults: Field{
				Unit: unit, Color: map[string]any{"mode": "palette-classic"},
				Thresholds: &Thresholds{"absolute", []Step{{Color: "green"}}},
			},
			Overrides: []Override{},
		},
	}
}

func refID(i int) string { return string(rune('A' + i)) }

// limits colours values: from warn on orange, from bad on red.
func (p Panel) limits(warn, bad float64) Panel { return p.colour("green", "orange", warn, "red", bad) }

// floors colours values: below warn orange, below bad red.
func (p Panel) floors(warn, bad float64) Panel { return p.colour("red", "orange", bad, "green", warn) }

func (p Panel) colour(first, second string, from float64, third string, then float64) Panel {
	d := &p.FieldConfig.Defaults
	d.Thresholds = &Thresholds{"absolute", []Step{{Color: first}, {second, &from}, {third, &then}}}
	d.Color = map[string]any{"mode": "thresholds"}
	return p
}

// between sets the ends of the axis.
func (p Panel) between(low, high float64) Panel {
	p.FieldConfig.Defaults.Min, p.FieldConfig.Defaults.Max = &low, &high
	return p
}

func (p Panel) decimals(n int) Panel {
	p.FieldConfig.Defaults.Decimals = &n
	return p
}

// opens links each value to the list of conferences, narrowed by parameters.
func (p Panel) opens(parameters ...string) Panel {
	url := list + strings.Join(append(parameters, period), "&")
	p.FieldConfig.Defaults.Links = []Link{{Title: openTitle, URL: url, TargetBlank: true}}
	return p
}

// ofLabel is the parameter of the list that takes the value of a series' label.
func ofLabel(parameter, label string) string {
	return fmt.Sprintf("%s=${__field.labels.%s}", parameter, label)
}

// ofVariable is the parameter of the list that takes the value of a variable.
func ofVariable(name string) string { return fmt.Sprintf("%s=${%s:percentencode}", name, name) }
