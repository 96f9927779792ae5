package storage

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseSessionID(t *testing.T) {
	id, err := ParseSessionID("019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f")
	require.NoError(t, err)
	require.Equal(t, [16]byte{0x01, 0x9a, 0x9f, 0x3c, 0x7b, 0x1a, 0x7c, 0x3e, 0x9f, 0x10, 0x2b, 0x6f, 0x0c, 0x1d, 0x2e, 0x3f}, id)
	for _, s := range []string{
		"", "019a9f3c7b1a7c3e9f102b6f0c1d2e3f", "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3", "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f0",
		"019A9F3C-7b1a-7c3e-9f10-2b6f0c1d2e3f", "019a9f3c-7b1a-7c3e-9f1002b6f0c1d2e3f", "019a9f3c-7b1a-7c3e-9f1--2b6f0c1d2e3f",
		"019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3g", "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2\xc3\xa9",
	} {
		_, err := ParseSessionID(s)
		require.Error(t, err, s)
	}
}
