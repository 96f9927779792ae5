package grafana

import (
	"bytes"
	"encoding/json"
)

// Dashboard is the JSON model of a dashboard, as far as these use it.
type Dashboard struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	SchemaVersion int        `json:"schemaVersion"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: a shared crosshair
	Refresh       string     `json:"refresh"`
	Time          TimeRange  `json:"time"`
	Timezone      string     `json:"timezone"`
	Links         []Link     `json:"links"`
	Templating    Templating `json:"templating"`
	Panels        []Panel    `json:"panels"`
}

// TimeRange is the default range.
type TimeRange struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Link is a link of a dashboard or of a value.
type Link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	AsDropdown  bool     `json:"asDropdown,omitempty"`
	KeepTime    bool     `json:"keepTime,omitempty"`
	IncludeVars bool     `json:"includeVars,omitempty"`
	URL         string   `json:"url,omitempty"`
	TargetBlank bool     `json:"targetBlank,omitempty"`
}

// Templating has the variables.
type Templating struct {
	List []Variable `json:"list"`
}

// Variable is a variable of a dashboard.
type Variable struct {
	Name       string      `json:"name"`
	Label      string      `json:"label"`
	Type       string      `json:"type"`
	Query      any         `json:"query"` // a text, or a VariableQuery
	Definition string      `json:"definition,omitempty"`
	Datasource *Datasource `json:"datasource,omitempty"`
	Current    *Current    `json:"current,omitempty"`
	IncludeAll bool        `json:"includeAll"`
	AllValue   string      `json:"allValue,omitempty"`
	Multi      bool        `json:"multi"`
	Refresh    int         `json:"refresh,omitempty"` // 2: when the time range changes
	Sort       int         `json:"sort,omitempty"`    // 1: by name
	Hide       int         `json:"hide"`              // 2: the variable
}

// VariableQuery is the query of a variable.
type VariableQuery struct {
	Query string `json:"query"`
	RefID string `json:"refId"`
}

// Current is the value that a variable begins with.
type Current struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Datasource refers to the variable of the data source.
type Datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Panel is a panel, or a row of panels.
type Panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         GridPos          `json:"gridPos"`
	Datasource      *Datasource      `json:"datasource,omitempty"`
	Interval        string           `json:"interval,omitempty"`
	FieldConfig     *FieldConfig     `json:"fieldConfig,omitempty"`
	Options         map[string]any   `json:"options,omitempty"`
	Targets         []Target         `json:"targets,omitempty"`
	Transformations []Transformation `json:"transformations,omitempty"`
	Collapsed       *bool            `json:"collapsed,omitempty"`
	Panels          *[]Panel         `json:"panels,omitempty"` // of a collapsed row
}

// GridPos is a position in a grid of 24 columns.
type GridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Target is a query.
type Target struct {
	RefID        string `json:"refId"`
	Expr         string `json:"expr"`
	LegendFormat string `json:"legendFormat,omitempty"`
	Instant      bool   `json:"instant,omitempty"`
	Range        bool   `json:"range,omitempty"`
	Format       string `json:"format,omitempty"`
}

// FieldConfig has the presentation of values.
type FieldConfig struct {
	Defaults  Field      `json:"defaults"`
	Overrides []Override `json:"overrides"`
}

// Field is the presentation of a value.
type Field struct {
	Unit       string         `json:"unit,omitempty"`
	Decimals   *int           `json:"decimals,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      map[string]any `json:"color,omitempty"`
	Thresholds *Thresholds    `json:"thresholds,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
	Links      []Link         `json:"links,omitempty"`
}

// Override changes the presentation of some fields.
type Override struct {
	Matcher    Matcher    `json:"matcher"`
	Properties []Property `json:"properties"`
}

// Matcher selects fields.
type Matcher struct {
	ID      string `json:"id"`
	Options any    `json:"options"`
}

// Property is a value that an override sets.
type Property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

// Thresholds are the steps of colours.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []Step `json:"steps"`
}

// Step is a colour from a value on; nil is the first.
type Step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// Transformation changes the result of the queries.
type Transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

// JSON returns the text of the dashboard's file.
func (d *Dashboard) JSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}
