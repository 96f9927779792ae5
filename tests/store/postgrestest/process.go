package postgrestest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

// own gives the directory to a user other than root, as which the server refuses to run.
func (s *Server) own() error {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.who = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		return os.Chown(s.dir, uid, gid)
	}
	return errors.New("no user but root to run it as")
}

// Command is a program of the server's version, like pg_dump, to be run by the server's
// user. It is in a process group of its own: an interrupt of the tests is theirs.
func (s *Server) Command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.who, Setpgid: true}
	return cmd
}

// children are the processes that the server has started.
func (s *Server) children() (pids []int) {
	pid := s.cmd.Process.Pid
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for field := range strings.FieldsSeq(string(text)) {
		if child, err := strconv.Atoi(field); err == nil {
			pids = append(pids, child)
		}
	}
	return pids
}

// guard reads the server's process id when it starts, and 0 when it has ended. When its
// input ends, whatever ended the tests, it ends the server and removes its data.
const guard = `
pid=0
while read -r line; do pid=$line; done
if [ "$pid" -gt 0 ]; then
	kill -CONT $(cat "/proc/$pid/task/$pid/children") "$pid"
	kill -QUIT "$pid"
	tries=0
	while kill -0 "$pid" && [ "$tries" -lt 100 ]; do
		sleep 0.1
		tries=$((tries+1))
	done
	kill -KILL "$pid"
fi
rm -rf "$1"
`

// watch starts the guard, out of reach of a signal to the tests' group.
func (s *Server) watch() (err error) {
	dog := exec.Command("/bin/sh", "-c", guard, "qos-postgres-guard", s.dir)
	dog.Dir = "/"
	dog.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.leash, err = dog.StdinPipe(); err != nil {
		return err
	}
	if err := dog.Start(); err != nil {
		return err
	}
	s.dog = dog
	return nil
}

// tail keeps the last of what a server wrote.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const maxTail = 16 << 10

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = bytes.Clone(t.text[max(0, len(t.text)-maxTail):])
	return len(p), nil
}

// String returns it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
