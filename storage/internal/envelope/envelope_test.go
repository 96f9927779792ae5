package envelope

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSeal(t *testing.T) {
	const most = 1 << 21
	e := New(most)
	for _, content := range [][]byte{{}, {0}, []byte("{}"), bytes.Repeat([]byte("x"), most)} {
		sealed, err := e.Seal(content)
		require.NoError(t, err)
		got, err := e.Open(sealed)
		require.NoError(t, err)
		require.Equal(t, string(content), string(got))
	}
	_, err := e.Seal(make([]byte, most+1))
	require.EqualError(t, err, "2097153 bytes are more than 2097152")
}

// Every flipped bit is found, and whatever was cut off.
func TestDamage(t *testing.T) {
	e := New(1 << 20)
	sealed, err := e.Seal([]byte(`{"some": "document", "of": ["a", "call"]}`))
	require.NoError(t, err)
	for bit := range 8 * len(sealed) {
		sealed[bit/8] ^= 1 << (bit % 8)
		_, err := e.Open(sealed)
		require.Error(t, err)
		sealed[bit/8] ^= 1 << (bit % 8)
	}
	for n := range sealed {
		_, err := e.Open(sealed[:n])
		require.Error(t, err)
	}
	_, err = e.Open(append([]byte{2}, sealed[1:]...))
	require.EqualError(t, err, "it has version 2, this program knows 1")
}

// What comes to much more than any content is refused before it takes memory.
func TestBomb(t *testing.T) {
	z, err := compressor()
	require.NoError(t, err)
	_, err = New(1 << 20).Open(signed(z.EncodeAll(make([]byte, 16<<20), nil)))
	require.ErrorContains(t, err, "exceed")
}

func signed(packed []byte) []byte {
	sealed := append([]byte{Version, 0, 0, 0, 0}, packed...)
	binary.LittleEndian.PutUint32(sealed[1:], crc32.Checksum(packed, castagnoli))
	return sealed
}

// What has a right checksum and is nonsense is an error, never a panic.
func FuzzOpen(f *testing.F) {
	e := New(1 << 16)
	f.Add([]byte{})
	f.Add([]byte("\x28\xb5\x2f\xfd\x00"))
	f.Fuzz(func(t *testing.T, packed []byte) {
		content, err := e.Open(signed(packed))
		if err == nil {
			require.LessOrEqual(t, len(content), 1<<16)
		}
	})
}
