// Package who has the login sources of qos-agent, which name the user who is logged in: a header
// of the origin server, a URL of it, a bearer token of an OpenID provider.
package who
