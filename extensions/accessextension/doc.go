// Package accessextension owns the users of an installation: sign-in, logins, roles and the audit
// log. The dashboard and the apps extension find it through the host.
package accessextension

//go:generate mdatagen metadata.yaml
