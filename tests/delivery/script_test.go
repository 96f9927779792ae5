package delivery

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// script is one session whose frames are written by hand.
type script struct {
	t *testing.T
	r *run
	c *harness.Client
}

func newScript(t *testing.T) *script {
	t.Helper()
	r := newRun(t, time.Second)
	s := &script{t, r, harness.NewClient([]string{r.collector.URL()}, r.seed, 0, harness.Habits{})}
	require.True(t, s.c.Login(t.Context()))
	return s
}

// resume opens a connection whose hello says acked.
func (s *script) resume(acked uint64) *harness.Wire {
	s.t.Helper()
	w, _ := s.greet(acked)
	return w
}

// greet is resume with the answer to the hello.
func (s *script) greet(acked uint64) (*harness.Wire, *protocol.Welcome) {
	s.t.Helper()
	w, err := harness.Dial(s.t.Context(), s.r.collector.URL(), false)
	require.NoError(s.t, err)
	s.t.Cleanup(w.Close)
	require.True(s.t, w.Send(s.c.GreetingFrom(acked)...))
	welcome, ok := s.next(w).(*protocol.Welcome)
	require.True(s.t, ok)
	return w, welcome
}

// next is what the server says next, or nil when the connection is over.
func (s *script) next(w *harness.Wire) any {
	s.t.Helper()
	select {
	case message := <-w.Heard():
		return message
	case <-time.After(harness.Patience):
		require.FailNow(s.t, "nothing was heard")
	}
	return nil
}

// acked reads acks until one of seq; none may be higher.
func (s *script) acked(w *harness.Wire, seq uint64) {
	s.t.Helper()
	for {
		message := s.next(w)
		if harness.IsPace(message) {
			continue
		}
		ack, ok := message.(*protocol.Ack)
		require.True(s.t, ok, "%T: %+v", message, message)
		require.LessOrEqual(s.t, ack.Seq, seq)
		if ack.Seq == seq {
			return
		}
	}
}

// log is the text of a frame, and what it comes to.
func (s *script) log(seq uint64) string {
	return fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"t%d"}`, seq, time.Now().UnixMilli(), seq)
}

// stored demands that the store holds the logs of seqs once and others only as given.
func (s *script) stored(others map[uint64]string, seqs ...uint64) {
	s.t.Helper()
	s.r.collector.Stop()
	want := harness.Stored{}
	for _, seq := range seqs {
		want[harness.Identity{Session: s.c.Session(), Seq: seq}] = []harness.Record{{Name: semconv.EventLog, Value: fmt.Sprintf("t%d", seq)}}
	}
	for seq, value := range others {
		want[harness.Identity{Session: s.c.Session(), Seq: seq}] = []harness.Record{{Name: semconv.EventSkip, Value: value}}
	}
	require.Equal(s.t, want, harness.ReadSQLite(s.t, s.r.store))
}

// TestNumbersThatJump goes from 3 to the last number there is. The ack waits for what is
// missing, a skip declares it, a number past the last is refused, and nothing else
// suffers.
//
// spec: SRV-03
func TestNumbersThatJump(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	w := s.resume(0)
	const last = uint64(protocol.MaxSeq)
	require.True(t, w.Send(s.log(1), s.log(2), s.log(3), s.log(last)))
	s.acked(w, 3)
	require.True(t, w.Send(s.log(last+1)))
	nack, ok := s.next(w).(*protocol.Nack)
	require.True(t, ok)
	require.Equal(t, "seq", nack.Field)
	skip := fmt.Sprintf(`{"type":"skip","seq":%d,"from":5,"at":1,"lost":[{"fabric":1,"stats":7,"events":0}]}`, last-1)
	require.True(t, w.Send(s.log(4), skip))
	s.acked(w, last)

	again := s.resume(0) // the store, not the connection, knows what was there
	require.True(t, again.Send(s.log(1), s.log(2), s.log(3), s.log(4), skip, s.log(last)))
	s.acked(again, last)
	s.stored(map[uint64]string{last - 1: "5 7 0"}, 1, 2, 3, 4, last)
}

// TestResumeWithMoreThanIsAcknowledged resumes with a number that was never acknowledged.
// The server remembers no earlier connection: it believes the client, who loses what it
// waived, and nothing else. A later resume with the truth brings it all.
//
// spec: SRV-03
func TestResumeWithMoreThanIsAcknowledged(t *testing.T) {
	t.Parallel()
	s := newScript(t)
	w := s.resume(0)
	require.True(t, w.Send(s.log(1), s.log(2)))
	s.acked(w, 2)

	lying := s.resume(5)
	require.True(t, lying.Send(s.log(3), s.log(5), s.log(6)))
	s.acked(lying, 6)

	honest := s.resume(2)
	require.True(t, honest.Send(s.log(3), s.log(4), s.log(6)))
	s.acked(honest, 4)
	s.stored(nil, 1, 2, 3, 4, 6)
}
