// Package records reads what happened in conferences from records: those that pass through
// the pipeline, and those that the store has. One record is the same event either way, so
// that whoever folds a conference from the store comes to what the pipeline came to.
package records
