package qoswssreceiver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/serve/budget"
	"github.com/qosrtc/qos/internal/serve/throttle"
	"github.com/qosrtc/qos/protocol"
)

// readerFunc is the rest of a body.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// posted is a request whose body is text, and then rest.
func posted(text string, rest func([]byte) (int, error)) *http.Request {
	return httptest.NewRequest(http.MethodPost, "/auth", io.MultiReader(strings.NewReader(text), readerFunc(rest)))
}

func eof([]byte) (int, error) { return 0, io.EOF }

// A body is charged to the strangers of its address while it is read and held, like a large message before its hello.
//
// spec: SRV-04
func TestBodiesAreCharged(t *testing.T) {
	d := startCollector(t).receiver.shared
	const network throttle.Key = 7
	address := d.memory.OpenAddress("7")
	defer address.Close()
	f := func(size int, held int64, fault error, want protocol.Code) {
		t.Helper()
		body, refusal := d.readBody(posted(strings.Repeat("x", size), func([]byte) (int, error) {
			require.Equal(t, held, address.Used())
			return 0, fault
		}), network)
		if want != "" {
			require.Equal(t, want, refusal.Code)
			require.Zero(t, address.Used())
			return
		}
		require.Nil(t, refusal)
		require.Len(t, body.text, size)
		require.Equal(t, held, address.Used())
		body.close()
		body.close()
		require.Zero(t, address.Used())
	}
	f(0, 0, io.EOF, "")
	f(bufferBytes-1, 0, io.EOF, "")
	f(bufferBytes, 4*bufferBytes, io.EOF, "")
	f(4*bufferBytes, protocol.MaxFrameBytes, io.EOF, "")
	f(protocol.MaxFrameBytes, protocol.MaxFrameBytes+1, io.EOF, "")
	f(protocol.MaxFrameBytes+1, protocol.MaxFrameBytes+1, io.EOF, protocol.CodeFrameTooLarge)
	f(5000, 4*bufferBytes, errors.New("the time is over"), protocol.CodeThrottled)
}

// A large body is refused while the strangers of its address hold all that they may. One that fits into the buffer of
// every message is accepted, so that clients can log in.
//
// spec: SRV-04
func TestLargeBodiesNeedRoom(t *testing.T) {
	c := startCollector(t)
	full := c.receiver.shared.openAnonymous(0)
	second := c.receiver.shared.openAnonymous(0)
	require.Equal(t, budget.None, full.Take(8<<20))
	require.Equal(t, budget.None, second.Take(8<<20))
	large := strings.Repeat("x", bufferBytes+1)
	for _, path := range []string{"auth", "frames", "configuration"} {
		resp, lines := c.post(path, testOrigin, large)
		h := c.refused(resp, lines, protocol.CodeOverloaded)
		require.True(t, h.Retry, path)
		require.Positive(t, h.RetryAfterMs, path)
	}
	require.EqualValues(t, 3, c.counted("receiver_qoswss_requests_refused", "503"))
	require.EqualValues(t, 3, c.counted("receiver_qoswss_memory_refusals", "address"))
	c.login("demo", testOrigin)
	full.Close()
	resp, lines := c.post("auth", testOrigin, large)
	c.refused(resp, lines, protocol.CodeMalformed)
	second.Close()
	require.Zero(t, c.receiver.shared.memory.Used())
}

// The pipeline may take long: meanwhile the user holds the frames, and strangers hold nothing.
//
// spec: SRV-04
func TestTheBodyIsGivenBackBeforeThePipeline(t *testing.T) {
	var c *collector
	var held, strangers int64
	c = startCollector(t, before(func(context.Context, plog.Logs) error {
		address := c.receiver.shared.memory.OpenAddress("0")
		defer address.Close()
		held, strangers = c.receiver.shared.memory.Used(), address.Used()
		return nil
	}))
	hello := helloText(c.login("demo", testOrigin), 0)
	resp, _ := c.post("frames", testOrigin, strings.Join([]string{hello, strings.ReplaceAll(fabricText, "%d", "1"), logText(1), strings.Repeat("\n", 5000)}, "\n"))
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Positive(t, held)
	require.Zero(t, strangers)
	require.Zero(t, c.receiver.shared.memory.Used())
}

// The address pays once for each byte of a POST, whether it is accepted, refused or only discarded; the application and
// the user pay for frames.
//
// spec: SRV-04
func TestTheAddressPaysForBodies(t *testing.T) {
	c, p := throttledCollector(t, func(cfg *Config) {
		cfg.Throttle.Bytes.PerAddress, cfg.Throttle.Bytes.PerUser, cfg.Throttle.Bytes.PerApp = rarely(1000), rarely(1000), rarely(1000)
	})
	may := c.receiver.shared.throttles
	network := may.hash.Network(networkOf(parseHop(p.client)))
	hello := helloText(c.login("demo", testOrigin), 0)
	for path, one := range map[string]struct {
		body   string
		tokens int
	}{
		"auth":          {strings.Repeat("x", 100*kib), 65 + 37}, // as the body, and discarded
		"configuration": {"nonsense", 1},
		"nothing":       {strings.Repeat("x", 9*kib+messageBytes), 10},
		"frames":        {hello + strings.Repeat("\n", 20*kib-len(hello)), 21},
	} {
		p.client = "203.0.113.1"
		may.bytes.address.table = throttle.NewTable(1000, time.Now())
		c.post(path, testOrigin, one.body)
		require.Equal(t, 1000-one.tokens, left(may.bytes.address, may.hash.Of("", "", network), time.Now()), path)
	}
	app, user := may.bytes.app, may.bytes.user
	require.Equal(t, 1000-20, left(app, may.hash.Of("demo", "", 0), time.Now()))
	require.Equal(t, 1000-20, left(user, may.hash.Of("demo", "alice", network), time.Now()))
}

// An address that owes bytes is refused before its body is read, and no other.
//
// spec: SRV-04
func TestAnAddressThatOwesBytesIsNotRead(t *testing.T) {
	c, p := throttledCollector(t, func(cfg *Config) { cfg.Throttle.Bytes.PerAddress = rarely(2) })
	d := c.receiver.shared
	network := d.throttles.hash.Network(networkOf(parseHop(p.client)))
	body, refusal := d.readBody(posted(strings.Repeat("x", 5000), eof), network)
	require.Nil(t, refusal)
	body.close()
	_, refusal = d.readBody(posted("", func([]byte) (int, error) {
		t.Error("the body is read")
		return 0, io.EOF
	}), network)
	c.throttled(refusal)
	require.Equal(t, "too many bytes from this address", refusal.Message)
	for _, path := range []string{"auth", "frames", "configuration"} {
		resp, lines := c.post(path, testOrigin, "nonsense")
		require.True(t, c.refused(resp, lines, protocol.CodeThrottled).Retry)
	}
	require.EqualValues(t, 1, c.counted("receiver_qoswss_auth_requests", string(protocol.CodeThrottled)))
	require.EqualValues(t, 4, c.countedBoth("receiver_qoswss_throttle_decisions", "bytes", "refused"))
	p.client = "203.0.113.2"
	c.login("demo", testOrigin)
}
