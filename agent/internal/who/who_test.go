package who_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/who"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is one of a page, with headers by twos.
func request(t *testing.T, headers ...string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/token", http.NoBody)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// file writes a file that its owner alone can read.
func file(tb testing.TB, text string) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "file")
	require.NoError(tb, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// authority writes the certificate of a TLS server that the test made.
func authority(t *testing.T, server *httptest.Server) string {
	t.Helper()
	return file(t, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
}

const secret = "0123456789abcdef"

func header(t *testing.T, change func(*config.Header)) *who.Header {
	t.Helper()
	c := config.Default().Header
	c.SecretFile = file(t, secret+"\n\nfedcba9876543210\n")
	change(&c)
	h, err := who.NewHeader(c, 0)
	require.NoError(t, err)
	return h
}

// spec: AUTH-08
func TestHeader(t *testing.T) {
	h := header(t, func(c *config.Header) { c.Alias = "X-Alias" })
	is := func(want agent.User, headers ...string) {
		t.Helper()
		user, err := h.Who(request(t, headers...))
		require.NoError(t, err)
		require.Equal(t, want, user)
	}
	is(agent.User{Name: "alice"}, "X-Qos-Secret", secret, "X-Qos-User", "alice")
	is(agent.User{Name: "alice"}, "X-Qos-Secret", "fedcba9876543210", "X-Qos-User", " alice ")
	is(agent.User{Name: "alïce", Alias: "u7"}, "X-Qos-Secret", secret, "X-Qos-User", "alïce", "X-Alias", "u7")
	is(agent.User{Name: "a%20b"}, "X-Qos-Secret", secret, "X-Qos-User", "a%20b")
}

// TestHeaderOfNobody: without the secret a name is worth nothing.
//
// spec: AUTH-08
func TestHeaderOfNobody(t *testing.T) {
	h := header(t, func(c *config.Header) { c.Alias = "X-Alias" })
	for _, wrong := range []string{"", "0123456789abcde", "0123456789abcdef0", "fedcba9876543211", secret + "\n" + "fedcba9876543210"} {
		_, err := h.Who(request(t, "X-Qos-User", "alice", "X-Qos-Secret", wrong))
		require.ErrorContains(t, err, "shared secret is missing or wrong")
		require.NotErrorIs(t, err, agent.ErrNotLoggedIn)
	}
	_, err := h.Who(request(t, "X-Qos-User", "alice"))
	require.ErrorContains(t, err, "shared secret")
	_, err = h.Who(request(t, "X-Qos-User", "alice", "X-Qos-Secret", secret, "X-Qos-Secret", secret))
	require.ErrorContains(t, err, "shared secret")
	_, err = h.Who(request(t, "X-Qos-Secret", secret))
	require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	_, err = h.Who(request(t, "X-Qos-Secret", secret, "X-Qos-User", ""))
	require.ErrorIs(t, err, agent.ErrNotLoggedIn)
	_, err = h.Who(request(t, "X-Qos-Secret", secret, "X-Qos-User", "alice", "X-Qos-User", "bob"))
	require.ErrorContains(t, err, "more than once")
	_, err = h.Who(request(t, "X-Qos-Secret", secret, "X-Qos-User", "alice", "X-Alias", "a", "X-Alias", "b"))
	require.ErrorContains(t, err, "more than once")
}

func TestPercentEncodedHeader(t *testing.T) {
	h := header(t, func(c *config.Header) { c.PercentEncoded = true })
	user, err := h.Who(request(t, "X-Qos-Secret", secret, "X-Qos-User", "J%C3%BCrgen%20M"))
	require.NoError(t, err)
	require.Equal(t, "Jürgen M", user.Name)
	_, err = h.Who(request(t, "X-Qos-Secret", secret, "X-Qos-User", "%zz"))
	require.ErrorContains(t, err, "not percent-encoded")
}

func TestSecretFilesThatAreRefused(t *testing.T) {
	c := config.Default().Header
	refused := func(want string) {
		t.Helper()
		_, err := who.NewHeader(c, 0)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), secret)
	}
	c.SecretFile = filepath.Join(t.TempDir(), "none")
	refused("no such file")
	c.SecretFile = file(t, " \n")
	refused("the file is empty")
	c.SecretFile = file(t, secret+"\nshort\n")
	refused("16 bytes or more")
	c.SecretFile = file(t, secret)
	require.NoError(t, os.Chmod(c.SecretFile, 0o640))
	refused("others may use it")
	_, err := who.NewHeader(c, 0o040)
	require.NoError(t, err)
}

func TestLongSecretsAreWhole(t *testing.T) {
	long := strings.Repeat("x", 1000)
	h := header(t, func(c *config.Header) { c.SecretFile = file(t, long) })
	_, err := h.Who(request(t, "X-Qos-Secret", long, "X-Qos-User", "alice"))
	require.NoError(t, err)
	_, err = h.Who(request(t, "X-Qos-Secret", long[1:], "X-Qos-User", "alice"))
	require.Error(t, err)
}
