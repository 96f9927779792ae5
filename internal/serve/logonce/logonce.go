// Package logonce bounds the log of components whose attempts fail alike for long.
package logonce

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

const (
	// interval is the time in which a message is written once.
	interval = time.Minute
	// maxMessages bounds the messages that differ in their fields only, in an interval. Others are repetitions of the first of them.
	maxMessages = 100
)

// Settings returns settings whose logger writes a warning or an error once a minute, without a stack: a store or a receiver that is away is
// an expected state, and fails each attempt alike. The field repeated has the number of times that it was left out before. Messages
// with other texts in their fields, but for the error, are others, up to 100. Levels below warnings pass.
func Settings(set component.TelemetrySettings) component.TelemetrySettings {
	state := &repeats{seen: map[string]*repeat{}}
	set.Logger = set.Logger.WithOptions(zap.WrapCore(func(c zapcore.Core) zapcore.Core { return &onceCore{Core: c, state: state} }))
	return set
}

// repeats are the messages of one component.
type repeats struct {
	mu   sync.Mutex
	seen map[string]*repeat
}

// repeat is one of them.
type repeat struct {
	written time.Time
	left    int // out since then
}

// admit reports whether a message is written at a time, and how many were left out before.
func (r *repeats) admit(message, fields string, at time.Time) (left int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := message + fields
	m := r.seen[key]
	if m == nil && len(r.seen) >= maxMessages {
		maps.DeleteFunc(r.seen, func(_ string, m *repeat) bool { return at.Sub(m.written) >= interval })
		if len(r.seen) >= maxMessages {
			key = message
			m = r.seen[key]
		}
	}
	switch {
	case m == nil:
		r.seen[strings.Clone(key)] = &repeat{written: at}
		return 0, true
	case at.Sub(m.written) < interval:
		m.left++
		return 0, false
	}
	left = m.left
	m.written, m.left = at, 0
	return left, true
}

type onceCore struct {
	zapcore.Core
	state *repeats
	with  string // of the fields that it has
}

func (c *onceCore) With(fields []zapcore.Field) zapcore.Core {
	return &onceCore{c.Core.With(fields), c.state, c.with + texts(fields)}
}

// Check leaves the decision to Write, which has the fields.
func (c *onceCore) Check(e zapcore.Entry, ce *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if e.Level < zapcore.WarnLevel || e.Level > zapcore.ErrorLevel {
		return c.Core.Check(e, ce)
	}
	if c.Enabled(e.Level) {
		return ce.AddCore(e, c)
	}
	return ce
}

func (c *onceCore) Write(e zapcore.Entry, fields []zapcore.Field) error {
	left, ok := c.state.admit(e.Message, c.with+texts(fields), e.Time)
	if !ok {
		return nil
	}
	e.Stack = ""
	if left > 0 {
		fields = append(slices.Clip(fields), zap.Int("repeated", left))
	}
	return c.Core.Write(e, fields)
}

// texts joins the texts of fields.
func texts(fields []zapcore.Field) string {
	var b strings.Builder
	for i := range fields {
		if fields[i].Type == zapcore.StringType {
			b.WriteString("\x00" + fields[i].Key + "\x00" + fields[i].String)
		}
	}
	return b.String()
}
