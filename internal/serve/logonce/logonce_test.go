package logonce

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// clock is the time of a logger.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time                       { return c.now }
func (*clock) NewTicker(d time.Duration) *time.Ticker { return time.NewTicker(d) }

// TestSettings: a message is written once a minute with the number of those left out, without a stack; others pass.
//
// spec: SRV-04
func TestSettings(t *testing.T) {
	core, lines := observer.New(zapcore.InfoLevel)
	c := &clock{now: time.Unix(1e9, 0)}
	log := Settings(component.TelemetrySettings{Logger: zap.New(core, zap.WithClock(c), zap.AddStacktrace(zapcore.ErrorLevel))}).Logger
	take := func() (out []string) {
		for _, l := range lines.TakeAll() {
			require.Empty(t, l.Stack)
			fields := l.ContextMap()
			out = append(out, fmt.Sprintf("%s %v %v", l.Message, fields["app"], fields["repeated"]))
		}
		return out
	}
	for i := range 100 {
		log.Error("away", zap.Error(errors.New(fmt.Sprint("attempt ", i))), zap.Duration("interval", time.Duration(i)))
		c.now = c.now.Add(time.Second / 2)
	}
	require.Equal(t, []string{"away <nil> <nil>"}, take())
	log.Warn("away", zap.String("app", "a"))
	log.With(zap.String("app", "b")).Warn("away")
	log.With(zap.String("app", "b")).Warn("away")
	log.Info("away")
	log.Info("away")
	log.Debug("away")
	require.Equal(t, []string{"away a <nil>", "away b <nil>", "away <nil> <nil>", "away <nil> <nil>"}, take())
	c.now = c.now.Add(interval)
	log.Error("away")
	log.Error("away")
	c.now = c.now.Add(interval)
	log.Error("away")
	require.Equal(t, []string{"away <nil> 99", "away <nil> 1"}, take())
	c.now = c.now.Add(interval)
	const sessions = 3 * maxMessages
	for i := range sessions { // as many texts as there are sessions
		log.Error("refused", zap.String("app", strconv.Itoa(i)))
	}
	require.Len(t, take(), maxMessages+1)
	log.Error("another")
	log.Error("another", zap.String("app", "a"))
	c.now = c.now.Add(interval - 1)
	log.Error("refused", zap.String("app", "new"))
	require.Equal(t, []string{"another <nil> <nil>"}, take())
	c.now = c.now.Add(1)
	log.Error("refused", zap.String("app", "new"))
	require.Equal(t, []string{"refused new <nil>"}, take())
}
