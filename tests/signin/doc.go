// Package signin proves who may read and change what, through the dashboard with the access extension: each
// route with each role, each answer with each reader, and sign-in at a certified OpenID provider (provider/).
package signin
