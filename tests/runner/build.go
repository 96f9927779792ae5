package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A binary is the test binary of a package, with the race detector or as the shipped binary is built.
type binary struct {
	*testPackage
	race bool
	path string
}

// compile builds the test binaries of packages; those whose sources did not change stay as they are.
func (r *run) compile(ctx context.Context, packages []*testPackage, race bool) ([]binary, error) {
	kind, flags, env := "plain", []string{"-trimpath"}, []string{"CGO_ENABLED=0"}
	if race {
		kind, flags, env = "race", []string{"-race"}, []string{"CGO_ENABLED=1"}
	}
	var list []binary
	for i, batch := range batches(packages) {
		dir := filepath.Join(absolute(folder), kind, strconv.Itoa(i)) + "/"
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		args := append([]string{"test", "-c", "-v", "-vet=off", "-o", dir}, flags...)
		for _, p := range batch {
			args = append(args, p.ImportPath)
			list = append(list, binary{p, race, dir + filepath.Base(p.folder) + ".test"})
		}
		if err := r.progress(ctx, "compiling tests ("+kind+")", env, "go", args...); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// batches divides packages so that those of one batch have different names: `go test -c` writes a batch into one folder.
func batches(packages []*testPackage) (list [][]*testPackage) {
next:
	for _, p := range packages {
		for i, batch := range list {
			if !slices.ContainsFunc(batch, func(o *testPackage) bool { return filepath.Base(o.folder) == filepath.Base(p.folder) }) {
				list[i] = append(batch, p)
				continue next
			}
		}
		list = append(list, []*testPackage{p})
	}
	return list
}

// progress runs a command that prints a line for each step, and prints how many at least every 30 s. The error has
// the last lines of a command that fails.
func (r *run) progress(ctx context.Context, what string, env []string, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		return err
	}
	began, last := time.Now(), time.Now()
	var lines []string
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		lines = append(lines, scanner.Text())
		if time.Since(last) > interval {
			last = time.Now()
			r.say("%s: %d steps so far", what, len(lines))
		}
	}
	if err := cmd.Wait(); err != nil {
		lines = slices.DeleteFunc(lines, func(line string) bool { return !strings.ContainsAny(line, " \t:") }) // names of packages
		return fmt.Errorf("%s: %w\n%s", what, err, strings.Join(lines[max(0, len(lines)-50):], "\n"))
	}
	if took := time.Since(began); took > time.Second {
		r.say("%s took %s", what, took.Round(time.Second))
	}
	return nil
}

// interval is the longest time without a line.
const interval = 30 * time.Second

// say prints a line with the time since the start.
func (r *run) say(format string, args ...any) {
	r.print("%6s  %s\n", clock(time.Since(r.began)), fmt.Sprintf(format, args...))
}

func (r *run) print(format string, args ...any) {
	r.printing.Lock()
	defer r.printing.Unlock()
	_, _ = fmt.Fprintf(r.out, format, args...)
}

// clock formats a duration as minutes and seconds.
func clock(d time.Duration) string {
	d = d.Round(time.Second)
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

func absolute(path string) string {
	full, err := filepath.Abs(path)
	if err != nil {
		return path
	}
	return full
}
