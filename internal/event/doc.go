// Package event has the one form in which an event of a conference, and a measurement, are
// computed with: events of the pipeline and of the store become it, and scores, detectors,
// causes, summaries, metrics and pages take it. It is pure: it knows no record and no store.
package event
