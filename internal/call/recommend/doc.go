// Package recommend computes the recommended configuration of a call: the default configuration of an application
// with the members that suit a user's network better, and the reason for each of them. docs/library.md
// has the rules. It does no I/O and does not read the clock.
package recommend
