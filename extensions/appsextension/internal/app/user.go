package app

import (
	"github.com/qosrtc/qos/internal/serve/jsonobject"
	"github.com/qosrtc/qos/protocol"
)

// ReadUserID reads the body {"userID": …}. A fault never has the ID.
func ReadUserID(raw []byte) (string, error) {
	var in struct {
		UserID string `json:"userID"`
	}
	if err := jsonobject.Decode(raw, &in); err != nil {
		return "", err
	}
	return in.UserID, checkLength("userID", in.UserID, 1, protocol.MaxIDBytes)
}
