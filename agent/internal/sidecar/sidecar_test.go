package sidecar_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/agent/internal/oidctest"
	"github.com/qosrtc/qos/agent/internal/sidecar"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = time.Minute

// prepare returns a configuration with a key, on a socket.
func prepare(t *testing.T) config.Config {
	t.Helper()
	dir, err := os.MkdirTemp("", "qs") //nolint:usetesting // the name of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	key, err := agent.GenerateKey()
	require.NoError(t, err)
	text, err := key.MarshalPrivate()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "current.pem"), text, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte("0123456789abcdef"), 0o600))
	c := config.Default()
	c.AppID, c.Listen, c.Monitor, c.Keys.Directory = "123", "unix:"+filepath.Join(dir, "sock"), "127.0.0.1:0", dir
	c.Who, c.Header.SecretFile = config.WhoHeader, filepath.Join(dir, "secret")
	return c
}

// TestRunWaitsForAllThatItBegan: for each login source, with a reload in between. goleak looks for what
// is left over.
//
// spec: AUTH-08
func TestRunWaitsForAllThatItBegan(t *testing.T) {
	issuer := oidctest.New(t)
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, issuer.Authority(), 0o600))
	for who, change := range map[string]func(*config.Config){
		config.WhoHeader: func(*config.Config) {},
		config.WhoURL: func(c *config.Config) {
			c.Origins, c.URL.Address = config.List{"https://app.example.org"}, "http://127.0.0.1:1/me"
		},
		config.WhoOIDC: func(c *config.Config) {
			c.OIDC.Issuer, c.OIDC.Audience, c.OIDC.CAFile = issuer.URL, "calls", authority
		},
	} {
		c := prepare(t)
		c.Who = who
		change(&c)
		require.NoError(t, c.Validate())
		core, logs := observer.New(zap.InfoLevel)
		ctx, stop := context.WithCancel(t.Context())
		hup, ended := make(chan os.Signal, 1), make(chan error, 1)
		go func() { ended <- sidecar.Run(ctx, c, zap.New(core), hup) }()
		require.Eventually(t, func() bool { return logs.FilterMessage("serving tokens").Len() == 1 }, patience, time.Millisecond)
		hup <- syscall.SIGHUP
		require.Eventually(t, func() bool { return logs.FilterMessage("looked at the keys").Len() == 1 }, patience, time.Millisecond)
		stop()
		require.NoError(t, <-ended)
		require.Equal(t, 1, logs.FilterMessage("stopped").Len())
	}
}

// TestRunGivesBackWhatItTook: a start that fails half-way leaves no listener behind.
func TestRunGivesBackWhatItTook(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close() //nolint:errcheck // only held
	c := prepare(t)
	c.Monitor = taken.Addr().String()
	require.ErrorContains(t, sidecar.Run(t.Context(), c, zap.NewNop(), nil), "monitor: ")
	path, _ := c.Socket()
	require.NoFileExists(t, path)
}

// TestASidecarWithoutMonitor: it serves tokens all the same.
func TestASidecarWithoutMonitor(t *testing.T) {
	c := prepare(t)
	c.Monitor = ""
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- sidecar.Run(ctx, c, zap.NewNop(), nil) }()
	path, _ := c.Socket()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}
	client := &http.Client{Transport: transport}
	require.Eventually(t, func() bool {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agent/token", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("X-Qos-Secret", "0123456789abcdef")
		r.Header.Set("X-Qos-User", "alice")
		response, err := client.Do(r)
		if err != nil {
			return false
		}
		return response.StatusCode == http.StatusOK && response.Body.Close() == nil
	}, patience, time.Millisecond)
	transport.CloseIdleConnections()
	stop()
	require.NoError(t, <-ended)
}
