// Package network impairs the access of one participant to the network: a TURN server that loses, delays, limits or
// cuts what its client sends and receives (Edge), and a line to a TURN server (Line). Both consist of two links
// (Link), one for each direction, with a Harm that tests change at any time. Everything is on loopback.
package network
