package qoswssreceiver

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
)

// TestEveryFrameIsCountedOnceAsWhatBecameOfIt: docs/delivery.md has the equation.
//
// spec: SRV-03, SRV-04
func TestEveryFrameIsCountedOnceAsWhatBecameOfIt(t *testing.T) {
	c := startCollector(t)
	var answer error
	c.receiver.shared.next = consumerOf(t, func(context.Context, plog.Logs) error { return answer })
	s := welcomed(c.receiver.shared, func([]byte) {})
	require.True(t, c.receiver.shared.perApp.enter(testAppID, 1))
	now := time.Now()
	say := func(lines ...string) {
		for _, line := range lines {
			require.Nil(t, s.message([]byte(line), now))
		}
	}
	skip := func(from, seq uint64) string {
		return fmt.Sprintf(`{"type":"skip","seq":%d,"from":%d,"at":1,"lost":[]}`, seq, from)
	}
	say(strings.ReplaceAll(fabricText, "%d", "1"), logText(1), logText(1), skip(2, 5), "nonsense", `{"type":"log","seq":6,"fabric":1}`)
	s.flush(now)
	answer = consumererror.NewPermanent(errors.New("never"))
	say(logText(7), skip(8, 9))
	s.flush(now)
	answer = errors.New("not now")
	say(logText(10))
	s.flush(now)
	say(logText(11))
	now = now.Add(time.Minute)
	say(logText(10))
	s.close() // a fault, or the end of a POST that is not taken

	counted := func(what string) int { return int(c.counted("receiver_qoswss_frames_"+what, "")) }
	require.Equal(t, 2, counted("accepted"))
	require.Equal(t, 1, counted("duplicate"))
	require.Equal(t, 4, counted("refused"))
	require.Equal(t, 3, counted("deferred"))
	require.Equal(t, 10, counted("received"))
	require.Equal(t, 4, counted("skipped"), "of the skip that was accepted")
}
