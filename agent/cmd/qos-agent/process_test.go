package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/agent"
	"github.com/qosrtc/qos/tests/kit/freeport"
)

// patience is how long what must come is waited for.
const patience = time.Minute

const (
	appID  = "123"
	secret = "a secret that both sides know"
)

// lines is what a process wrote, for reading while it runs.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// process is a running qos-agent.
type process struct {
	t       *testing.T
	cmd     *exec.Cmd
	log     lines
	dir     string // keys, secret and socket
	keys    string
	monitor string
	client  *http.Client // over the socket
	exit    chan error
}

// freeAddress is a port of 127.0.0.1 that nobody has.
func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := freeport.Address()
	require.NoError(t, err)
	return address
}

// start runs qos-agent with a key and returns when it is ready. It serves a Unix socket.
func start(t *testing.T, flags ...string) *process {
	t.Helper()
	p := prepare(t)
	p.run(flags...)
	p.ready()
	return p
}

func prepare(t *testing.T) *process {
	t.Helper()
	// The name of a socket is short: t.TempDir() may be too long for it.
	dir, err := os.MkdirTemp("", "qa") //nolint:usetesting // see above
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	p := &process{t: t, dir: dir, keys: filepath.Join(dir, "keys"), monitor: freeAddress(t), exit: make(chan error, 1)}
	require.NoError(t, os.Mkdir(p.keys, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "secret"), []byte(secret+"\n"), 0o600))
	p.client = &http.Client{Timeout: patience, Transport: &http.Transport{
		MaxIdleConnsPerHost: 64,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.socket())
		},
	}}
	t.Cleanup(p.client.CloseIdleConnections)
	p.newKey("current.pem")
	return p
}

func (p *process) socket() string { return filepath.Join(p.dir, "sock") }

// newKey makes a key with qos-agent itself, at one blow where there is one already.
func (p *process) newKey(name string) *agent.Key {
	p.t.Helper()
	next := filepath.Join(p.dir, "next.pem")
	out, err := exec.Command(binary, "keygen", next).Output()
	require.NoError(p.t, err)
	text, err := os.ReadFile(next)
	require.NoError(p.t, err)
	require.NoError(p.t, os.Rename(next, filepath.Join(p.keys, name)))
	key, err := agent.ParseKey(text)
	require.NoError(p.t, err)
	require.Contains(p.t, string(out), "keyID: "+key.ID()+"\nalgorithm: ES256\n")
	return key
}

func (p *process) key() *agent.Key {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.keys, "current.pem"))
	require.NoError(p.t, err)
	key, err := agent.ParseKey(text)
	require.NoError(p.t, err)
	return key
}

func (p *process) args(flags []string) []string {
	return append([]string{
		"--app_id=" + appID, "--listen=unix:" + p.socket(), "--monitor=" + p.monitor, "--log.level=debug",
		"--keys.directory=" + p.keys, "--header.secret_file=" + filepath.Join(p.dir, "secret"),
	}, flags...)
}

func (p *process) run(flags ...string) {
	p.t.Helper()
	p.cmd = exec.Command(binary, append([]string{"serve"}, p.args(flags)...)...)
	p.cmd.Stderr = &p.log
	require.NoError(p.t, p.cmd.Start())
	go func() { p.exit <- p.cmd.Wait() }()
	p.t.Cleanup(p.end)
}

// end is the test's end: nothing of a user stands in the log, whatever its level.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exit                 //nolint:errcheck // stops has looked at it where it matters
	p.exit <- nil
	for _, hidden := range []string{secret, "eyJ", "session=", "PRIVATE", "alice", "Bearer"} {
		require.NotContains(p.t, p.log.String(), hidden)
	}
	if p.t.Failed() {
		p.t.Log(p.log.String())
	}
}

// stops waits for the end and returns what Wait said.
func (p *process) stops() error {
	p.t.Helper()
	select {
	case err := <-p.exit:
		p.exit <- err
		return err
	case <-time.After(patience):
		p.t.Fatal("qos-agent does not stop\n" + p.log.String())
		return nil
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(s))
}

func (p *process) ready() {
	p.t.Helper()
	require.Eventually(p.t, func() bool { status, _ := p.look("/readyz"); return status == http.StatusOK }, patience, pause, p.log.String())
}

// look asks the monitor; 0 where it does not answer.
func (p *process) look(path string) (int, string) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + p.monitor + path)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}

// metric returns a line of /metrics without its value.
func (p *process) metric(series string) string {
	p.t.Helper()
	status, text := p.look("/metrics")
	require.Equal(p.t, http.StatusOK, status)
	match := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	require.NotNil(p.t, match, "%s is not in\n%s", series, text)
	return match[1]
}

// post asks for a token, with headers by twos.
func (p *process) post(headers ...string) (int, string, error) {
	r, err := http.NewRequest(http.MethodPost, "http://agent/token", http.NoBody)
	if err != nil {
		return 0, "", err
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	response, err := p.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

var alice = []string{"X-Qos-Secret", secret, "X-Qos-User", "alice"}

// token asks for alice's and checks it as the collector does.
func (p *process) token(public *ecdsa.PublicKey, headers ...string) jwt.MapClaims {
	p.t.Helper()
	status, body, err := p.post(headers...)
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, status, body)
	return verified(p.t, body, public)
}

// verified reads the answer of a token endpoint as the collector does: golang-jwt alone,
// ES256 and nothing else.
func verified(t *testing.T, body string, public *ecdsa.PublicKey) jwt.MapClaims {
	t.Helper()
	var answer struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	claims := jwt.MapClaims{}
	_, err := jwt.NewParser(jwt.WithValidMethods([]string{"ES256"}), jwt.WithStrictDecoding(), jwt.WithExpirationRequired(), jwt.WithIssuedAt()).
		ParseWithClaims(answer.Token, claims, func(*jwt.Token) (any, error) { return public, nil })
	require.NoError(t, err)
	require.Equal(t, appID, claims["appID"])
	return claims
}

// spec: AUTH-04, AUTH-05, AUTH-08
func TestTheWayHeader(t *testing.T) {
	p := start(t, "--who=header")
	claims := p.token(p.key().Public(), alice...)
	require.Equal(t, "alice", claims["userID"])
	require.Equal(t, p.key().ID(), claims["keyID"])

	status, body, err := p.post("X-Qos-Secret", secret)
	require.NoError(t, err)
	require.Equal(t, http.StatusForbidden, status)
	require.JSONEq(t, `{"error":"not logged in"}`, body)
	status, body, err = p.post("X-Qos-User", "alice", "X-Qos-Secret", "a guess")
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, status)
	require.JSONEq(t, `{"error":"cannot find out who is logged in"}`, body)

	require.Equal(t, "1", p.metric(`qos_agent_requests_total{reason="ok"}`))
	require.Equal(t, "1", p.metric(`qos_agent_requests_total{reason="not_logged_in"}`))
	require.Equal(t, "1", p.metric(`qos_agent_requests_total{reason="who"}`))
	require.Equal(t, "3", p.metric("qos_agent_request_duration_seconds_count"))
	require.Equal(t, "1", p.metric(`qos_agent_key_info{keyID="`+p.key().ID()+`",algorithm="ES256"}`))
	require.Contains(t, p.log.String(), claims["jti"])

	info, err := os.Stat(p.socket())
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o660), info.Mode().Perm())
	p.signal(syscall.SIGTERM)
	require.NoError(t, p.stops())
	require.NoFileExists(t, p.socket())
}

// load asks for tokens from several connections until stop is called, which returns how many
// tokens each key has signed. Not one request may fail.
func (p *process) load(keys func() map[string]*ecdsa.PublicKey) (stop func() map[string]int) {
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	var mu sync.Mutex
	var bodies, failures []string
	for range 8 {
		work.Go(func() {
			for ctx.Err() == nil {
				status, body, err := p.post(alice...)
				mu.Lock()
				if err != nil || status != http.StatusOK {
					failures = append(failures, body)
				} else {
					bodies = append(bodies, body)
				}
				mu.Unlock()
			}
		})
	}
	return func() map[string]int {
		p.t.Helper()
		cancel()
		work.Wait()
		require.Empty(p.t, failures)
		signed := make(map[string]int)
		for _, body := range bodies {
			var answer struct{ Token string }
			require.NoError(p.t, json.Unmarshal([]byte(body), &answer))
			claims := jwt.MapClaims{}
			_, _, err := jwt.NewParser().ParseUnverified(answer.Token, claims)
			require.NoError(p.t, err)
			id, _ := claims["keyID"].(string)
			verified(p.t, body, keys()[id])
			signed[id]++
		}
		return signed
	}
}

// TestKeysRotateUnderLoad: by file, by signal, past a bad file, without one failed request.
//
// spec: AUTH-08
func TestKeysRotateUnderLoad(t *testing.T) {
	p := start(t, "--who=header")
	made := map[string]*ecdsa.PublicKey{p.key().ID(): p.key().Public()}
	stop := p.load(func() map[string]*ecdsa.PublicKey { return made })
	var order []string
	signs := func(key *agent.Key) {
		t.Helper()
		order = append(order, key.ID())
		series := `qos_agent_key_info{keyID="` + key.ID() + `",algorithm="ES256"}`
		require.Eventually(t, func() bool { _, text := p.look("/metrics"); return strings.Contains(text, series) }, patience, pause)
		before := p.metric(`qos_agent_requests_total{reason="ok"}`)
		require.Eventually(t, func() bool { return p.metric(`qos_agent_requests_total{reason="ok"}`) != before }, patience, pause)
	}
	rotate := func() *agent.Key {
		t.Helper()
		key := p.newKey("current.pem")
		made[key.ID()] = key.Public()
		return key
	}
	signs(p.key())
	signs(rotate())

	require.NoError(t, os.WriteFile(filepath.Join(p.keys, "current.pem"), []byte("half a key"), 0o600))
	require.Eventually(t, func() bool { return p.metric("qos_agent_key_refused") == "1" }, patience, pause)
	require.Contains(t, p.log.String(), "the key was not changed")

	second := rotate()
	p.signal(syscall.SIGHUP)
	signs(second)
	require.Equal(t, "0", p.metric("qos_agent_key_refused"))
	require.Equal(t, "2", p.metric(`qos_agent_key_changes_total{result="accepted"}`))
	require.Equal(t, "1", p.metric(`qos_agent_key_changes_total{result="refused"}`))
	signed := stop()
	for _, id := range order {
		require.Positive(t, signed[id])
	}
	require.Len(t, signed, 3)
	p.signal(syscall.SIGTERM)
	require.NoError(t, p.stops())
}

// TestSIGHUP: the key lies elsewhere, where no notice comes from, so that the signal alone
// brings the new one. The same key again is no change.
//
// spec: AUTH-08
func TestSIGHUP(t *testing.T) {
	p := prepare(t)
	elsewhere := filepath.Join(p.dir, "elsewhere.pem")
	require.NoError(t, os.Rename(filepath.Join(p.keys, "current.pem"), elsewhere))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(p.keys, "current.pem")))
	p.run("--who=header")
	p.ready()
	p.signal(syscall.SIGHUP)
	require.Eventually(t, func() bool { return strings.Contains(p.log.String(), "looked at the keys") }, patience, pause)
	require.Equal(t, "0", p.metric(`qos_agent_key_changes_total{result="accepted"}`))
	p.token(p.key().Public(), alice...)

	p.newKey("../elsewhere.pem")
	p.signal(syscall.SIGHUP)
	require.Eventually(t, func() bool { return p.metric(`qos_agent_key_changes_total{result="accepted"}`) == "1" }, patience, pause)
	p.token(p.key().Public(), alice...)
}

// TestSIGTERMDrains: who has been let in gets a token, who comes later gets no connection.
//
// spec: AUTH-08
func TestSIGTERMDrains(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	origin := originServer(t, func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-answer
		_, _ = w.Write([]byte(`{"userID":"alice"}`))
	})
	p := start(t, "--who=url", "--origins=https://app.example.org", "--url.address="+origin+"/me", "--url.timeout=20s")
	type result struct {
		status int
		body   string
		err    error
	}
	first := make(chan result, 1)
	go func() {
		var r result
		r.status, r.body, r.err = p.post("Cookie", "session=alice", "Origin", "https://app.example.org")
		first <- r
	}()
	<-asked
	p.signal(syscall.SIGTERM)
	require.Eventually(t, func() bool {
		conn, err := net.Dial("unix", p.socket())
		if err == nil {
			conn.Close()
		}
		return err != nil
	}, patience, pause, "new connections are refused")
	status, text := p.look("/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Equal(t, "stopping\n", text)
	close(answer)
	r := <-first
	require.NoError(t, r.err)
	require.Equal(t, http.StatusOK, r.status)
	require.Equal(t, "alice", verified(t, r.body, p.key().Public())["userID"])
	require.NoError(t, p.stops())
}

// TestAStopEndsInTime: a request that does not end holds the stop for stop_timeout, not for
// ever, and the exit code tells.
func TestAStopEndsInTime(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan struct{})
	origin := originServer(t, func(http.ResponseWriter, *http.Request) { close(asked); <-answer })
	defer close(answer)
	p := start(t, "--who=url", "--origins=https://app.example.org", "--url.address="+origin, "--url.timeout=20s", "--stop_timeout=100ms")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, _ = p.post("Cookie", "session=alice", "Origin", "https://app.example.org")
	}()
	<-asked
	p.signal(syscall.SIGTERM)
	require.Error(t, p.stops())
	<-done
	require.Contains(t, p.log.String(), "still running after stop_timeout")
}

// pause is how long is waited before what must come is looked for again.
const pause = 20 * time.Millisecond
