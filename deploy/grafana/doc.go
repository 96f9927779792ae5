// Package grafana contains the Grafana dashboards as code. The command in generate writes their
// JSON models into the folder dashboards.
package grafana

//go:generate go run ./generate
