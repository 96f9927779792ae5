package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// history is for how many seconds each job ran last time, by name.
type history map[string]float64

func historyFile() string { return filepath.Join(folder, "seconds.json") }

// readHistory returns the times of the last runs; none if there are none that can be read.
func readHistory() history {
	h := history{}
	if raw, err := os.ReadFile(historyFile()); err == nil && json.Unmarshal(raw, &h) != nil {
		return history{}
	}
	return h
}

// write records the times of a run's jobs beside those of jobs that it did not have.
func (h history) write(results []*result) {
	for _, r := range results {
		h[r.name] = r.took.Seconds()
	}
	if raw, err := json.MarshalIndent(h, "", " "); err == nil {
		_ = os.WriteFile(historyFile(), raw, 0o644)
	}
}

// expected is for how many seconds a job runs: as last time, or a guess by its kind.
func (h history) expected(j *job) float64 {
	if seconds, known := h[j.name]; known {
		return seconds
	}
	switch {
	case j.browser, j.tests == nil:
		return 40
	case strings.HasPrefix(j.name, "tests/"), strings.HasPrefix(j.name, "storage/"):
		return 20
	}
	return 3
}

// left is an estimate of the seconds until all jobs have ended.
func (h history) left(running, waiting []*job) float64 {
	browsers, others := 0.0, 0.0
	add := func(j *job, seconds float64) {
		if j.browser {
			browsers += seconds
		} else {
			others += seconds
		}
	}
	for _, j := range running {
		add(j, h.expected(j)/2) // on average, half of it is over
	}
	for _, j := range waiting {
		add(j, h.expected(j))
	}
	browsers /= browsersAtOnce
	return browsers + max(0, others-browsers*othersBeside)/othersAtOnce
}
