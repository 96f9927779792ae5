// Package conferenceprocessor keeps the state of conferences, marks records that were
// seen before, and emits a summary when a conference has ended: a thin adapter over
// internal/conference.
package conferenceprocessor

//go:generate mdatagen metadata.yaml
