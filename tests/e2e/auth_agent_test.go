package e2e

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/tests/browser"
)

const (
	agentEnv         = "QOS_AGENT" // the binary to test; built here where it is not set
	agentBuildErrEnv = "QOS_E2E_AGENT_BUILD_ERROR"
)

// tokenAgent is a running qos-agent that asks the origin server who is logged in.
type tokenAgent struct {
	url       string
	published string     // what it says is to be registered: keyID, algorithm, public key
	key       *agent.Key // that it signs with
}

// startAgent has the agent make its key, and starts it.
func startAgent(t *testing.T, origin string) *tokenAgent {
	t.Helper()
	binary := os.Getenv(agentEnv)
	if binary == "" {
		t.Fatal(os.Getenv(agentBuildErrEnv))
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "keys", "one.pem")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	a := &tokenAgent{}
	a.published, a.key = makeKey(t, binary, file)
	listen, monitor := freeAddress(t), freeAddress(t)
	a.url = "http://" + listen
	process, out, err := browser.StartProcess(dir, binary, "serve", "--app_id="+appID, "--listen="+listen, "--monitor="+monitor,
		"--keys.directory="+filepath.Dir(file), "--origins="+appOrigin, "--who=url", "--url.address="+origin+"/account/who")
	require.NoError(t, err)
	t.Cleanup(process.Kill)
	browser.Eventually(t, patience, "the agent is ready", func() (bool, string) {
		body, status, err := fetch(context.WithoutCancel(t.Context()), "http://"+monitor+"/readyz")
		if err != nil {
			return false, err.Error() + out.String()
		}
		return status == http.StatusOK, body + out.String()
	})
	return a
}

// makeKey is `qos-agent keygen`: the file is the agent's, what it prints is to be registered.
func makeKey(t *testing.T, binary, file string) (published string, key *agent.Key) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), binary, "keygen", file).Output()
	require.NoError(t, err)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	key, err = agent.ParseKey(text)
	require.NoError(t, err)
	require.Contains(t, string(out), "keyID: "+key.ID()+"\n")
	return string(out), key
}

// publicKey is the part of what keygen prints that is PEM.
func (a *tokenAgent) publicKey() string {
	_, text, _ := strings.Cut(a.published, "algorithm: ES256\n")
	return text
}

// sign makes a token for a user, good for so long from now on.
func (a *tokenAgent) sign(t *testing.T, app, user string, lifetime time.Duration) string {
	t.Helper()
	claims := agent.NewClaims(app, user, time.Now(), lifetime, agent.RecommendedOffset)
	token, err := a.key.Sign(&claims)
	require.NoError(t, err)
	return token
}
