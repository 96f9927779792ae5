package harness

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/freeport"
)

// FreeAddress is an address of loopback that nobody listens on, and that this process
// gets once.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	address, err := freeport.Address()
	require.NoError(tb, err)
	return address
}
