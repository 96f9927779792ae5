package malice

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

const address = "198.51.100.7"

// swamped waits until the memory limiter has measured.
func swamped(t *testing.T) {
	t.Helper()
	harness.Pause(t.Context(), 2500*time.Millisecond)
}

// Idle sockets of one token, each with as many fabrics of long names as the protocol allows, hold what their user may
// have, and no more. Another application is served while they are open.
//
// spec: SRV-04
func TestAnnouncementsHaveAnOwner(t *testing.T) {
	t.Parallel()
	c := start(t)
	served := honest(t, c)
	grant := login(t, c, attacker, "mallory", address)
	name := strings.Repeat("n", protocol.MaxIDBytes-6)
	user := strings.Repeat("u", protocol.MaxUserNameChars)
	var wait sync.WaitGroup
	for i := range 40 {
		p := connect(t, c, grant, address)
		p.listen()
		wait.Go(func() {
			for n := range protocol.MaxFabrics {
				text := fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":"%s%d","addedAt":%d,"remoteUserID":{"userName":"%s%d","aliasName":"%s"},"fabricUsage":"multiplex"}`,
					n+1, name, n, now(), user[:120], n, user)
				if !p.say(text) {
					return
				}
			}
		})
		if i%10 == 9 {
			wait.Wait()
		}
	}
	swamped(t)
	isServed(t, served, 1)
	require.Positive(t, metric(c, "otelcol_receiver_qoswss_memory_refusals"))
	require.Less(t, metric(c, "otelcol_receiver_qoswss_memory"), 33.0*(1<<20))
}

// A client that writes logs as fast as frames may come is slowed by their bytes.
//
// spec: SRV-04
func TestLogsHaveARate(t *testing.T) {
	t.Parallel()
	c := start(t)
	served := honest(t, c)
	grant := login(t, c, attacker, "mallory", address)
	text := strings.Repeat("x", protocol.MaxLogTextBytes)
	var wait sync.WaitGroup
	var heard []<-chan map[string]int
	var all []*peer
	for range 10 {
		p := connect(t, c, grant, address)
		all, heard = append(all, p), append(heard, p.listen())
		wait.Go(func() {
			p.say(fabric("c"))
			for n := range 500 {
				if !p.say(fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":%q}`, n+1, now(), text)) {
					return
				}
			}
		})
	}
	wait.Wait()
	isServed(t, served, 1)
	for i, p := range all {
		require.NoError(t, p.ws.Close())
		require.Positive(t, (<-heard[i])["slow-down"])
	}
	require.Positive(t, metric(c, "otelcol_receiver_qoswss_throttle_decisions", `kind="bytes"`, `decision="refused"`))
}

// Streams of many conferences, each below all limits of rates, hold what their application may have, and no more.
//
// spec: SRV-04
func TestConferencesHaveAnOwner(t *testing.T) {
	t.Parallel()
	c := start(t)
	served := honest(t, c)
	const connections, conferences, rows = 64, 6, 512 // a frame of so many rows counts as 65 messages
	deferred := 0
	for i := range connections {
		from := fmt.Sprint("198.51.100.", i+1)
		p := welcomed(t, c, attacker, fmt.Sprint("mallory", i), from)
		p.say(`{"type":"columns","set":1,"statsType":"inbound-rtp","mediaType":"audio","names":["ssrc","packets","packetsLost","jitterMs"]}`)
		for n := range conferences {
			p.say(fmt.Sprintf(`{"type":"fabric","fabric":%d,"conferenceID":"c%d-%d","addedAt":%d,"remoteUserID":{"userName":"u","aliasName":"u"},"fabricUsage":"multiplex"}`, n+1, i, n, now()))
			var streams strings.Builder
			for ssrc := range rows {
				fmt.Fprintf(&streams, `,[1,%d,%d,%d,%d.5]`, ssrc+1, 50+ssrc%7, ssrc%5, ssrc%40)
			}
			frame := fmt.Sprintf(`{"type":"stats","seq":%d,"at":%d,"fabric":%d,"intervalMs":1000,"rows":[%s]}`, n+1, now(), n+1, streams.String()[1:])
			deferred += p.accepted(t, uint64(n+1), frame)
		}
	}
	require.Zero(t, metric(c, "otelcol_receiver_qoswss_throttle_decisions", `decision="refused"`), "each connection is below its limits")
	failed := metric(c, "otelcol_receiver_failed_log_records") + metric(c, "otelcol_receiver_refused_log_records")
	require.Equal(t, deferred > 0, failed > 0, "only a pipeline that is too slow defers frames: %d", deferred)
	swamped(t)
	isServed(t, served, 1)
	require.Less(t, metric(c, "otelcol_processor_conference_memory"), float64(conferencesMiB<<20))
	require.Positive(t, metric(c, "otelcol_processor_conference_shrunk"))
	require.Zero(t, metric(c, "otelcol_processor_memory_limiter_refused_log_records"))
}
