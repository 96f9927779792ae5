// Package freeport finds ports for servers that tests start, stop and start again.
package freeport

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// The ports are from below the range that Linux gives to outgoing connections (32768 and
// up): an address must still be free when a server returns to it, whatever connections its
// clients opened in between. A client that retries could even connect to itself.
const (
	firstPort = 15_000
	lastPort  = 32_000
)

// held are the files of the ports that this process has, by port. They stay open until it ends.
var held sync.Map

// Address returns an address of loopback that nobody listens on, and that no other call in this process or another of
// the same user gets while this process runs.
func Address() (string, error) {
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		free, err := reserve(port)
		if err != nil {
			return "", err
		}
		if !free {
			continue
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		if silent(address) {
			return address, nil
		}
	}
	return "", errors.New("no free port")
}

// Released waits until an address that a server of this process has closed can be listened on again, at most 10 s: a
// process that was being started has a copy of the listener until it runs its program.
func Released(address string) error {
	for range 10_000 {
		if silent(address) {
			return nil
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // there is no signal
	}
	return fmt.Errorf("%s is still listened on", address)
}

// silent reports whether nothing listens on an address. A listener of our own would prove as much, but such a copy of it
// would keep the address taken.
func silent(address string) bool {
	conn, err := net.Dial("tcp", address) // loopback answers at once
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// reserve reports whether the port is this process's now. Tests of several packages run at once, and between the choice
// of a port and the server that listens on it, or between its end and its next start, nothing else tells them apart. The
// system gives the lock back when the process ends, however it ends.
func reserve(port int) (bool, error) {
	dir := fmt.Sprintf("/tmp/qos-ports-%d", os.Getuid()) // not in TMPDIR: the runner of tests gives each process one of its own
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, strconv.Itoa(port)), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, nil
		}
		return false, err
	}
	held.Store(port, f)
	return true, nil
}
