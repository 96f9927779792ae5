// Package storageextension owns the store: it opens it before any pipeline starts, hands
// out its writer and reader to the components that ask for it by its component id, and
// deletes what is older than the retention.
package storageextension

//go:generate mdatagen metadata.yaml
