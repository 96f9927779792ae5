// Package webhookexporter notifies the webhooks of apps: of single conferences and feedback, and of
// shares of a window above a threshold (docs/webhooks.md). Package internal/call/notice has the rules; the
// store keeps counted points and pending notices.
package webhookexporter

//go:generate mdatagen metadata.yaml
