// Package webhook proves with the real binary that a failed conference notifies a real receiver
// once: signed, under one id across a killed collector and a receiver that was down, with a link that
// lists just that conference (docs/webhooks.md).
package webhook
