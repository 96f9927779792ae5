// Package eventattr reads the fields of an event from attributes (internal/record/semconv). Records of the
// pipeline and of the store are read by it, so that a record yields the same event from both.
// It depends on neither: packages eventlog and eventrow provide their attributes as a Source.
package eventattr
