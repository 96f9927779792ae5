//go:build unix

package qoswssreceiver

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketOf returns the socket of a connection, nil if it has none to wait for.
func socketOf(c net.Conn) syscall.RawConn {
	conn, ok := c.(*net.TCPConn)
	if !ok {
		return nil
	}
	socket, err := conn.SyscallConn()
	if err != nil {
		return nil
	}
	return socket
}

// canRead reports whether a read would return at once. It reads nothing, so that a connection waits without a buffer.
func canRead(fd uintptr) bool {
	one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(one[:], 0)
		if err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}
