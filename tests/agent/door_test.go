package agent

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/agent/keydir"
	"github.com/qosrtc/qos/internal/identity/auth"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/tests/harness"
)

// registry is one app.
type registry struct{ app auth.App }

func (r registry) App(id string) (auth.App, bool) { return r.app, id == r.app.ID }
func (r registry) Revision() uint64               { return 1 }

// sides are an agent and a collector that has its key, as keygen prints it.
type sides struct {
	t             *testing.T
	binary        string
	public        string // file
	keys          *keydir.Dir
	authenticator *auth.Authenticator
	reason        auth.Reason // of the collector's last decision
}

func newSides(t *testing.T) *sides {
	t.Helper()
	dir := t.TempDir()
	s := &sides{t: t, binary: harness.Agent(t), public: filepath.Join(dir, "public.pem")}
	keys := filepath.Join(dir, "keys")
	require.NoError(t, os.Mkdir(keys, 0o700))
	out, err := exec.Command(s.binary, "keygen", filepath.Join(keys, "current.pem")).Output()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.public, out, 0o600))
	s.keys, err = keydir.Open(keys, keydir.Options{})
	require.NoError(t, err)

	first, _, _ := strings.Cut(string(out), "\n")
	block, _ := pem.Decode(out)
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	require.NoError(t, err)
	master, err := auth.NewKeys(make([]byte, auth.MinKeyBytes))
	require.NoError(t, err)
	app := auth.App{ID: "123", Salt: master.Salt("123"), Iterations: auth.Iterations}
	key := auth.VerificationKey{ID: strings.TrimPrefix(first, "keyID: "), Algorithm: auth.AlgorithmES256, Public: parsed.(*ecdsa.PublicKey)}
	require.NoError(t, key.Check())
	app.Keys = []auth.VerificationKey{key}
	s.authenticator = auth.New(master, registry{app}, func(d auth.Decision) { s.reason = d.Reason })
	return s
}

// token asks the handler for alice's.
func (s *sides) token() string {
	s.t.Helper()
	handler, err := agent.NewHandler(agent.Options{
		AppID: "123", Key: s.keys.Current,
		Who: func(*http.Request) (agent.User, error) { return agent.User{Name: "alice"}, nil },
	})
	require.NoError(s.t, err)
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/token", http.NoBody))
	var answer struct{ Token string }
	require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &answer))
	return answer.Token
}

// taken shows a token to both and returns what they agree on.
func (s *sides) taken(token string, user protocol.UserID, now time.Time) bool {
	s.t.Helper()
	_, _, refused := s.authenticator.JWT(&protocol.JWTRequest{AppID: "123", UserID: user, JWT: token}, "https://app.example.org", now)
	cmd := exec.Command(s.binary, "verify", "--key="+s.public, "--app_id=123", "--user_id="+user.Name, "--alias="+user.Alias, "--at="+now.UTC().Format(time.RFC3339Nano))
	cmd.Stdin = strings.NewReader(token)
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil {
		require.ErrorAs(s.t, err, &exit, string(out))
		require.Equal(s.t, 1, exit.ExitCode(), string(out))
	}
	require.Equal(s.t, refused == nil, err == nil, "the collector: %v (%s)\n%s", refused, s.reason, out)
	return refused == nil
}

var alice = protocol.UserID{Name: "alice", Alias: "alice"}

// TestTheCollectorTakesTheAgentsTokens: from five minutes of clock error on one side to the
// end of the token on the other.
//
// spec: AUTH-04, AUTH-05, AUTH-08
func TestTheCollectorTakesTheAgentsTokens(t *testing.T) {
	s := newSides(t)
	token, now := s.token(), time.Now()
	require.True(t, s.taken(token, alice, now))
	require.True(t, s.taken(token, protocol.UserID{Name: "Alice L.", Alias: "alice"}, now))
	require.False(t, s.taken(token, protocol.UserID{Name: "bob", Alias: "bob"}, now))
	require.True(t, s.taken(token, alice, now.Add(8*time.Minute+50*time.Second)), "the leeway")
	require.False(t, s.taken(token, alice, now.Add(9*time.Minute+time.Second)))
	require.True(t, s.taken(token, alice, now.Add(-50*time.Second)))
	require.False(t, s.taken(token, alice, now.Add(-2*time.Minute)), "iat lies in the future")
}

// TestBothRefuseTheSame: tokens that are changed, and tokens that our key signed but that no
// agent makes.
//
// spec: AUTH-04, AUTH-05, AUTH-08
func TestBothRefuseTheSame(t *testing.T) {
	s := newSides(t)
	good, now := s.token(), time.Now()
	parts := strings.Split(good, ".")
	encode := base64.RawURLEncoding.EncodeToString
	none := encode([]byte(`{"alg":"none","typ":"JWT"}`))
	for name, token := range map[string]string{
		"none":             none + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1] + ".",
		"cut":              good[:len(good)-2],
		"padding":          good + "==",
		"two parts":        parts[0] + "." + parts[1],
		"another header":   encode([]byte(`{"alg":"ES256","typ":"at+jwt"}`)) + "." + parts[1] + "." + parts[2],
		"critical":         encode([]byte(`{"alg":"ES256","crit":["b64"],"b64":false}`)) + "." + parts[1] + "." + parts[2],
		"confused":         encode([]byte(`{"alg":"HS256"}`)) + "." + parts[1] + "." + parts[2],
		"duplicate header": encode([]byte(`{"alg":"ES256","alg":"ES256"}`)) + "." + parts[1] + "." + parts[2],
		"empty":            "",
		"too long":         good + strings.Repeat("x", protocol.MaxJWTBytes),
	} {
		require.False(t, s.taken(token, alice, now), name)
	}
	signed := func(change func(*agent.Claims)) string {
		t.Helper()
		claims := agent.NewClaims("123", "alice", now, 8*time.Minute, 8*time.Minute)
		change(&claims)
		token, err := s.keys.Current().Sign(&claims)
		require.NoError(t, err)
		return token
	}
	require.True(t, s.taken(signed(func(*agent.Claims) {}), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.AppID = "124" }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.AppID = "" }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.UserID = "Alice" }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.ID = "" }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.NotBefore = now.Add(time.Hour).Unix() }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.ExpiresAt = 1 << 40 }), alice, now))
	require.False(t, s.taken(signed(func(c *agent.Claims) { c.IssuedAt = -1 }), alice, now))
	require.True(t, s.taken(signed(func(c *agent.Claims) { c.ExpiresAt = now.Add(time.Hour).Unix() }), alice, now), "long, but good")
}
