package namespace

import (
	"errors"
	"net"
	"syscall"
	"unsafe"
)

// siocBRAddBR creates a bridge (linux/sockios.h).
const siocBRAddBR = 0x89a0

// Bridge creates a bridge without ports that has an IPv4 address, as `ip link add NAME type bridge` and `ip addr add` do. It
// is an interface that is not loopback, for servers that use no other. A bridge that exists gets the address.
func Bridge(name string, address net.IP) error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	if err := ioctl(fd, siocBRAddBR, new(named(name))); err != nil && !errors.Is(err, syscall.EEXIST) {
		return err
	}
	addressed := struct {
		name [syscall.IFNAMSIZ]byte
		syscall.RawSockaddrInet4
		_ [8]byte
	}{named(name), syscall.RawSockaddrInet4{Family: syscall.AF_INET, Addr: [4]byte(address.To4())}, [8]byte{}}
	if err := ioctl(fd, syscall.SIOCSIFADDR, &addressed); err != nil {
		return err
	}
	return up(fd, name)
}

func named(name string) (bytes [syscall.IFNAMSIZ]byte) {
	copy(bytes[:syscall.IFNAMSIZ-1], name)
	return bytes
}

// up activates an interface.
func up(fd int, name string) error {
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: named(name), flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	return ioctl(fd, syscall.SIOCSIFFLAGS, &request)
}

func ioctl[T any](fd int, request uintptr, argument *T) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(argument))); errno != 0 {
		return errno
	}
	return nil
}
