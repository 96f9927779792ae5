//go:build !unix

package qoswssreceiver

import (
	"net"
	"syscall"
)

// socketOf returns nil: connections wait in Read.
func socketOf(net.Conn) syscall.RawConn { return nil }

func canRead(uintptr) bool { return true }
