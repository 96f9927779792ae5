package qoswssreceiver

import (
	"github.com/gorilla/websocket"

	"github.com/qosrtc/qos/protocol"
)

// ending is the reason and the form of a connection's end. A nil bye: the WebSocket is closed without one.
type ending struct {
	bye    *protocol.Bye
	reason endReason // for an end without a bye; empty: the client closed, or the network broke
}

// endReason is a reason of the receiver to end a connection without a bye.
type endReason string

// The reasons; the metric counts them beside the codes of byes.
const (
	endProtocol endReason = "protocol" // a frame that RFC 6455 forbids
	endIdle     endReason = "idle"     // no answer to a ping
	endWrite    endReason = "write"    // the client did not read
)

// countEnd counts an end without a bye, and returns it.
func (d *shared) countEnd(reason endReason) *ending {
	count(d.metrics.ReceiverQoswssConnectionsClosed, "code", reason)
	return &ending{reason: reason}
}

// closeCode returns the WebSocket close code (docs/protocol.md, section 4.9).
func (e *ending) closeCode() int {
	if e.bye != nil {
		return closeCode(e.bye)
	}
	switch e.reason {
	case endIdle: // the receiver goes away; 1000 means that the connection is complete (RFC 6455, section 7.4.1)
		return websocket.CloseGoingAway
	case endProtocol:
		return websocket.CloseProtocolError
	case endWrite:
	}
	return websocket.CloseNormalClosure
}

func closeCode(bye *protocol.Bye) int {
	switch {
	case bye.Code == protocol.CodeGoingAway:
		return websocket.CloseGoingAway
	case bye.Code == protocol.CodeInternal:
		return websocket.CloseInternalServerErr
	case bye.CSError == protocol.CSAuthError:
		return websocket.ClosePolicyViolation
	case bye.CSError == protocol.CSProtoError:
		return websocket.CloseProtocolError
	}
	return websocket.CloseTryAgainLater
}
