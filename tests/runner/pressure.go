package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// starvation is how much a job missed a processor.
type starvation struct {
	share  float64 // of its time in which its most hindered thread waited for a processor, on average of all seconds
	stalls int     // times at which the machine stood still for 4 s and more
}

// starved reports whether a failure of the job proves nothing.
func (s starvation) starved() bool { return s.share >= 0.25 || s.stalls > 0 }

// watchPressure samples the threads of a process and its descendants once a second until the returned function is
// called. The kernel counts for how long a thread waited in a run queue (/proc/<pid>/task/<tid>/schedstat); the file
// system's pressure counters would mix jobs of different priority.
func watchPressure(pid int) (stop func() starvation) {
	done, ended := make(chan struct{}), make(chan starvation)
	go func() {
		var s starvation
		var sum float64
		samples := 0
		before, at := waits(pid), time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if samples > 0 {
					s.share = sum / float64(samples)
				}
				ended <- s
				return
			case <-tick.C:
			}
			now, elapsed := waits(pid), time.Since(at)
			if at = time.Now(); elapsed > 5*time.Second {
				s.stalls++
			}
			sum += min(1, longest(before, now)/elapsed.Seconds())
			samples++
			before = now
		}
	}()
	return func() starvation { close(done); return <-ended }
}

// longest returns the longest wait of a thread between two samples, in seconds.
func longest(before, after map[int]int64) (seconds float64) {
	for thread, total := range after {
		if earlier, known := before[thread]; known {
			seconds = max(seconds, float64(total-earlier)/1e9)
		}
	}
	return seconds
}

// waits returns for how many nanoseconds each thread of a process and of its descendants has waited for a processor.
func waits(root int) map[int]int64 {
	total := map[int]int64{}
	for _, pid := range descendants(root) {
		threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		for _, t := range threads {
			thread, _ := strconv.Atoi(t.Name())
			raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, thread))
			if fields := strings.Fields(string(raw)); len(fields) == 3 {
				total[thread], _ = strconv.ParseInt(fields[1], 10, 64)
			}
		}
	}
	return total
}

// descendants returns a process and those that it, or one of them, started.
func descendants(root int) []int {
	children := map[int][]int{}
	for _, pid := range processes() {
		if fields := statOf(pid); len(fields) > 1 {
			parent, _ := strconv.Atoi(fields[1])
			children[parent] = append(children[parent], pid)
		}
	}
	list := []int{root}
	for i := 0; i < len(list); i++ {
		list = append(list, children[list[i]]...)
	}
	return slices.Clip(list)
}
