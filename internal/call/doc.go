// Package call is the room of what is known of a call, without I/O and without a clock: from a measurement (event)
// to its score (quality), its issues (detect), the state and summary of its conference (conference) and the likely
// cause of its faults (cause), and what others make of summaries: facts to count (digest), comparisons (contrast),
// notifications (notice).
package call
