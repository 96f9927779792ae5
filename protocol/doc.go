// Package protocol is the contract between qos clients and collectors: message
// types, limits, error codes, the frame decoder and the version. It is described
// for readers without Go in docs/protocol.md; section numbers in comments refer to
// that document. It imports the standard library only.
package protocol

// Version is the major version of the wire protocol that this package speaks.
const Version = 1

// SupportedVersions lists the major versions a server accepts, best first: the
// current and the previous one (there is none before 1).
var SupportedVersions = []int{Version}

// Subprotocol is the WebSocket subprotocol name.
const Subprotocol = "qos"
