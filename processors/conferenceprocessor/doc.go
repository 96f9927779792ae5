// Package conferenceprocessor keeps the state of conferences, marks repeated records, and
// emits a summary when a conference has ended. It is a thin adapter over internal/call/conference.
package conferenceprocessor

//go:generate mdatagen metadata.yaml
