package cause

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.opentelemetry.io/collector/pdata/plog"
)

// Label is what was done to a call.
type Label struct {
	Cause string   `json:"cause"`          // internal/call/cause.Cause, "none" where nothing was done
	Users []string `json:"users"`          // at whom; the sender first where it is a path; empty: nobody in particular
	Also  []string `json:"also,omitempty"` // other causes that say the same of this call
	Did   string   `json:"did"`            // in words
	Kind  string   `json:"kind,omitempty"` // of harm, or of call without harm, where a draw has kinds
}

// Load is how busy the machine was while it recorded a call.
type Load struct {
	Pressure float64 `json:"pressure"` // share of the time in which some task of the machine waited for a processor
	Late     float64 `json:"late"`     // share of the measurements that came late, of all who were not starved on purpose
}

// MaxPressure is the highest pressure under which a recording is evidence: above it, what a call was like may
// be due to the machine.
const MaxPressure = 0.6

// Starved reports whether the machine was too busy for the recording to be evidence.
func (l *Load) Starved() bool { return l != nil && l.Pressure > MaxPressure }

// Trace is one recorded call.
type Trace struct {
	Name  string
	Label Label
	Load  *Load       // nil: not written down
	Logs  []plog.Logs // in the order in which the receiver emitted them
}

type header struct {
	Name  string `json:"name"`
	Label Label  `json:"label"`
	Load  *Load  `json:"load,omitempty"`
}

// suffix of the files of traces: gzip, one JSON document a line, the first the header.
const suffix = ".jsonl.gz"

// maxLine bounds one batch of records.
const maxLine = 16 << 20

// File is where the trace lies in dir.
func (t *Trace) File(dir string) string { return filepath.Join(dir, t.Name+suffix) }

// Write writes the trace to its file in dir.
func (t *Trace) Write(dir string) error {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	first, err := json.Marshal(header{t.Name, t.Label, t.Load})
	if err != nil {
		return err
	}
	_, _ = z.Write(append(first, '\n')) // Close tells
	var form plog.JSONMarshaler
	for _, logs := range t.Logs {
		line, err := form.MarshalLogs(logs)
		if err != nil {
			return fmt.Errorf("trace %s: %w", t.Name, err)
		}
		_, _ = z.Write(append(line, '\n'))
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(t.File(dir), out.Bytes(), 0o600)
}

// Recorded reports whether the trace lies in dir, of a machine that was not starved.
func (t *Trace) Recorded(dir string) bool {
	have, err := read(t.File(dir))
	return err == nil && !have.Load.Starved()
}

// ReadAll reads the traces in dir, by name.
func ReadAll(dir string) ([]*Trace, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*"+suffix))
	if err != nil {
		return nil, err
	}
	traces := make([]*Trace, 0, len(names))
	for _, name := range names {
		t, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		traces = append(traces, t)
	}
	return traces, nil
}

func read(name string) (*Trace, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, maxLine)
	if !lines.Scan() {
		return nil, errors.Join(lines.Err(), io.ErrUnexpectedEOF)
	}
	var head header
	if err := json.Unmarshal(lines.Bytes(), &head); err != nil {
		return nil, err
	}
	if own := strings.TrimSuffix(filepath.Base(name), suffix); head.Name != own {
		return nil, fmt.Errorf("it is the trace of %q", head.Name)
	}
	t := &Trace{Name: head.Name, Label: head.Label, Load: head.Load}
	var form plog.JSONUnmarshaler
	for lines.Scan() {
		logs, err := form.UnmarshalLogs(lines.Bytes())
		if err != nil {
			return nil, err
		}
		t.Logs = append(t.Logs, logs)
	}
	return t, lines.Err()
}
