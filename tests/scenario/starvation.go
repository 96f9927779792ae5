package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
)

// Starvation limits the processor time of one participant's machine: a browser for this participant alone.
type Starvation struct {
	Who   string
	Share float64 // of one processor
	Busy  int     // further threads of the page that compete for it
}

// String describes what the machine has left.
func (s Starvation) String() string {
	if s.Busy == 0 {
		return fmt.Sprintf("%.1f %% of a processor", 100*s.Share)
	}
	return fmt.Sprintf("%.0f %% of a processor, and %d other threads that want it", 100*s.Share, s.Busy)
}

// watches leaves a participant without a camera: a machine has too little processor time for one direction alone if it
// sends or receives a large picture and not both.
func watches(user string) func(*Call) {
	return func(c *Call) { c.Of(user).Media = Source{Audio: "microphone"} }
}

// Encoding the large picture takes much of a processor. The smaller one leaves its sender time if the receiver alone is
// starved.
const (
	sendHeight    = 1080
	receiveHeight = 720
)

// shows lets a participant send a large picture.
func shows(user string, height int) func(*Call) {
	return func(c *Call) {
		m := &c.Of(user).Media
		m.Height, m.FPS, m.StartKbps = height, 30, 4000
	}
}

// Starve is a call in which one participant sends a large picture to another, one of them is starved, and further
// participants watch.
func Starve(name, showing, watching string, s Starvation) Scenario {
	found, height := "receivingMachine", receiveHeight
	if s.Who == showing {
		found, height = "sendingMachineCpu", sendHeight
	}
	return Scenario{
		Name: name, Users: Two, Label: label(found, fmt.Sprintf("%s shows %dp; %s has %v", showing, height, s.Who, s), s.Who),
		Prepare: Each(shows(showing, height), watches(watching)), Kinds: []string{"audio"}, Starved: s,
	}
}

// processors returns the folder of this process's control group for processors.
func processors(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile("/proc/self/cgroup")
	require.NoError(t, err)
	for line := range strings.SplitSeq(string(raw), "\n") {
		fields := strings.SplitN(line, ":", 3) // number, controllers, path
		if len(fields) == 3 && slices.Contains(strings.Split(fields[1], ","), "cpu") {
			return filepath.Join("/sys/fs/cgroup/cpu", fields[2])
		}
	}
	require.Fail(t, "control groups of the first version are needed to starve a browser")
	return ""
}

// begin limits the browser's share.
func (s Starvation) begin(c *Call, b *browser.Browser) {
	c.T.Helper()
	c.Of(s.Who).Page.Run(fmt.Sprintf(
		"(call.busy = Array.from({length: %d}, () => new Worker(URL.createObjectURL(new Blob(['for (;;);'])))), 0)", s.Busy))
	limit(c.T, b, s.Share)
}

// end removes the limit, so that the page can hang up.
func (s Starvation) end(c *Call, b *browser.Browser) {
	c.T.Helper()
	limit(c.T, b, 4)
	c.Of(s.Who).Page.Run("(call.busy.forEach((one) => one.terminate()), 0)")
}

// limit limits a browser to a share of one processor, and its real-time threads, such as those of sound, to the same:
// without a share of their own, the group refuses processes that have such threads.
func limit(t *testing.T, b *browser.Browser, share float64) {
	t.Helper()
	group := filepath.Join(processors(t), "qos-browser-"+strconv.Itoa(b.Process.PID()))
	write := func(file string, value int) {
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(value)), 0o600), file)
	}
	const firstPeriodUs, mostFirst = 20_000, 0.5 // real-time threads have one processor in all
	if _, err := os.Stat(group); err != nil {
		require.NoError(t, os.Mkdir(group, 0o755), "control groups are needed to starve a browser")
		t.Cleanup(func() { release(t, group) })
		write("cpu.rt_period_us", firstPeriodUs)
	}
	write("cpu.rt_runtime_us", int(min(share, mostFirst)*firstPeriodUs))
	const leastUs = 1200                        // a quota of less than 1 ms is refused
	periodUs := int(max(20_000, leastUs/share)) // short, so that the processor is slow and does not stop
	write("cpu.cfs_period_us", periodUs)
	write("cpu.cfs_quota_us", int(share*float64(periodUs)))
	for _, pid := range b.Process.Descendants() {
		err := os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0o600)
		if _, gone := os.Stat("/proc/" + strconv.Itoa(pid)); gone == nil { // else it has ended
			require.NoError(t, err, "a process of the browser has no limit")
		}
	}
}

// release removes a control group.
func release(t *testing.T, group string) {
	t.Helper()
	browser.Eventually(t, browser.Patience, "the control group is empty", func() (bool, string) {
		raw, err := os.ReadFile(filepath.Join(group, "cgroup.procs"))
		require.NoError(t, err)
		for pid := range strings.FieldsSeq(string(raw)) {
			_ = os.WriteFile(filepath.Join(filepath.Dir(group), "cgroup.procs"), []byte(pid), 0o600) // it may have ended
		}
		return os.Remove(group) == nil, string(raw)
	})
}
