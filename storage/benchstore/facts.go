package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/qosrtc/qos/tests/kit/bench"
)

// facts describes the machine, without paths and names.
func facts(dir string) string {
	return fmt.Sprintf("%d cores (%s), %s, %s/%s, file system %s, load before it %s, %s.",
		runtime.NumCPU(), cpu(), runtime.Version(), runtime.GOOS, runtime.GOARCH, fileSystem(dir), bench.Load(), time.Now().UTC().Format(time.DateOnly))
}

func cpu() string {
	text, _ := os.ReadFile("/proc/cpuinfo") // missing on other systems
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "of unknown kind"
}

// fileSystem returns the type of the file system with dir: the mount with the longest
// matching path.
func fileSystem(dir string) string {
	text, _ := os.ReadFile("/proc/mounts")
	kind, longest := "unknown", -1
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || !strings.HasPrefix(dir+"/", strings.TrimSuffix(fields[1], "/")+"/") {
			continue
		}
		if len(fields[1]) > longest {
			kind, longest = fields[2], len(fields[1])
		}
	}
	return kind
}
