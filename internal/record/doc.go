// Package record is the room of the encodings of an event: the names of its attributes (semconv), its attributes
// (eventattr), records of the pipeline (eventlog) and records of the store (eventrow).
package record
