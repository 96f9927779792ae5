// Package event defines the common form of an event of a conference, and of a measurement. Events of
// the pipeline and of the store are converted to it; scores, detectors, causes, summaries, metrics and
// pages are computed from it. It is pure: it depends on no form of records and on no store.
package event
