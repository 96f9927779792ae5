//go:build unix

package qoswssreceiver

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// socketOf returns the socket of a connection, nil if it has none that can be waited for.
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

// canRead reports whether a read would not wait. It reads nothing, so that no buffer is needed while a connection waits.
func canRead(fd uintptr) bool {
	one := [1]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(one[:], 0)
		if err != unix.EINTR {
			return n != 0 || err != nil
		}
	}
}
