package sidecar

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"time"

	"github.com/qosrtc/qos/agent/internal/config"
)

// dialTimeout is how long a look at an old socket may take.
const dialTimeout = time.Second

// listen opens the port or the Unix socket.
func listen(c *config.Config) (net.Listener, error) {
	path, isSocket := c.Socket()
	if !isSocket {
		listener, err := net.Listen("tcp", c.Listen)
		if err != nil {
			return nil, fmt.Errorf("listen: %w", err)
		}
		return listener, nil
	}
	mode, err := c.SocketPermissions()
	if err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	if err := os.Chmod(path, mode); err != nil {
		return nil, errors.Join(fmt.Errorf("socket_mode: %w", err), listener.Close())
	}
	return listener, nil
}

// removeStale removes the socket of a process that ended without doing so. Anything else
// stays where it is.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen: %s is there and is no socket", path)
	}
	if other, err := net.DialTimeout("unix", path, dialTimeout); err == nil {
		other.Close()
		return fmt.Errorf("listen: another process serves %s", path)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("listen: remove the old socket: %w", err)
	}
	return nil
}

// notify tells systemd how things stand (sd_notify(3)), where it asked to know.
func notify(state string) {
	address := os.Getenv("NOTIFY_SOCKET")
	if address == "" {
		return
	}
	if address[0] == '@' { // an abstract socket
		address = "\x00" + address[1:]
	}
	conn, err := net.DialTimeout("unixgram", address, dialTimeout) //nolint:gosec // G704: systemd names it
	if err != nil {
		return // systemd's timeout tells of it
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(state))
}
