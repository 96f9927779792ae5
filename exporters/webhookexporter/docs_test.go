package webhookexporter

import (
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/storage"
)

// The receivers of docs/webhooks.md take notices that are really signed, by the first or the second of two secrets of each
// form, and refuse those of another secret, body or time. A language that is not installed is skipped.
//
// spec: OUT-03
func TestReceiversOfTheDocs(t *testing.T) {
	text, err := os.ReadFile("../../docs/webhooks.md")
	require.NoError(t, err)
	for _, c := range []struct {
		fence, file string
		run         []string
	}{{"go", "main.go", []string{"go"}}, {"js", "main.js", []string{"node"}}, {"python", "main.py", []string{"python3"}}} {
		found := regexp.MustCompile("(?ms)^```"+c.fence+"\n(.*?)^```").FindAllStringSubmatch(string(text), -1)
		require.Len(t, found, 1, c.fence)
		for form, one := range map[string]string{"whsec": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "bytes": secret} {
			t.Run(c.fence+" "+form, func(t *testing.T) {
				t.Parallel()
				verifies(t, runReceiver(t, c.run, c.file, found[0][1], one), one)
			})
		}
	}
}

// runReceiver runs a receiver, and returns its URL when it listens.
func runReceiver(t *testing.T, command []string, file, program, secret string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip(command[0] + " is not installed")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	require.NoError(t, free.Close())
	path := filepath.Join(t.TempDir(), file)
	require.Equal(t, 1, strings.Count(program, "8000"))
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(program, "8000", port, 1)), 0o600))
	if command[0] == "go" { // the program itself, not one that runs it, is ended
		binary := filepath.Join(t.TempDir(), "receiver")
		out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, path).CombinedOutput()
		require.NoError(t, err, "%s", out)
		command, path = []string{binary}, "-"
	}
	cmd := exec.CommandContext(t.Context(), command[0], append(command[1:], path)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), "HOOK_SECRET="+secret), os.Stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond)
	return "http://127.0.0.1:" + port + "/qos"
}

// verifies sends requests as the exporter does.
func verifies(t *testing.T, url, right string) {
	t.Helper()
	const other = "another secret of thirty-two bytes"
	m := notice.TestMessage("démo", "ops", time.Now())
	n := &storage.Notice{ID: "msg_1", AppID: "démo", Hook: "ops"}
	var err error
	n.Body, err = m.Encode()
	require.NoError(t, err)
	f := func(want int, at time.Time, change func(http.Header, []byte), secrets ...string) {
		t.Helper()
		body, header, err := newRequest(&notice.Hook{ID: "ops", URL: url, Secrets: secrets}, n, "https://qos.example.org", at)
		require.NoError(t, err)
		change(header, body)
		a := newClient([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil, time.Minute, nil).post(t.Context(), url, header, body)
		require.Equal(t, want, a.status, a.failure)
	}
	now, same := time.Now(), func(http.Header, []byte) {}
	f(http.StatusNoContent, now, same, right)
	f(http.StatusNoContent, now, same, other, right)
	f(http.StatusUnauthorized, now, same, other)
	f(http.StatusUnauthorized, now.Add(-10*time.Minute), same, right)
	f(http.StatusUnauthorized, now.Add(10*time.Minute), same, right)
	f(http.StatusUnauthorized, now, func(_ http.Header, body []byte) { body[len(body)/2] ^= 1 }, right)
	for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
		f(http.StatusUnauthorized, now, func(h http.Header, _ []byte) { h.Del(name) }, right)
	}
}
