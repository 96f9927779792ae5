package relay

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"net"
	"net/http/httptest"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pion/stun/v3"
	"github.com/pion/turn/v4"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/internal/identity/turnrest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	realm    = "test.example"
	patience = 20 * time.Second
)

var secret = []byte("0123456789abcdef0123456789abcdef")

// fixture is a server on loopback, whose clock a test sets forward.
type fixture struct {
	*Server
	udp, tcp, tls string
	roots         *x509.CertPool
	ahead         atomic.Int64
	frozen        atomic.Pointer[time.Time] // nil: the clock runs
}

// freeze stops the clock, but for ahead.
func (f *fixture) freeze() {
	now := time.Now()
	f.frozen.Store(&now)
}

func limits() Limits {
	quota := Quota{Allocations: 16}
	return Limits{Lifetime: time.Hour, PerUser: quota, Overall: quota}
}

func start(t *testing.T, change func(*Config)) *fixture {
	t.Helper()
	cfg := Config{
		Realm: realm, Secret: secret, RelayAddress: netip.MustParseAddr("127.0.0.1"), RelayBind: netip.MustParseAddr("127.0.0.1"),
		MinPort: 20000, MaxPort: 60000, Kinds: map[turnrest.Kind]Limits{turnrest.Test: limits(), turnrest.Call: limits()},
		AddressRequestsPerSecond: 10000, RequestsPerSecond: 10000, AddressConnections: 100, Connections: 100,
	}
	if change != nil {
		change(&cfg)
	}
	f := &fixture{Server: New(cfg, NewCounts())}
	f.now = func() time.Time {
		now := time.Now()
		if frozen := f.frozen.Load(); frozen != nil {
			now = *frozen
		}
		return now.Add(time.Duration(f.ahead.Load()))
	}
	t.Cleanup(f.Close)
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	f.udp = packets.LocalAddr().String()
	require.NoError(t, f.ServePacket(packets))
	f.tcp = f.listen(t, TCP, nil)
	authority := httptest.NewTLSServer(nil)
	authority.Close()
	f.roots = x509.NewCertPool()
	f.roots.AddCert(authority.Certificate())
	f.tls = f.listen(t, TLS, &tls.Config{Certificates: authority.TLS.Certificates, MinVersion: tls.VersionTLS12})
	return f
}

func (f *fixture) listen(t *testing.T, transport Transport, config *tls.Config) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := l.Addr().String()
	if config != nil {
		l = tls.NewListener(l, config)
	}
	require.NoError(t, f.ServeListener(l, transport))
	return address
}

// dial opens a client's socket.
func (f *fixture) dial(t *testing.T, transport Transport) (conn net.PacketConn, server string) {
	t.Helper()
	var stream net.Conn
	var err error
	switch transport {
	case UDP:
		conn, err = net.ListenPacket("udp4", "127.0.0.1:0")
		server = f.udp
	case TCP:
		stream, err = net.Dial("tcp", f.tcp)
		server = f.tcp
	case TLS:
		stream, err = tls.Dial("tcp", f.tls, &tls.Config{RootCAs: f.roots, ServerName: "example.com", MinVersion: tls.VersionTLS12})
		server = f.tls
	}
	require.NoError(t, err)
	if stream != nil {
		conn = turn.NewSTUNConn(stream)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, server
}

// credentials are those of a user.
func credentials(kind turnrest.Kind, user string) (username, password string) {
	username, password, _ = turnrest.Credentials(secret, kind, "demo", user, time.Hour, time.Now())
	return username, password
}

// client returns a client of the library.
func (f *fixture) client(t *testing.T, transport Transport, username, password string) *turn.Client {
	t.Helper()
	conn, server := f.dial(t, transport)
	c, err := turn.NewClient(&turn.ClientConfig{
		Conn: conn, TURNServerAddr: server, STUNServerAddr: server, Username: username, Password: password, Realm: realm, RTO: time.Second,
		LoggerFactory: silent{},
	})
	require.NoError(t, err)
	require.NoError(t, c.Listen())
	t.Cleanup(c.Close)
	return c
}

// allocate returns a relay of a user.
func (f *fixture) allocate(t *testing.T, transport Transport, kind turnrest.Kind, user string) (*turn.Client, net.PacketConn) {
	t.Helper()
	username, password := credentials(kind, user)
	c := f.client(t, transport, username, password)
	conn, err := c.Allocate()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return c, conn
}

// speaker sends single requests over UDP, and sees each answer.
type speaker struct {
	t                  *testing.T
	conn               *net.UDPConn
	username, password string
	nonce              string
}

func (f *fixture) speaker(t *testing.T, username, password string) *speaker {
	t.Helper()
	conn, err := net.Dial("udp", f.udp)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return &speaker{t, conn.(*net.UDPConn), username, password, ""}
}

// request builds a request with a credential, with a nonce that the server gave.
func (s *speaker) request(method stun.Method, attributes ...stun.Setter) *stun.Message {
	s.t.Helper()
	if s.nonce == "" {
		answer := s.send(stun.MustBuild(stun.TransactionID, stun.NewType(stun.MethodAllocate, stun.ClassRequest)))
		var nonce stun.Nonce
		require.NoError(s.t, nonce.GetFrom(answer))
		s.nonce = nonce.String()
	}
	setters := append([]stun.Setter{stun.TransactionID, stun.NewType(method, stun.ClassRequest)}, attributes...)
	setters = append(setters, stun.NewUsername(s.username), stun.NewRealm(realm), stun.NewNonce(s.nonce),
		stun.NewLongTermIntegrity(s.username, realm, s.password))
	m, err := stun.Build(setters...)
	require.NoError(s.t, err)
	return m
}

// send returns the answer to a message.
func (s *speaker) send(m *stun.Message) *stun.Message {
	s.t.Helper()
	_, err := s.conn.Write(m.Raw)
	require.NoError(s.t, err)
	return s.receive()
}

func (s *speaker) receive() *stun.Message {
	s.t.Helper()
	require.NoError(s.t, s.conn.SetReadDeadline(time.Now().Add(patience)))
	buffer := make([]byte, 2000)
	n, err := s.conn.Read(buffer)
	require.NoError(s.t, err)
	answer := &stun.Message{Raw: buffer[:n]}
	require.NoError(s.t, answer.Decode())
	return answer
}

// ask sends a request with a credential, and returns the code of its error, 0 where it succeeded, -1 for an
// error without a code.
func (s *speaker) ask(method stun.Method, attributes ...stun.Setter) int {
	s.t.Helper()
	return code(s.send(s.request(method, attributes...)))
}

func (s *speaker) allocate(attributes ...stun.Setter) int {
	s.t.Helper()
	return s.ask(stun.MethodAllocate, append([]stun.Setter{udpRelay}, attributes...)...)
}

func code(m *stun.Message) int {
	var e stun.ErrorCodeAttribute
	switch {
	case m.Type.Class == stun.ClassSuccessResponse:
		return 0
	case e.GetFrom(m) != nil:
		return -1
	}
	return int(e.Code)
}

var udpRelay = stun.RawAttribute{Type: stun.AttrRequestedTransport, Value: []byte{transportUDP, 0, 0, 0}}

func lifetime(d time.Duration) stun.Setter {
	return stun.RawAttribute{Type: stun.AttrLifetime, Value: binary.BigEndian.AppendUint32(nil, uint32(d.Seconds()))}
}

func channelNumber(n uint16) stun.Setter {
	return stun.RawAttribute{Type: stun.AttrChannelNumber, Value: binary.BigEndian.AppendUint32(nil, uint32(n)<<16)}
}

// peerAddress sets an XOR-PEER-ADDRESS in the family of the address as it is: mapped ones are IPv6.
type peerAddress netip.AddrPort

// AddTo implements stun.Setter.
func (a peerAddress) AddTo(m *stun.Message) error {
	at := netip.AddrPort(a)
	family, plain := byte(2), at.Addr().AsSlice()
	if at.Addr().Is4() {
		family = 1
	}
	value := binary.BigEndian.AppendUint16([]byte{0, family}, at.Port()^cookie>>16)
	pad := append(binary.BigEndian.AppendUint32(nil, cookie), m.TransactionID[:]...)
	for i := range plain {
		value = append(value, plain[i]^pad[i])
	}
	m.Add(stun.AttrXORPeerAddress, value)
	return nil
}

func peer(ip string, port uint16) peerAddress {
	return peerAddress(netip.AddrPortFrom(netip.MustParseAddr(ip), port))
}

// eventually waits for what the server does in goroutines of its own.
func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, patience, time.Millisecond)
}

// receive returns the next packet.
func receive(t *testing.T, conn net.PacketConn) (string, string) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	buffer := make([]byte, 2000)
	n, from, err := conn.ReadFrom(buffer)
	require.NoError(t, err)
	return string(buffer[:n]), from.String()
}
