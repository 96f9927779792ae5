// Package fleet draws the day of a fleet of applications: conferences over the hours of a day, their
// participants, networks, errors and ratings, and planted causes that an analysis must find again.
// The day is a function of its Config: the same seed gives the same records.
//
// The script (Day, Conference, Session, Step) is apart from its encodings: Events for computation,
// Logs for the pipeline. The script contains no result: outcomes, scores and summaries are those
// that the real components compute.
package fleet
