package way

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// patience ends a test that hangs, and no test is about it.
const patience = 2 * time.Minute

// tab is a page in a real browser, driven by the DevTools protocol.
type tab struct {
	conn *websocket.Conn
	last int
}

// openTab opens an address in Chromium, which ends with the test.
func openTab(t *testing.T, address string) *tab {
	t.Helper()
	port := startChromium(t, testenv.Program(t, "chromium"))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1:"+port+"/json/new?about:blank", nil)
	require.NoError(t, err)
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	var target struct{ WebSocketDebuggerURL string }
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&target))
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), target.WebSocketDebuggerURL, nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	t.Cleanup(func() { _ = conn.Close() })
	one := &tab{conn: conn}
	one.do(t, "Page.navigate", map[string]any{"url": address})
	return one
}

// startChromium returns the port of its DevTools. It resolves no name.
func startChromium(t *testing.T, program string) string {
	t.Helper()
	profile := t.TempDir()
	cmd := exec.Command(program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--remote-debugging-port=0", "--user-data-dir="+profile, "about:blank")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may have ended
		_ = cmd.Wait()                                      // was killed
	})
	var port string
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		line, _, whole := strings.Cut(string(text), "\n")
		port = line
		return err == nil && whole
	}, patience, 100*time.Millisecond, "Chromium starts")
	return port
}

// do sends a command and returns its result.
func (b *tab) do(t *testing.T, method string, params map[string]any) json.RawMessage {
	t.Helper()
	b.last++
	require.NoError(t, b.conn.WriteJSON(map[string]any{"id": b.last, "method": method, "params": params}))
	require.NoError(t, b.conn.SetReadDeadline(time.Now().Add(patience)))
	for {
		var answer struct {
			ID            int
			Result, Error json.RawMessage
		}
		require.NoError(t, b.conn.ReadJSON(&answer), method)
		if answer.ID == b.last {
			require.Empty(t, string(answer.Error), method)
			return answer.Result
		}
	}
}

// evaluate awaits an expression in the page and decodes its value.
func (b *tab) evaluate(t *testing.T, expression string, into any) {
	t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	result := b.do(t, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true})
	require.NoError(t, json.Unmarshal(result, &answer))
	require.Empty(t, string(answer.ExceptionDetails), expression)
	require.NoError(t, json.Unmarshal(answer.Result.Value, into))
}

// line is a measure on the page.
type line struct{ Name, Label, Value string }

// open opens the latest values of the only stream, as a user does, and reads them.
const open = `(async () => {
	const found = async (selector) => {
		for (;;) {
			const element = document.querySelector(selector);
			if (element) return element;
			await new Promise((done) => setTimeout(done, 50));
		}
	};
	(await found("[data-testid=latest] summary")).click();
	await found("[data-testid=latest] tbody tr");
	return [...document.querySelectorAll("[data-testid=latest] tbody tr")].map((row) =>
		({ name: row.dataset.measure, label: row.cells[0].innerText, value: row.cells[1].innerText }));
})()`

func readLatest(t *testing.T, address string) []line {
	t.Helper()
	var lines []line
	openTab(t, address).evaluate(t, open, &lines)
	return lines
}
