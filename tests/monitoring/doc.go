// Package monitoring tests the dashboards, rules and alerts of deploy with real servers: a
// Prometheus that has the day of a simulated fleet, and an Alertmanager.
package monitoring
