package namespace

import (
	"os"
	"os/exec"
	"syscall"
)

// Isolate makes a command run in a network namespace of its own, and in further namespaces
// (syscall.CLONE_NEW…). Without root it is root of a user namespace. The command ends with the thread
// that starts it: lock the goroutine to its thread until the command has ended.
func Isolate(cmd *exec.Cmd, further uintptr) {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	attr.Cloneflags |= further &^ syscall.CLONE_NEWNS
	attr.Unshareflags = further & syscall.CLONE_NEWNS // mounts stay inside
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	cmd.SysProcAttr = attr
}

// LoopbackUp does what `ip link set lo up` does. A new network namespace needs it.
func LoopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer func() { _ = syscall.Close(fd) }()
	return up(fd, "lo")
}
