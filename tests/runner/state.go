package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// markerVariable is in the environment of every process of a run: "<pid>-<start>/<job>" of the runner. By it the
// runner ends what a job left running, and the next runner what a killed one left.
const markerVariable = "QOS_RUNNER"

// state is what a run has outside the repository: its marker, its temporary directory, and the lock of its folder.
type state struct {
	marker string
	tmp    string
	lock   *os.File
}

// newState ends and removes what killed runs left, and locks the folder of test binaries.
func newState() (*state, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(folder, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, fmt.Errorf("another run uses %s: %w", folder, err)
	}
	clean()
	pid := os.Getpid()
	s := &state{lock: lock, marker: identity(pid), tmp: temporary(identity(pid))}
	// Servers that run as another user have their data below it.
	return s, os.MkdirAll(s.tmp, 0o755)
}

func (s *state) remove() {
	kill(func(marker string) bool { return strings.HasPrefix(marker, s.marker+"/") })
	_ = os.RemoveAll(s.tmp)
	_ = s.lock.Close()
}

// temporary returns the directory of a run. Sockets of browsers below it have at most 107 bytes.
func temporary(identity string) string { return filepath.Join(os.TempDir(), "qos-run-"+identity) }

// identity is a process's number with the time of its start, which tells it from later ones; "" after its end.
func identity(pid int) string {
	fields := statOf(pid)
	if len(fields) < 20 {
		return ""
	}
	return strconv.Itoa(pid) + "-" + fields[19]
}

// statOf returns the fields of /proc/<pid>/stat from the process's state on: fields[1] is its parent.
func statOf(pid int) []string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(raw), ") ")
	return strings.Fields(rest)
}

// alive reports whether the runner of an identity still runs.
func alive(id string) bool {
	number, _, _ := strings.Cut(id, "-")
	pid, err := strconv.Atoi(number)
	return err == nil && identity(pid) == id
}

// clean ends the processes and removes the directories of runs whose runner has ended.
func clean() {
	kill(func(marker string) bool {
		id, _, _ := strings.Cut(marker, "/")
		return !alive(id)
	})
	left, _ := filepath.Glob(temporary("*-*"))
	for _, dir := range left {
		if id := strings.TrimPrefix(filepath.Base(dir), "qos-run-"); !alive(id) {
			_ = os.RemoveAll(dir)
		}
	}
}

// kill ends each process whose marker matches, and waits up to 5 s until there is none.
func kill(matches func(marker string) bool) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); <-tick.C {
		found := marked(matches)
		if len(found) == 0 {
			return
		}
		for _, pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// marked returns the processes whose marker matches, without this one.
func marked(matches func(marker string) bool) (pids []int) {
	for _, pid := range processes() {
		env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		for entry := range bytes.SplitSeq(env, []byte{0}) {
			marker, is := strings.CutPrefix(string(entry), markerVariable+"=")
			if is && pid != os.Getpid() && matches(marker) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// processes returns all process numbers.
func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
