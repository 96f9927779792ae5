// Package envelope compresses data that is stored for long and rarely read, and detects
// damage.
//
//	version (1 byte) | CRC-32C of the rest (4 bytes, little endian) | zstd of the content
package envelope

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// Version is the first byte of a sealed content. No JSON text begins with it.
	Version = 1

	headBytes  = 5
	windowSize = 1 << 20
)

// Both are safe for concurrent use and have no goroutine. They are made once: an encoder takes megabytes.
var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	compressor = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression),
			zstd.WithWindowSize(windowSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
	})
)

// Envelope seals and opens contents of one kind. It is safe for concurrent use.
type Envelope struct {
	most         int
	decompressor func() (*zstd.Decoder, error)
}

// New returns an envelope for contents of at most most bytes.
func New(most int) *Envelope {
	return &Envelope{most: most, decompressor: sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(most)),
			zstd.WithDecoderMaxWindow(uint64(max(most, windowSize))), zstd.WithDecoderLowmem(true))
	})}
}

// Seal returns the compressed content, or an error if it is too long.
func (e *Envelope) Seal(content []byte) ([]byte, error) {
	if len(content) > e.most {
		return nil, fmt.Errorf("%d bytes are more than %d", len(content), e.most)
	}
	z, err := compressor()
	if err != nil {
		return nil, err
	}
	sealed := z.EncodeAll(content, make([]byte, headBytes, headBytes+len(content)/2))
	sealed[0] = Version
	binary.LittleEndian.PutUint32(sealed[1:], crc32.Checksum(sealed[headBytes:], castagnoli))
	return sealed, nil
}

// Open returns the content of the output of Seal, or an error that describes the damage. It allocates no more
// memory than a content of the maximum length.
func (e *Envelope) Open(sealed []byte) ([]byte, error) {
	if len(sealed) < headBytes {
		return nil, fmt.Errorf("it has %d bytes", len(sealed))
	}
	if sealed[0] != Version {
		return nil, fmt.Errorf("it has version %d, this program knows %d", sealed[0], Version)
	}
	if crc32.Checksum(sealed[headBytes:], castagnoli) != binary.LittleEndian.Uint32(sealed[1:]) {
		return nil, errors.New("its checksum is wrong")
	}
	z, err := e.decompressor()
	if err != nil {
		return nil, err
	}
	return z.DecodeAll(sealed[headBytes:], nil)
}
