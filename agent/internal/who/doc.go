// Package who knows the ways in which qos-agent finds out who is logged in: a header of the
// origin server, a question to it, a bearer token of an OpenID provider.
package who
