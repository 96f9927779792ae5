package chunk

import (
	"fmt"

	"github.com/qosrtc/qos/storage/internal/envelope"
)

// maxPayload is the maximum length of a payload. Those of Builder are far shorter.
const maxPayload = 8 << 20

// bodies compresses payloads. It is safe for concurrent use.
var bodies = envelope.New(maxPayload)

// seal returns the body of a payload.
func seal(payload []byte) ([]byte, error) {
	body, err := bodies.Seal(payload)
	if err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	return body, nil
}

// unseal verifies a body and returns its payload.
func unseal(body []byte) ([]byte, error) {
	payload, err := bodies.Open(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	return payload, nil
}
