// Package notice decides which notifications an app's webhooks get, and writes them: what a
// conference or a feedback counts for, windows by event time, hold-down and recovery, the text and
// the body of each format. It does no I/O; the time is an argument, and state is bounded.
package notice
