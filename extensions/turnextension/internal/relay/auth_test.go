package relay

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// Credentials that are not valid make no allocation, with the library's client and with the code that
// clients see.
//
// spec: PRE-03
func TestCredentialsThatAreNotValid(t *testing.T) {
	f := start(t, func(c *Config) { delete(c.Kinds, turnrest.Call) })
	now := time.Now()
	refused := func(want Outcome, username, password string) {
		t.Helper()
		before := f.counts.Authentications[want].Load()
		_, err := f.client(t, UDP, username, password).Allocate()
		require.ErrorContains(t, err, "401", want)
		require.Equal(t, before+1, f.counts.Authentications[want].Load(), want)
	}
	expired, password, _ := turnrest.Credentials(secret, turnrest.Test, "demo", "alice", time.Hour, now.Add(-time.Hour-2*time.Second))
	refused(Expired, expired, password)
	valid, password := credentials(turnrest.Test, "alice")
	refused(Wrong, "9"+valid[1:], password) // a later expiry
	refused(Wrong, strings.Replace(valid, ":demo:", ":other:", 1), password)
	refused(Wrong, valid, password+"x")
	foreign, foreignPassword, _ := turnrest.Credentials([]byte("another secret of another server"), turnrest.Test, "demo", "alice", time.Hour, now)
	refused(Wrong, foreign, foreignPassword)
	call, callPassword := credentials(turnrest.Call, "alice")
	refused(Disabled, call, callPassword)
	refused(Wrong, strings.Replace(call, ":call:", ":test:", 1), callPassword)
	refused(Malformed, "alice", "password")
	refused(Malformed, valid+":more", turnrest.Password(secret, valid+":more"))
	require.Zero(t, f.Held(turnrest.Test))
	conn, err := f.client(t, UDP, valid, password).Allocate()
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

func TestAnotherRealm(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	m := s.request(stun.MethodAllocate, udpRelay)
	other := stun.MustBuild(stun.NewTransactionIDSetter(m.TransactionID), stun.NewType(stun.MethodAllocate, stun.ClassRequest), udpRelay, stun.NewUsername(s.username),
		stun.NewRealm("elsewhere"), stun.NewNonce(s.nonce), stun.NewLongTermIntegrity(s.username, "elsewhere", s.password))
	require.Equal(t, 401, code(s.send(other)))
	require.Equal(t, int64(1), f.counts.Authentications[Malformed].Load())
}

// A request that was read on the network makes no second allocation: from another address, or when the
// first has ended. Its own sender may repeat it, as UDP requires.
//
// spec: PRE-03
func TestReplayedRequests(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	m := s.request(stun.MethodAllocate, udpRelay)
	require.Zero(t, code(s.send(m)))
	require.Zero(t, code(s.send(m)), "repeated")
	require.Equal(t, 1, f.Held(turnrest.Test))

	thief := f.speaker(t, s.username, "unknown")
	require.Equal(t, 401, code(thief.send(m)))
	require.Equal(t, int64(1), f.counts.Authentications[Replayed].Load())
	require.Zero(t, s.ask(stun.MethodRefresh, lifetime(0)))
	require.Equal(t, 401, code(s.send(m)), "after the end")
	require.Zero(t, f.Held(turnrest.Test))
}

// A nonce is of one endpoint: a request is stale at another, and one without a nonce of ours too.
func TestNonces(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	s.nonce = "invented"
	require.Equal(t, 438, s.allocate())
	s.nonce = ""
	m := s.request(stun.MethodAllocate, udpRelay)
	conn, err := net.Dial("tcp", f.tcp)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write(m.Raw)
	require.NoError(t, err)
	buffer := make([]byte, 1500)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	n, err := conn.Read(buffer)
	require.NoError(t, err)
	answer := &stun.Message{Raw: buffer[:n]}
	require.NoError(t, answer.Decode())
	require.Equal(t, 438, code(answer))
}

// An allocation is its user's alone, and outlives its credential.
//
// spec: PRE-03
func TestAllocationBelongsToItsUser(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Call, "alice")
	require.Zero(t, s.allocate())
	alice, password := s.username, s.password
	s.username, s.password = credentials(turnrest.Call, "bob")
	require.Equal(t, 441, s.ask(stun.MethodRefresh, lifetime(0)))
	require.Equal(t, 441, s.ask(stun.MethodCreatePermission, peer("9.9.9.9", 9)))
	require.Equal(t, 441, s.ask(stun.MethodChannelBind, channelNumber(0x4000), peer("9.9.9.9", 9)))
	require.Equal(t, int64(3), f.counts.Authentications[OtherUser].Load())
	s.username, s.password = alice, password
	f.ahead.Store(int64(2 * time.Hour))
	require.Zero(t, s.ask(stun.MethodRefresh, lifetime(10*time.Minute)), "of an expired credential")
	require.Zero(t, s.ask(stun.MethodRefresh, lifetime(0)))
	require.Equal(t, 401, s.allocate(), "none anew")
	require.Equal(t, int64(1), f.counts.Authentications[Expired].Load())
}

// EVEN-PORT and relays for TCP are refused before a port is looked for.
func TestUnsupportedAllocations(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Call, "alice")
	require.Equal(t, 508, s.allocate(stun.RawAttribute{Type: stun.AttrEvenPort, Value: []byte{0x80}}))
	require.Equal(t, 508, s.ask(stun.MethodAllocate, stun.RawAttribute{Type: stun.AttrRequestedTransport, Value: []byte{6, 0, 0, 0}}))
	require.Equal(t, int64(2), f.counts.Refused[RefusedUnsupported].Load())
}

func TestReplaysAreBounded(t *testing.T) {
	r := newReplays()
	key := func(i int) (k [integrityBytes]byte) {
		k[0], k[1], k[2] = byte(i), byte(i>>8), byte(i>>16)
		return k
	}
	for i := range maxSeen + 10 {
		r.add(key(i))
	}
	require.Len(t, r.seen, maxSeen)
	require.False(t, r.has(key(9)))
	require.True(t, r.has(key(10)))
	require.True(t, r.has(key(maxSeen+9)))
}
