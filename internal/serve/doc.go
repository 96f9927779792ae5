// Package serve is the room of what every server and component needs: listeners (tlsserver), JSON from outside
// (jsonobject, jsonapi), limits (throttle, budget), addresses (loopback, publicaddr), logs and periodic tasks.
package serve
