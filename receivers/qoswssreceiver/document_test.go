package qoswssreceiver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/record/eventlog"
	"github.com/qosrtc/qos/protocol"
)

// Each test here holds a sentence of docs/protocol.md, by its section, for those who write
// another client.

// Section 4.6: from may lie at or below acked, and lost may be empty or absent.
//
// spec: SRV-03
func TestDocumentSkip(t *testing.T) {
	c := startCollector(t)
	p := c.dial(testOrigin)
	p.hello(c.login("demo", testOrigin), 10)
	p.hear("welcome")
	p.announce()
	p.say(`{"type":"skip","seq":12,"from":3,"at":1,"lost":[]}`)
	p.acked(12)
	p.say(`{"type":"skip","seq":13,"from":13,"at":1}`)
	p.acked(13)
	p.say(`{"type":"skip","seq":9,"from":9,"at":1,"lost":[{"fabric":1,"stats":1}]}`)
	p.acked(13)
	require.Equal(t, []int64{12, 13}, c.seqs(), "the third is a repetition")
	p.say(logText(14))
	p.acked(14)
}

// Section 4.7: a frame that cannot be read holds up the ack, what stands before and behind it
// is taken, and a skip in its place releases the ack.
//
// spec: SRV-02, SRV-03
func TestDocumentUnreadableFrame(t *testing.T) {
	c := startCollector(t)
	p := c.connect("demo")
	broken := `{"type":"log","fabric":1,"text":"` + "\x01" + `","seq":2}`
	p.say(logText(1))
	p.acked(1)
	p.say(broken)
	require.Zero(t, p.hear("nack").Seq)
	p.say(logText(3)) // moves no ack, so none is sent
	p.say(broken)     // everything again
	require.Zero(t, p.hear("nack").Seq)
	p.say(logText(3))
	require.EqualValues(t, 1, p.hear("ack").Seq, "a repetition has an answer")
	p.say(`{"type":"skip","seq":2,"from":2,"at":1,"lost":[{"fabric":1,"events":1}]}`)
	p.acked(3)
	require.Equal(t, []int64{1, 3, 2}, c.seqs())
}

// Section 4.2: announcements are taken during the wait of a slow-down.
//
// spec: SRV-04
func TestDocumentAnnouncementsDuringASlowDown(t *testing.T) {
	c := startCollector(t)
	full := true
	c.receiver.shared.next = consumerOf(t, func(context.Context, plog.Logs) error {
		if full {
			return errors.New("queue is full")
		}
		return nil
	})
	var said []string
	s := welcomed(c.receiver.shared, func(msg []byte) { said = append(said, string(msg)) })
	now := time.Now()
	fabric := strings.ReplaceAll(fabricText, "%d", "1")
	require.Nil(t, s.message([]byte(fabric), now))
	require.Nil(t, s.message([]byte(logText(1)), now))
	s.flush(now)
	require.Contains(t, said[0], `"slow-down"`)
	now = now.Add(time.Millisecond)
	require.Nil(t, s.message([]byte(strings.Replace(fabric, `"fabric":1`, `"fabric":2`, 1)), now))
	require.Nil(t, s.message([]byte(columnText), now))
	require.Nil(t, s.message([]byte(strings.Replace(fabric, "standup", "another", 1)), now))
	require.Len(t, said, 2)
	require.Contains(t, said[1], `"code":"field_value"`, "a refused one is refused at once")
	full = false
	now = now.Add(c.receiver.timing.retry)
	require.Nil(t, s.message([]byte(strings.Replace(statsText(1), `"fabric":1`, `"fabric":2`, 1)), now))
	s.flush(now)
	require.EqualValues(t, 1, s.seqs.acked())
}

// Section 2: WebSockets and POSTs may serve one session at once, and each ack covers what came
// over its own connection.
//
// spec: SRV-03
func TestDocumentSeveralConnectionsServeASession(t *testing.T) {
	c := startCollector(t)
	token := c.login("demo", testOrigin)
	open := func() *peer {
		p := c.dial(testOrigin)
		p.hello(token, 0)
		p.hear("welcome")
		p.announce()
		return p
	}
	first, second := open(), open()
	first.say(logText(1))
	first.acked(1)
	second.say(logText(2))
	second.say(logText(2))
	require.Zero(t, second.hear("ack").Seq, "1 came over another connection")
	second.say(logText(1))
	second.acked(2)
	lines := strings.Join([]string{helloText(token, 2), strings.ReplaceAll(fabricText, "%d", "1"), logText(3)}, "\n")
	resp, answer := c.post("frames", testOrigin, lines)
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.EqualValues(t, 3, answer[len(answer)-1].Seq)
	first.say(logText(2))
	first.acked(2)
}

// Section 4.8: the pace, by its numbers.
//
// spec: SRV-04
func TestDocumentPace(t *testing.T) {
	c := startCollector(t)
	require.Equal(t, 200, createDefaultConfig().(*Config).MaxFramesPerSecond)
	require.Equal(t, 10*time.Second, createDefaultConfig().(*Config).PipelineTimeout, "an ack comes within that")
	slowed := 0
	s := welcomed(c.receiver.shared, func(msg []byte) { slowed += strings.Count(string(msg), `"slow-down"`) })
	s.framesPerSecond = 200
	now := time.Now()
	require.Nil(t, s.message([]byte(strings.ReplaceAll(fabricText, "%d", "1")), now))
	seq := uint64(0)
	send := func(n int) {
		t.Helper()
		for range n {
			seq++
			require.Nil(t, s.message([]byte(logText(seq)), now))
		}
	}
	send(505)
	for range 3 { // repetitions count, and the fabric did
		require.Nil(t, s.message([]byte(logText(seq)), now))
		require.Nil(t, s.message([]byte(columnText), now))
	}
	require.Zero(t, slowed)
	send(1)
	require.Equal(t, 1, slowed)
	seq--
	now = now.Add(c.receiver.timing.retry) // 2 s: 400 frames
	send(399)                              // and one that was not accepted
	require.Equal(t, 1, slowed)
	send(1)
	require.Equal(t, 2, slowed)
}

// Section 10: which records are activity.
//
// spec: CONF-01
func TestDocumentActivity(t *testing.T) {
	tr := testTranslator()
	now := time.Now()
	d := protocol.NewDecoder()
	for _, text := range []string{strings.ReplaceAll(fabricText, "%d", "1"), columnText} {
		_, refusal := d.Decode([]byte(text))
		require.Nil(t, refusal)
	}
	f := func(text string, want ...bool) {
		t.Helper()
		frame, refusal := d.Decode([]byte(text))
		require.Nil(t, refusal)
		tr.add(frame, now)
		var got []bool
		for _, item := range eventlog.Read(tr.take()) {
			got = append(got, item.Event.Activity())
		}
		require.Equal(t, want, got, text)
	}
	f(statsText(1), true)
	f(`{"type":"stats","seq":1,"at":1,"fabric":1,"intervalMs":1000,"rows":[]}`, true)
	f(`{"type":"event","seq":1,"at":1,"fabric":1,"event":"audioMute"}`, true)
	f(`{"type":"event","seq":1,"at":1,"fabric":1,"event":"callDetails"}`, true)
	f(`{"type":"event","seq":1,"at":1,"conferenceID":"c","conferenceAt":1,"event":"dominantSpeaker"}`, false)
	f(`{"type":"error","seq":1,"at":1,"fabric":1,"function":"createOffer"}`, false)
	f(`{"type":"error","seq":1,"at":1,"conferenceID":"c","conferenceAt":1,"function":"getUserMedia"}`, true)
	f(`{"type":"feedback","seq":1,"at":1,"conferenceID":"c","conferenceAt":1,"userID":"a","overall":4}`, false)
	f(`{"type":"error","seq":1,"at":1,"conferenceID":"c","conferenceAt":1,"function":"signalingError"}`, true)
	f(`{"type":"event","seq":1,"at":1,"conferenceID":"c","conferenceAt":1,"event":"activeDeviceList","data":{"deviceList":[]}}`, false)
	f(`{"type":"log","seq":1,"at":1,"fabric":1,"text":"x"}`, false)
	f(`{"type":"skip","seq":1,"from":1,"at":1,"lost":[{"fabric":1,"stats":1},{"fabric":0,"events":1}]}`, true, false)
	f(`{"type":"skip","seq":1,"from":1,"at":1,"lost":[]}`, false)
}
