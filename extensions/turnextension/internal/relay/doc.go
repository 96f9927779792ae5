// Package relay is a TURN server (RFC 8656 over UDP, TCP and TLS, with IPv4 relay addresses) that serves
// short-lived credentials, accounts for each packet, and reaches nothing inside networks.
//
// github.com/pion/turn handles the protocol. Each UDP socket and each TCP connection has a server of that
// library of its own, which reads and handles one packet after the other: so an endpoint knows which
// request its callbacks are about. Packets pass the endpoint before the library (form, rate), and relayed
// data passes a relay (peer, quota, bytes).
//
// A relay address of the kind test has a socket on loopback, whose packets reach other relays of the
// same user alone. A relay address of the kind call has a socket that peers reach. Between two relays of
// this server packets take the sockets' own addresses, so that they need no NAT that returns them.
package relay
