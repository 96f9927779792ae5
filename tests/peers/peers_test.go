package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/auth/authtest"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

func TestMain(m *testing.M) { harness.VerifyMain(m) }

// saw is what a peer saw of a connection that it used and closed, and of one in which it broke a rule.
type saw struct {
	Protocol   string `json:"protocol"`
	Extensions string `json:"extensions"`
	Welcome    string `json:"welcome"`
	Pong       string `json:"pong"`
	Closed     int    `json:"closed"`
	Unmasked   int    `json:"unmasked"`
}

// TestPeers: what others have written gets through a handshake that offers compression, whole messages, fragments,
// pings, a length of 64 bits and a clean end; a frame that is not masked ends the connection. The store has what was
// acknowledged.
//
// spec: SRV-01, SRV-02
func TestPeers(t *testing.T) {
	t.Run("ws", func(t *testing.T) {
		node := testenv.Program(t, "node")
		if _, err := os.Stat("node/node_modules/ws"); err != nil {
			testenv.Missing(t, fmt.Errorf("npm ci in tests/peers/node: %w", err))
		}
		talks(t, node, "node/peer.mjs")
	})
	t.Run("websockets", func(t *testing.T) {
		const python = "/usr/bin/python3" // Debian's own has Debian's packages
		if out, err := exec.Command(python, "-c", "import websockets").CombinedOutput(); err != nil {
			testenv.Missing(t, fmt.Errorf("Python's websockets are not installed (`make programs` installs them): %w: %s", err, out))
		}
		talks(t, python, "peer.py")
	})
}

func talks(t *testing.T, program, script string) {
	t.Helper()
	dir := t.TempDir()
	c := harness.NewCollector(t, harness.Options{Storage: harness.SQLite(dir)})
	c.Start()
	grant, err := authtest.Login(context.Background(), http.DefaultClient, c.URL(), harness.Origin, harness.AppID, harness.AppSecret, protocol.UserID{Name: "ada", Alias: "ada"})
	http.DefaultClient.CloseIdleConnections()
	require.NoError(t, err)
	now := time.Now().UnixMilli()
	given := map[string]any{
		"url":    "ws://" + c.Address() + "/ws",
		"origin": harness.Origin,
		"hello":  fmt.Sprintf(`{"type":"hello","versions":[1],"token":%q,"session":%q,"acked":0,"at":%d}`, grant.Token, grant.Session, now),
		"fabric": fmt.Sprintf(`{"type":"fabric","fabric":1,"conferenceID":"standup","addedAt":%d,"remoteUserID":"bob","fabricUsage":"multiplex"}`, now),
	}
	var logs []string
	for seq := range 3 {
		logs = append(logs, fmt.Sprintf(`{"type":"log","seq":%d,"at":%d,"fabric":1,"text":"of %s"}`, seq+1, now, script))
	}
	given["logs"] = logs
	text, err := json.Marshal(given)
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, script, string(text))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	require.NoError(t, err)
	var got saw
	require.NoError(t, json.Unmarshal(out, &got), string(out))
	require.Equal(t, saw{Protocol: protocol.Subprotocol, Welcome: "welcome", Pong: "between", Closed: 1000, Unmasked: 1002}, got)
	c.Stop()
	for seq := range uint64(3) {
		require.Len(t, harness.ReadSQLite(t, dir)[harness.Identity{Session: grant.Session, Seq: seq + 1}], 1)
	}
}
