package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/qosrtc/qos/tests/namespace"
)

// insideFlag makes the runner prepare the process that becomes a job.
const insideFlag = "-inside"

// Priorities of processes (nice). Calls in browsers that wait for a processor lose their media and their connections,
// whatever is tested. Without root the others step back instead.
const (
	browserPriority = -15
	otherPriority   = 5
)

// execute runs tests of a job, and returns when nothing of it runs any more. A nil list means another command.
func (r *run) execute(ctx context.Context, j *job, tests []string) *result {
	runtime.LockOSThread() // the job ends with the thread that starts it
	defer runtime.UnlockOSThread()
	number := r.started.Add(1)
	tmp := filepath.Join(r.state.tmp, strconv.FormatInt(number, 10))
	marker := fmt.Sprintf("%s/%d", r.state.marker, number)
	defer func() { _ = os.RemoveAll(tmp) }()
	res := newResult(j)
	// Servers of tests run as another user.
	if res.failure = os.MkdirAll(tmp, 0o777); res.failure != nil {
		return res
	}
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append([]string{insideFlag, priority(j)}, r.arguments(j, tests)...)...)
	cmd.Dir = j.dir
	cmd.Env = append(r.environment(), "PWD="+j.dir, "TMPDIR="+tmp, markerVariable+"="+marker)
	isolate(cmd, j)
	out, err := cmd.StdoutPipe()
	if err != nil {
		res.failure = err
		return res
	}
	cmd.Stderr = cmd.Stdout
	began := time.Now()
	if res.failure = cmd.Start(); res.failure != nil {
		return res
	}
	pressure := watchPressure(cmd.Process.Pid)
	res.read(bufio.NewReader(out), j.tests != nil)
	err = cmd.Wait()
	kill(func(other string) bool { return other == marker })
	res.starved = pressure()
	res.took = time.Since(began)
	res.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	res.finish(err, tests)
	return res
}

// isolate gives the process of a test binary a network of its own, where that takes no user namespace: no port is
// taken by another process. Other commands reach the machine's network, as npm and go do.
func isolate(cmd *exec.Cmd, j *job) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 && j.tests != nil {
		namespace.Isolate(cmd, 0)
	}
	cmd.SysProcAttr.Setsid = true // a process group, and a group of the scheduler
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

func priority(j *job) string {
	switch root := os.Geteuid() == 0; {
	case j.browser && root:
		return strconv.Itoa(browserPriority)
	case !j.browser && !root:
		return strconv.Itoa(otherPriority)
	}
	return "0"
}

// inside sets the priority of this process, starts loopback in a new network, and becomes the command.
func inside(args []string) error {
	runtime.LockOSThread()
	var nice int
	if _, err := fmt.Sscan(args[0], &nice); err != nil {
		return err
	}
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, nice) // without the right to, it stays as it is
	// Where the kernel groups sessions, nice counts within a session, and this file among sessions.
	_ = os.WriteFile("/proc/self/autogroup", []byte(args[0]), 0)
	_ = namespace.LoopbackUp() // outside a namespace it is up
	// A shell ignores them for commands in the background, and programs of tests would too. An exec resets only signals
	// that are handled.
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP)
	path, err := exec.LookPath(args[1])
	if err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", strings.Join(args[1:], " "), syscall.Exec(path, args[1:], os.Environ()))
}

// counter numbers the processes of a run.
type counter = atomic.Int64
