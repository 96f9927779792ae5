// Package narrative describes one conference in plain text: for a ticket, and for a reader that is a program. It is a pure
// function of the summary and of names that the caller chose, so it has no more than its input. Times are UTC.
package narrative
