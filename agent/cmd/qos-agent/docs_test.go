package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent/internal/config"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

const root = "../../.."

func guide(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "agent.md"))
	require.NoError(t, err)
	return string(text)
}

// startOrigin runs the guide's origin server, as it stands there, and returns its address.
func startOrigin(t *testing.T, p *process) string {
	t.Helper()
	program := testenv.Program(t, "node")
	match := regexp.MustCompile("(?s)<!-- origin.js -->\n```js\n(.*?)```").FindStringSubmatch(guide(t))
	require.NotNil(t, match)
	script := filepath.Join(p.dir, "origin.js")
	require.NoError(t, os.WriteFile(script, []byte(match[1]), 0o600))
	address := freeAddress(t)
	cmd := exec.Command(program, script)
	cmd.Env = append(os.Environ(), "PORT="+address[strings.LastIndex(address, ":")+1:],
		"AGENT_SOCKET="+p.socket(), "SECRET_FILE="+filepath.Join(p.dir, "secret"))
	cmd.Stderr = &p.log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	listening(t, address)
	return address
}

// browser keeps cookies.
func browser(t *testing.T, transport *http.Transport) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport, Timeout: patience}
}

// ask posts, from a page of an origin where one is given.
func ask(t *testing.T, client *http.Client, url, origin string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, url, http.NoBody)
	require.NoError(t, err)
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"), string(text))
	return response.StatusCode, string(text)
}

// TestTheGuidesOriginServer: the steps of "five minutes", with real node, up to verify.
//
// spec: AUTH-04, AUTH-08
func TestTheGuidesOriginServer(t *testing.T) {
	p := start(t, "--who=header")
	address := startOrigin(t, p)
	client := browser(t, new(http.Transport))
	status, body := ask(t, client, "http://"+address+"/token", "")
	require.Equal(t, http.StatusForbidden, status)
	require.JSONEq(t, `{"error":"not logged in"}`, body)

	status, _ = ask(t, client, "http://"+address+"/login?user=alice", "")
	require.Equal(t, http.StatusOK, status)
	// What a page writes into the agent's headers is worth nothing to the origin server.
	status, body = ask(t, client, "http://"+address+"/token", "", "X-Qos-User", "bob")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "alice", verified(t, body, p.key().Public())["userID"])

	cmd := exec.Command(binary, "verify", "--key="+filepath.Join(p.keys, "current.pem"), "--app_id="+appID, "--user_id=alice")
	cmd.Stdin = strings.NewReader(body)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "verdict    the collector would accept it")
}

// TestTheGuideHasEveryMetric: and no other.
func TestTheGuideHasEveryMetric(t *testing.T) {
	p := start(t, "--who=header")
	p.token(p.key().Public(), alice...) // histograms show when they hold something
	_, text := p.look("/metrics")
	names := func(pattern, text string) map[string]bool {
		found := make(map[string]bool)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found[regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m[1], "")] = true
		}
		return found
	}
	require.Equal(t, names(`(?m)^(qos_agent_\w+)`, text), names("(?m)^\\| `(qos_agent_\\w+)", guide(t)))
	for _, m := range regexp.MustCompile(`reason="(\w+)"`).FindAllStringSubmatch(text, -1) {
		require.Contains(t, guide(t), "`"+m[1]+"`")
	}
}

// TestShippedConfiguration: deploy/agent/agent.yaml is one that qos-agent takes.
func TestShippedConfiguration(t *testing.T) {
	nothing := func(string) (string, bool) { return "", false }
	_, err := config.Load([]string{"--config=" + filepath.Join(root, "deploy", "agent", "agent.yaml")}, nothing, io.Discard)
	require.NoError(t, err)
}

// TestSystemdUnit: systemd itself reads it, and finds it as closed as the guide says.
func TestSystemdUnit(t *testing.T) {
	analyze := testenv.Program(t, "systemd-analyze")
	text, err := os.ReadFile(filepath.Join(root, "deploy", "agent", "qos-agent.service"))
	require.NoError(t, err)
	unit := filepath.Join(t.TempDir(), "qos-agent.service")
	require.NoError(t, os.WriteFile(unit, []byte(strings.ReplaceAll(string(text), "/usr/local/bin/qos-agent", binary)), 0o600))
	out, err := exec.Command(analyze, "verify", "--man=no", unit).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Empty(t, string(out))
	out, err = exec.Command(analyze, "security", "--offline=true", "--threshold=15", "--no-pager", unit).CombinedOutput()
	require.NoError(t, err, string(out))
}
