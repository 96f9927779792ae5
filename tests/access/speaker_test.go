package access

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

func newHTTP() *http.Client {
	return &http.Client{Timeout: harness.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
}

// login proves an AppSecret.
func login(t *testing.T, c *harness.Collector, appID, secret, user string) (*protocol.TokenReply, error) {
	t.Helper()
	return authtest.Login(t.Context(), newHTTP(), c.URL(), harness.Origin, appID, secret, protocol.UserID{Name: user, Alias: user})
}

// speaker is one connection of a session.
type speaker struct {
	t    *testing.T
	wire *harness.Wire
	seq  uint64
}

// hello opens a connection, and returns what the server says to it.
func hello(t *testing.T, c *harness.Collector, token, session string, acked uint64) (*speaker, any) {
	t.Helper()
	wire, err := harness.Dial(t.Context(), c.URL(), false)
	require.NoError(t, err)
	t.Cleanup(wire.Close)
	require.True(t, wire.Send(fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":%d,"at":%d}`, token, session, acked, time.Now().UnixMilli())))
	s := &speaker{t, wire, acked}
	return s, s.hears()
}

// speak is hello where a welcome must come, and a fabric.
func speak(t *testing.T, c *harness.Collector, token, session string, acked uint64) *speaker {
	t.Helper()
	s, answer := hello(t, c, token, session, acked)
	require.IsType(t, &protocol.Welcome{}, answer, "%+v", answer)
	require.True(t, s.wire.Send(fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":"access","addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`, time.Now().UnixMilli())))
	return s
}

// hears is what the server says next, but for the pace; nil when it has closed.
func (s *speaker) hears() any {
	s.t.Helper()
	for {
		select {
		case message := <-s.wire.Heard():
			if !harness.IsPace(message) {
				return message
			}
		case <-time.After(harness.Patience):
			require.FailNow(s.t, "the server says nothing")
		}
	}
}

// says sends a line of the log and waits until it is acknowledged.
func (s *speaker) says() {
	s.t.Helper()
	s.sends(fmt.Sprintf(`"type":"log","fabric":1,"text":"t%d"`, s.seq+1))
}

// sends sends one frame of these members and waits until it is acknowledged.
func (s *speaker) sends(members string) {
	s.t.Helper()
	s.seq++
	require.True(s.t, s.wire.Send(fmt.Sprintf(`{%s,"seq":%d,"at":%d}`, members, s.seq, time.Now().UnixMilli())))
	ack, ok := s.hears().(*protocol.Ack)
	require.True(s.t, ok)
	require.Equal(s.t, s.seq, ack.Seq)
}

// refused expects a bye that forbids to come again with that token.
func (s *speaker) refused(answer any) {
	s.t.Helper()
	bye, ok := answer.(*protocol.Bye)
	require.True(s.t, ok, "%+v", answer)
	require.Equal(s.t, protocol.CodeAuthFailed, bye.Code)
	require.False(s.t, bye.Retry)
}
