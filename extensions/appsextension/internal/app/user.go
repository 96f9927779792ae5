package app

import (
	"fmt"
	"strconv"

	"github.com/qosrtc/qos/protocol"
)

// ReadUserID reads the body {"userID": …}. A fault never has the ID.
func ReadUserID(raw []byte) (string, error) {
	o := body(raw, "userID")
	id := o.Text("userID", protocol.MaxIDBytes)
	if id == "" {
		o.Refuse("userID", fmt.Sprintf("have 1 to %d bytes", protocol.MaxIDBytes), strconv.Itoa(len(id)))
	}
	return id, o.Fault()
}
