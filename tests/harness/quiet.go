package harness

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// ours are the beginnings of the IDs of our components. Others do not bound their log: with disable_stacktrace they
// write lines without stacks (docs/operations.md).
var ours = regexp.MustCompile(`"otelcol\.component\.id": "(qos|quality|conference)`)

// checkQuiet returns an error if the log of one life of a collector has a stack of our components, or the same warning or
// error of them twice within a minute. Messages with other texts in their fields, but for the error, are not the same.
func checkQuiet(log string) error {
	written := map[string]time.Time{}
	checked := true // the line and what follows it
	for line := range strings.Lines(log) {
		columns := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 5)
		at, err := time.Parse("2006-01-02T15:04:05.000Z0700", columns[0])
		switch {
		case err == nil:
			checked = ours.MatchString(line)
		case checked && stack.MatchString(line):
			return fmt.Errorf("the log has a stack:\n%s", line)
		}
		if err != nil || !checked || len(columns) < 4 || columns[1] != "error" && columns[1] != "warn" {
			continue
		}
		key := strings.Join(append(columns[3:4], texts(columns[4:])...), "\x00")
		if last, ok := written[key]; ok && at.Sub(last) < time.Minute {
			return fmt.Errorf("the log has this twice within %v:\n%s", at.Sub(last), line)
		}
		written[key] = at
	}
	return nil
}

// stack are lines of a stack as zap and the runtime write them.
var stack = regexp.MustCompile(`^\t\S+\.go:\d+|^goroutine \d`)

// texts returns the fields of a line that are texts, but for the error, in order.
func texts(fields []string) (all []string) {
	if len(fields) == 0 {
		return nil
	}
	var values map[string]any
	if json.Unmarshal([]byte(fields[0]), &values) != nil {
		return fields
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if text, ok := values[name].(string); ok && name != "error" {
			all = append(all, name+"="+text)
		}
	}
	return all
}
