// Package appsextension is the registry of applications: their AppIDs, secrets and
// allowed origins, and the keys of the installation. The receiver asks it by its
// component id.
package appsextension

//go:generate mdatagen metadata.yaml
