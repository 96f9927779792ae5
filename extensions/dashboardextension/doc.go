// Package dashboardextension shows conferences to people: embedded pages, and the read API of package readapi that they
// are drawn from. It reads the store through a storage extension and never writes to it.
package dashboardextension

//go:generate mdatagen metadata.yaml
