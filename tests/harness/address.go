package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Ports from below the range that Linux gives to outgoing connections (32768 and up): an
// address must still be free when a collector comes back to it, whatever connections its
// clients opened in between.
const (
	firstPort = 15_000
	lastPort  = 32_000
)

var given sync.Map // ports that FreeAddress gave to this process

// FreeAddress is an address of loopback that nobody listens on, and that this process
// gets once.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		l, err := net.Listen("tcp", address)
		if err != nil {
			continue
		}
		require.NoError(tb, l.Close())
		return address
	}
	require.FailNow(tb, "no free port")
	return ""
}
