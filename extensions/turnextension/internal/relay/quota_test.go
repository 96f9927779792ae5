package relay

import (
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

// spec: PRE-03
func TestAllocationsOfAUserAndOfAll(t *testing.T) {
	f := start(t, func(c *Config) {
		l := limits()
		l.PerUser.Allocations, l.Overall.Allocations = 2, 3
		c.Kinds[turnrest.Test] = l
	})
	f.allocate(t, UDP, turnrest.Test, "alice")
	_, second := f.allocate(t, TCP, turnrest.Test, "alice")
	refused := func(user string) {
		t.Helper()
		username, password := credentials(turnrest.Test, user)
		_, err := f.client(t, UDP, username, password).Allocate()
		require.ErrorContains(t, err, "486", user)
	}
	refused("alice")
	f.ahead.Add(int64(time.Second)) // a new credential is of the same user
	refused("alice")
	require.Equal(t, int64(2), f.counts.Refused[RefusedUserAllocations].Load())
	f.allocate(t, UDP, turnrest.Test, "bob")
	refused("carol")
	require.Equal(t, int64(1), f.counts.Refused[RefusedAllocations].Load())
	f.allocate(t, UDP, turnrest.Call, "carol")
	require.NoError(t, second.Close())
	eventually(t, func() bool { return f.Held(turnrest.Test) == 2 })
	f.allocate(t, UDP, turnrest.Test, "carol")
}

// A client that vanishes loses its allocation when the lifetime ends or the connection does.
//
// spec: PRE-03
func TestClientThatVanishes(t *testing.T) {
	f := start(t, nil)
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	require.Zero(t, s.allocate(lifetime(time.Second)))
	require.NoError(t, s.conn.Close())
	username, password := credentials(turnrest.Test, "alice")
	conn, _ := f.dial(t, TCP)
	_, err := conn.WriteTo(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest)).Raw, nil)
	require.NoError(t, err)
	text, _ := receive(t, conn)
	answer := &stun.Message{Raw: []byte(text)}
	require.NoError(t, answer.Decode())
	var nonce stun.Nonce
	require.NoError(t, nonce.GetFrom(answer))
	_, err = conn.WriteTo(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest), udpRelay, stun.NewUsername(username),
		stun.NewRealm(realm), nonce, stun.NewLongTermIntegrity(username, realm, password)).Raw, nil)
	require.NoError(t, err)
	receive(t, conn)
	require.Equal(t, int64(1), f.counts.Allocations[Made{turnrest.Test, TCP}].Load())
	require.NoError(t, conn.Close())
	eventually(t, func() bool { return f.Held(turnrest.Test) == 0 })
	require.Equal(t, int64(2), f.counts.Ended[EndClient].Load())
	require.Empty(t, f.relays)
	require.Empty(t, f.locals)
}

// An allocation ends after its lifetime, however often it is refreshed.
//
// spec: PRE-03
func TestLifetime(t *testing.T) {
	f := start(t, func(c *Config) {
		l := limits()
		l.Lifetime = 10 * time.Millisecond
		c.Kinds[turnrest.Test] = l
	})
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	require.Zero(t, s.allocate(lifetime(time.Hour)))
	eventually(t, func() bool { return f.counts.Ended[EndLifetime].Load() == 1 })
	require.Zero(t, f.Held(turnrest.Test))
	eventually(t, func() bool { return s.allocate() == 0 })
}

// pair returns two relays of alice, one permitted to send to the other.
func pair(t *testing.T, f *fixture) (from net.PacketConn, to net.PacketConn) {
	t.Helper()
	one, a := f.allocate(t, UDP, turnrest.Test, "alice")
	two, b := f.allocate(t, UDP, turnrest.Test, "alice")
	require.NoError(t, one.CreatePermission(b.LocalAddr()))
	require.NoError(t, two.CreatePermission(a.LocalAddr()))
	return a, b
}

// The bytes of an hour end the allocations of a user, and refuse new ones until it is over.
//
// spec: PRE-03
func TestBytesOfAnHour(t *testing.T) {
	f := start(t, func(c *Config) {
		l := limits()
		l.PerUser.BytesPerHour = 1500 // two packets: each is received by the other relay
		c.Kinds[turnrest.Test] = l
	})
	a, b := pair(t, f)
	packet := make([]byte, 400)
	for range 2 {
		_, err := a.WriteTo(packet, b.LocalAddr())
		require.NoError(t, err)
		receive(t, b)
	}
	_, err := a.WriteTo(packet, b.LocalAddr())
	require.NoError(t, err)
	eventually(t, func() bool { return f.counts.Ended[EndBytes].Load() == 1 })
	require.Equal(t, int64(800), f.counts.Bytes[Flow{turnrest.Test, Sent}].Load())

	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	require.Equal(t, 486, s.allocate())
	require.Equal(t, int64(1), f.counts.Refused[RefusedUserBytes].Load())
	f.allocate(t, UDP, turnrest.Test, "bob")
	f.ahead.Store(int64(59 * time.Minute))
	require.Equal(t, 486, s.allocate())
	s.username, s.password, _ = turnrest.Credentials(secret, turnrest.Test, "demo", "alice", 2*time.Hour, time.Now())
	f.ahead.Store(int64(61 * time.Minute))
	require.Zero(t, s.allocate())
}

// Beyond the bytes of a second packets are lost, and the allocation goes on.
//
// spec: PRE-03
func TestBytesOfASecond(t *testing.T) {
	for drop, change := range map[Drop]func(*Limits){
		DropUserRate: func(l *Limits) { l.PerUser.BytesPerSecond = 2000 },
		DropRate:     func(l *Limits) { l.Overall.BytesPerSecond = 2000 },
	} {
		f := start(t, func(c *Config) {
			l := limits()
			change(&l)
			c.Kinds[turnrest.Test] = l
		})
		f.freeze()
		a, b := pair(t, f)
		packet := make([]byte, 1000)
		_, err := a.WriteTo(packet, b.LocalAddr())
		require.NoError(t, err)
		receive(t, b)
		for range 2 {
			_, err = a.WriteTo(packet, b.LocalAddr())
			require.NoError(t, err)
		}
		eventually(t, func() bool { return f.counts.Dropped[drop].Load() == 2 })
		require.Equal(t, int64(1000), f.counts.Bytes[Flow{turnrest.Test, Received}].Load())
		f.ahead.Store(int64(2 * time.Second))
		_, err = a.WriteTo(packet, b.LocalAddr())
		require.NoError(t, err)
		receive(t, b)
		require.Zero(t, f.counts.Ended[EndBytes].Load())
	}
}

func TestNoPortIsFree(t *testing.T) {
	taken := sink(t)
	port := addrPort(taken.LocalAddr()).Port()
	f := start(t, func(c *Config) { c.MinPort, c.MaxPort = port, port })
	s := f.speaker(t, "", "")
	s.username, s.password = credentials(turnrest.Test, "alice")
	require.Equal(t, 508, s.allocate())
	require.Equal(t, int64(1), f.counts.Refused[RefusedPorts].Load())
	require.Zero(t, f.Held(turnrest.Test))
	require.NoError(t, taken.Close())
	require.Zero(t, s.allocate())
}

// The server forgets users when their hour is over and nothing is held.
func TestLedgerForgets(t *testing.T) {
	now := time.Now()
	quota := Quota{Allocations: 2, BytesPerHour: 100}
	l := newLedger(map[turnrest.Kind]Limits{turnrest.Test: {PerUser: quota, Overall: Quota{Allocations: 10, BytesPerHour: 250}}})
	take := func(user string, want Refusal) *lease {
		t.Helper()
		subject := turnrest.Subject{Kind: turnrest.Test, App: "demo", User: user}
		require.Equal(t, want, l.check(subject, now))
		lease, refusal := l.take(subject, now)
		require.Equal(t, want, refusal)
		return lease
	}
	a, b := take("a", ""), take("b", "")
	require.Equal(t, pass, a.charge(100, now))
	require.Equal(t, exhausted, a.charge(1, now))
	take("a", RefusedUserBytes)
	require.Equal(t, pass, b.charge(150, now), "what was sent counts whole")
	take("c", RefusedBytes)
	l.sweep(now.Add(2 * time.Hour))
	require.Len(t, l.users, 2, "both hold")
	a.giveBack()
	l.sweep(now.Add(59 * time.Minute))
	require.Len(t, l.users, 2, "its bytes count")
	now = now.Add(time.Hour)
	l.sweep(now)
	require.Len(t, l.users, 1)
	take("a", "")
	require.Equal(t, pass, b.charge(1, now), "another hour")
	for i := len(l.users); i < maxUsers; i++ {
		l.users[turnrest.Subject{App: strconv.Itoa(i)}] = newAccount(quota)
	}
	take("one too many", RefusedUsers)
}
