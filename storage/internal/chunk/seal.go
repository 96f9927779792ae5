package chunk

import (
	"fmt"

	"github.com/qosrtc/qos/storage/internal/envelope"
)

// maxPayload is what a body may come to. Chunks that Builder makes stay far below.
const maxPayload = 8 << 20

//nolint:gochecknoglobals // safe for concurrent use, and made once
var bodies = envelope.New(maxPayload)

// seal makes a body of a payload.
func seal(payload []byte) ([]byte, error) {
	body, err := bodies.Seal(payload)
	if err != nil {
		return nil, fmt.Errorf("chunk: %w", err)
	}
	return body, nil
}

// unseal checks a body and returns its payload.
func unseal(body []byte) ([]byte, error) {
	payload, err := bodies.Open(body)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	return payload, nil
}
