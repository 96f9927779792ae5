// Package signin proves who may read and change what, through the dashboard with the access extension: each
// route with each role, and each answer with each reader.
package signin
