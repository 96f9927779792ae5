package qoswssreceiver

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
)

// A frame of many records counts as many messages: over the connection, and for its user.
//
// spec: SRV-04
func TestFramesOfManyRecordsCountAsMany(t *testing.T) {
	require.Equal(t, 1, weight(&protocol.Log{}))
	require.Equal(t, 1, weight(&protocol.Skip{}))
	require.Equal(t, 1, weight(&protocol.Stats{Records: make([]protocol.Record, 7)}))
	require.Equal(t, 65, weight(&protocol.Stats{Records: make([]protocol.Record, 512)}))

	c := startCollector(t)
	now := time.Now()
	s := welcomedAs(t, c.receiver.shared, testAppID, "mallory", testSession, func([]byte) {})
	t.Cleanup(s.close)
	s.network = 7
	require.Nil(t, s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
	entries := strings.Repeat(`{"fabric":1},`, 399) + `{"fabric":1}`
	require.Nil(t, s.message([]byte(`{"type":"skip","seq":9,"from":9,"at":1,"lost":[`+entries+`]}`), now))
	require.EqualValues(t, burstFrames-399, s.pace.frames, "it was full again when the frame was taken")

	user := c.receiver.shared.throttles.bytes.user
	key := c.receiver.shared.throttles.hash.Of(testAppID, "mallory", 7)
	left := 0
	for user.table.Take(key, user.rate, now) == 0 {
		left++
	}
	require.Equal(t, user.rate.Burst-401*messageBytes/kib, left, "the announcement and 400 entries")
}
