// Package mediaserver starts real media servers for tests: LiveKit's server (LiveKit), and Janus with its VideoRoom (Janus).
// They listen on free ports of loopback, and end with the test.
//
// tests/guests builds LiveKit's server, and a participant without a browser.
package mediaserver
