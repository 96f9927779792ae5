// Package freeport finds ports for servers that tests start, stop and start again.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
)

// The ports are from below the range that Linux gives to outgoing connections (32768 and
// up): an address must still be free when a server returns to it, whatever connections its
// clients opened in between. A client that retries could even connect to itself.
const (
	firstPort = 15_000
	lastPort  = 32_000
)

var given sync.Map // ports that Address gave to this process

// Address returns an address of loopback that nobody listens on, and that this process gets
// once.
func Address() (string, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort) //nolint:gosec // no secret
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if _, taken := given.LoadOrStore(port, true); taken {
			continue
		}
		// A listener of our own would prove as much, but a process that is forked while it is
		// open keeps the port taken until it runs its program.
		conn, err := net.Dial("tcp", address) //nolint:noctx // loopback answers at once
		if errors.Is(err, syscall.ECONNREFUSED) {
			return address, nil
		}
		if err == nil {
			_ = conn.Close()
		}
	}
	return "", errors.New("no free port")
}
