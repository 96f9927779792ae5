package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
)

// call runs a command in this process.
func call(in string, args ...string) (code int, out, errors string) {
	var stdout, stderr bytes.Buffer
	code = run(args, streams{strings.NewReader(in), &stdout, &stderr, func(string) (string, bool) { return "", false }})
	return code, stdout.String(), stderr.String()
}

// spec: AUTH-08
func TestKeygen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	code, out, text := call("", "keygen", path)
	require.Equal(t, exitOK, code, text)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	key, err := agent.ParseKey(file)
	require.NoError(t, err)
	public, err := key.MarshalPublic()
	require.NoError(t, err)
	require.Equal(t, "keyID: "+key.ID()+"\nalgorithm: ES256\n"+string(public), out)
	thumbprint, err := agent.Thumbprint(key.Public())
	require.NoError(t, err)
	require.Equal(t, thumbprint, key.ID())
	require.NotContains(t, out+text, "PRIVATE")

	code, _, text = call("", "keygen", path)
	require.Equal(t, exitFailed, code)
	require.Contains(t, text, "a key is not overwritten")
	again, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, file, again)
}

// spec: AUTH-05, AUTH-08
func TestKeygenHS256(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.pem")
	code, out, text := call("", "keygen", "--algorithm=HS256", path)
	require.Equal(t, exitOK, code, text)
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	key, err := agent.ParseKey(file)
	require.NoError(t, err)
	require.Equal(t, "keyID: "+key.ID()+"\nalgorithm: HS256\n", out)
	match := regexp.MustCompile(`^keyID: (\S+)\nsecret: ([A-Za-z0-9_-]{43})\n$`).FindStringSubmatch(string(file))
	require.NotNil(t, match)
	require.NotContains(t, out+text, match[2])
	// What is registered is those characters, and they are what signs.
	_, err = jwt.NewParser(jwt.WithValidMethods([]string{"HS256"})).Parse(sign(t, key), func(*jwt.Token) (any, error) { return []byte(match[2]), nil })
	require.NoError(t, err)
	token := sign(t, key)
	code, out, _ = call(token, "verify", "--key="+path)
	require.Equal(t, exitOK, code)
	require.Contains(t, out, "good, by the HS256 key "+key.ID())
}

func sign(t *testing.T, key *agent.Key) string {
	t.Helper()
	claims := agent.NewClaims(appID, "alice", time.Now(), 8*time.Minute, 8*time.Minute)
	token, err := key.Sign(&claims)
	require.NoError(t, err)
	return token
}

// spec: AUTH-08
func TestVerify(t *testing.T) {
	dir := t.TempDir()
	private, public := filepath.Join(dir, "key.pem"), filepath.Join(dir, "public.pem")
	_, out, _ := call("", "keygen", private)
	require.NoError(t, os.WriteFile(public, []byte(out), 0o600))
	file, err := os.ReadFile(private)
	require.NoError(t, err)
	key, err := agent.ParseKey(file)
	require.NoError(t, err)
	token := sign(t, key)
	said := func(want int, in, what string, args ...string) {
		t.Helper()
		code, out, text := call(in, append([]string{"verify"}, args...)...)
		require.Equal(t, want, code, out+text)
		require.Contains(t, out+text, what)
		require.NotContains(t, out+text, token)
	}
	said(exitOK, token, "no key was given")
	said(exitOK, token, "the collector would accept it", "--key="+private)
	said(exitOK, `{"token":"`+token+`"}`, "the collector would accept it", "--key="+public, "--app_id="+appID, "--user_id=alice")
	said(exitOK, token, "good, by the ES256 key "+key.ID(), "--key="+public, "-")
	tokenFile := filepath.Join(dir, "token")
	require.NoError(t, os.WriteFile(tokenFile, []byte(token+"\n"), 0o600))
	said(exitOK, "", "the collector would accept it", "--key="+public, tokenFile)
	said(exitFailed, token, `no key "`+key.ID()+`" is known here`, "--key="+public, "--key_id=other")
	said(exitFailed, token, "exp: it ended", "--at=2100-01-01T00:00:00Z")
	said(exitFailed, token, `userID is "alice"`, "--user_id=bob")
	said(exitOK, token, "nothing speaks against it", "--user_id=bob", "--alias=alice")
	said(exitUsage, token, "--at", "--at=noon")
	said(exitUsage, token, "one token", "a", "b")
	said(exitFailed, "", "a token itself is no argument", token)
	said(exitFailed, token, "--key", "--key="+tokenFile)
	said(exitFailed, token, "--key", "--key=/nowhere")
}

func TestCommands(t *testing.T) {
	f := func(want int, what string, args ...string) {
		t.Helper()
		code, out, text := call("", args...)
		require.Equal(t, want, code, text)
		require.Contains(t, out+text, what)
	}
	f(exitUsage, "qos-agent serve")
	f(exitOK, "qos-agent serve", "--help")
	f(exitOK, agent.Version+"\n", "version")
	f(exitUsage, `no command "server"`, "server")
	f(exitOK, "keys.directory", "serve", "--help")
	f(exitFailed, "app_id: is required", "serve")
	f(exitOK, "Makes a key", "keygen", "--help")
	f(exitUsage, "one file", "keygen")
	f(exitUsage, `no algorithm "RS256"`, "keygen", "--algorithm=RS256", filepath.Join(t.TempDir(), "x"))
	f(exitUsage, "not defined", "keygen", "--size=3", "x")
	f(exitFailed, "no such file", "keygen", "/nowhere/key.pem")
	f(exitOK, "Explains the token", "verify", "--help")
	f(exitUsage, "monitor is off", "healthcheck", "--app_id=1", "--who=header", "--header.secret_file=x", "--monitor=")
	f(exitFailed, "not healthy", "healthcheck", "--app_id=1", "--who=header", "--header.secret_file=x", "--monitor="+freeAddress(t))
	p := start(t, "--who=header")
	code, out, text := call("", append([]string{"healthcheck", "--who=header"}, p.args(nil)...)...)
	require.Equal(t, exitOK, code, text)
	require.Equal(t, "ok\n", out)
}
