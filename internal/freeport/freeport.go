// Package freeport finds ports for servers that tests start, stop and start again.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
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
		l, err := net.Listen("tcp", address) //nolint:noctx // it is closed at once
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			return "", err
		}
		return address, nil
	}
	return "", errors.New("no free port")
}
