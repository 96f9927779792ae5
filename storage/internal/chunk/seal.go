package chunk

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	version = 1
	// maxPayload is what a body may come to. Chunks that Builder makes stay far below.
	maxPayload = 8 << 20
	headBytes  = 5
)

// Both are safe for concurrent use and hold no goroutine.
//
//nolint:gochecknoglobals // made once: each takes megabytes
var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
			zstd.WithWindowSize(1<<20), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	})
	decompressor = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload),
			zstd.WithDecoderMaxWindow(maxPayload), zstd.WithDecoderLowmem(true))
	})
)

// seal makes a body of a payload.
func seal(payload []byte) ([]byte, error) {
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("chunk: a payload of %d bytes is longer than %d", len(payload), maxPayload)
	}
	z, err := compressor()
	if err != nil {
		return nil, err
	}
	body := z.EncodeAll(payload, make([]byte, headBytes, headBytes+len(payload)))
	body[0] = version
	binary.LittleEndian.PutUint32(body[1:], crc32.Checksum(body[headBytes:], castagnoli))
	return body, nil
}

// unseal checks a body and returns its payload.
func unseal(body []byte) ([]byte, error) {
	if len(body) < headBytes {
		return nil, fmt.Errorf("%w: it has %d bytes", errBody, len(body))
	}
	if body[0] != version {
		return nil, fmt.Errorf("%w: it has version %d, this program knows %d", errBody, body[0], version)
	}
	if crc32.Checksum(body[headBytes:], castagnoli) != binary.LittleEndian.Uint32(body[1:]) {
		return nil, fmt.Errorf("%w: its checksum is wrong", errBody)
	}
	z, err := decompressor()
	if err != nil {
		return nil, err
	}
	payload, err := z.DecodeAll(body[headBytes:], nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBody, err)
	}
	return payload, nil
}
