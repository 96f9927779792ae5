// Package dashboardextension shows conferences to people: two embedded pages (the
// conferences, one conference) and the read API they are drawn from. It reads the store
// through a storage extension and never writes to it.
package dashboardextension

//go:generate mdatagen metadata.yaml
