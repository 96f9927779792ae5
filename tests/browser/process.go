package browser

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"time"
)

// A Process is a child in a process group of its own.
type Process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// StartProcess starts a program with a folder for its temporary files, and returns its process and the lines that it
// writes to either output.
func StartProcess(tmp, name string, args ...string) (*Process, *Lines, error) {
	out := &Lines{more: make(chan struct{}, 1)}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp, "MOZ_HEADLESS=1")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second // grandchildren may hold the pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	p := &Process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // Success has the result
	}()
	return p, out, nil
}

// PID returns the ID of the child and of its process group.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Success reports whether the child, which has ended, exited with 0.
func (p *Process) Success() bool { return p.cmd.ProcessState.Success() }

// Signal sends a signal to the child alone.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill ends the whole group at once, and waits for the child.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.done
}

// Lines has the output of a process.
type Lines struct {
	mu   sync.Mutex
	text []byte
	more chan struct{}
}

// Write implements io.Writer.
func (l *Lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.text = append(l.text, p...)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

// String returns the output so far.
func (l *Lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// FirstMatch waits until a process has written a text that matches, and returns the part in parentheses.
func FirstMatch(out *Lines, pattern *regexp.Regexp) (string, error) {
	deadline := time.After(Patience)
	for {
		if m := pattern.FindStringSubmatch(out.String()); m != nil {
			return m[1], nil
		}
		select {
		case <-out.more:
		case <-deadline:
			return "", fmt.Errorf("no output within %s matches %s: %s", Patience, pattern, out)
		}
	}
}
