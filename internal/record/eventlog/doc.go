// Package eventlog reads events from the log records of the pipeline.
package eventlog
