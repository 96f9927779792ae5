// Package notice evaluates the rules for the notifications of an app's webhooks, and composes the
// notifications: the reasons that a conference or a feedback counts for, windows by event time, hold-down
// and recovery, the text and the body of each format. It does no I/O; time is an argument, state is bounded.
package notice
