// Package webhookexporter notifies the webhooks of apps: of single conferences and feedback, and of
// shares of a window above a threshold (docs/webhooks.md). Package internal/notice decides, the
// store keeps what was counted and what is to be delivered.
package webhookexporter

//go:generate mdatagen metadata.yaml
