// Package protocol is the contract between qos clients and collectors: message types, limits, error
// codes, the frame decoder and the version. docs/protocol.md is its description for other languages;
// section numbers in comments are those of that document. It imports only the standard library.
package protocol

// Version is the major version of the wire protocol that this package speaks.
const Version = 1

// SupportedVersions lists the major versions that a server accepts, best first: the current and the
// previous one (there is none before 1).
var SupportedVersions = []int{Version}

// Subprotocol is the WebSocket subprotocol name.
const Subprotocol = "qos"
