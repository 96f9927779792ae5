package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
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

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The browsers under test.
const (
	chromium = "Chromium"
	firefox  = "Firefox"
)

// programs are what a browser needs to be installed.
var programs = map[string][]string{
	chromium: {"chromium", "chromedriver"},
	firefox:  {"firefox-esr"},
}

const startTimeout = patience

// browser is a running browser that a test drives.
type browser struct {
	t    *testing.T
	kind string
	*bidi
	process *process
	trusts  string     // PEM file of the authority it trusts; empty: it takes any certificate
	opening sync.Mutex // held while a window is opened, by tests that open many

	mu      sync.Mutex
	console []string // what its pages wrote
}

// startBrowser starts a browser with a fresh profile; it ends with the test.
func startBrowser(t *testing.T, kind string) *browser {
	t.Helper()
	return startTrusting(t, kind, "")
}

// startTrusting starts a browser that holds certificates against an authority.
func startTrusting(t *testing.T, kind, authority string) *browser {
	t.Helper()
	need(t, programs[kind]...)
	b := &browser{t: t, kind: kind, trusts: authority}
	require.NoError(t, b.start(), kind)
	t.Cleanup(b.stop)
	require.NoError(t, b.do("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil))
	return b
}

// start starts the browser while no other one starts, in this process or another: the drivers
// have limits of their own, which many starts at once on a busy machine exceed.
func (b *browser) start() error {
	turn, err := os.OpenFile(filepath.Join(os.TempDir(), "qos-e2e-start.lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = turn.Close() }() // gives the lock back
	if err := unix.Flock(int(turn.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if b.kind == chromium {
		return b.startChromium()
	}
	return b.startFirefox()
}

// shortDir makes a directory that is removed at the end of the test: Chromium's socket below it has at most 107 bytes.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "b")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a process of the browser may still write
	return dir
}

func (b *browser) log(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, text)
}

// stop closes the browser as a user would, then kills what is left of it.
func (b *browser) stop() {
	_ = b.do("browser.close", map[string]any{}, nil) // it may have been killed by the test
	b.close()
	b.process.kill()
	if b.t.Failed() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Logf("%s console:\n%s", b.kind, strings.Join(b.console, "\n"))
	}
}

var chromiumArgs = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
	"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
	"--autoplay-policy=no-user-gesture-required", "--allow-loopback-in-peer-connection", "--window-size=1000,900",
	"--host-resolver-rules=MAP *.test 127.0.0.1",
}

func (b *browser) startChromium() error {
	dir := shortDir(b.t)
	if err := b.trust(filepath.Join(dir, ".pki", "nssdb")); err != nil {
		return err
	}
	driver, out, err := startProcess(dir, "chromedriver", "--port=0")
	if err != nil {
		return err
	}
	b.process = driver
	port, err := firstMatch(out, regexp.MustCompile(`started successfully on port (\d+)`))
	if err != nil {
		return err
	}
	binary, err := exec.LookPath("chromium")
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"browserName": "chrome", "webSocketUrl": true, "acceptInsecureCerts": b.trusts == "",
		"goog:chromeOptions": map[string]any{"binary": binary, "args": append(chromiumArgs, "--user-data-dir="+filepath.Join(dir, "profile"))},
	}}})
	if err != nil {
		return err
	}
	client := &http.Client{Timeout: startTimeout}
	resp, err := client.Post("http://127.0.0.1:"+port+"/session", "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var answer struct {
		Value struct {
			Message      string `json:"message"`
			Capabilities struct {
				WebSocketURL string `json:"webSocketUrl"`
			} `json:"capabilities"`
		} `json:"value"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return err
	}
	if answer.Value.Capabilities.WebSocketURL == "" {
		return fmt.Errorf("no session: %s", answer.Value.Message)
	}
	b.bidi, err = dialBidi(answer.Value.Capabilities.WebSocketURL, b.log)
	return err
}

// firefoxPrefs make calls over loopback possible (the permissions are needed for that as
// well) and stop what it does in the background.
const firefoxPrefs = `
user_pref("media.peerconnection.ice.loopback", true);
user_pref("media.peerconnection.ice.obfuscate_host_addresses", false);
user_pref("permissions.default.camera", 1);
user_pref("permissions.default.microphone", 1);
user_pref("media.navigator.streams.fake", true);
user_pref("media.devices.unfocused.enabled", true);
user_pref("media.autoplay.default", 0);
user_pref("media.gmp-manager.updateEnabled", false);
user_pref("app.update.enabled", false);
user_pref("app.normandy.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("browser.startup.homepage_override.mstone", "ignore");
user_pref("browser.safebrowsing.malware.enabled", false);
user_pref("browser.safebrowsing.phishing.enabled", false);
user_pref("browser.search.update", false);
user_pref("browser.region.network.url", "");
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("dom.push.connection.enabled", false);
user_pref("extensions.update.enabled", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("network.dns.disablePrefetch", true);
user_pref("network.dns.localDomains", "app.test,qos.test");
user_pref("network.manage-offline-status", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.enabled", false);
`

func (b *browser) startFirefox() error {
	dir := shortDir(b.t)
	profile := filepath.Join(dir, "profile")
	if err := os.Mkdir(profile, 0o700); err != nil {
		return err
	}
	if err := b.trust(profile); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxPrefs), 0o600); err != nil {
		return err
	}
	process, out, err := startProcess(dir, "firefox-esr", "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	if err != nil {
		return err
	}
	b.process = process
	url, err := firstMatch(out, regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`))
	if err != nil {
		return err
	}
	if b.bidi, err = dialBidi(url+"/session", b.log); err != nil {
		return err
	}
	return b.do("session.new", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"acceptInsecureCerts": b.trusts == ""}}}, nil)
}

// trust makes a certificate store with the authority in it, in the form that both browsers
// read.
func (b *browser) trust(dir string) error {
	if b.trusts == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, args := range [][]string{{"-N", "--empty-password"}, {"-A", "-t", "C,,", "-n", "authority", "-i", b.trusts}} {
		if out, err := exec.Command("certutil", append([]string{"-d", "sql:" + dir}, args...)...).CombinedOutput(); err != nil {
			return fmt.Errorf("certutil: %w: %s", err, out)
		}
	}
	return nil
}

// process is a child in a process group of its own.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it has ended
}

// startProcess returns the child and what it writes to either output.
func startProcess(tmp, name string, args ...string) (*process, *lines, error) {
	out := &lines{more: make(chan struct{}, 1)}
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp, "HOME="+tmp, "MOZ_HEADLESS=1")
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = 5 * time.Second // grandchildren may hold the pipe
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is of no interest
	}()
	return p, out, nil
}

// signal reaches the child alone.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// kill ends the whole group at once and waits.
func (p *process) kill() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	<-p.done
}

// lines keeps what a process wrote.
type lines struct {
	mu   sync.Mutex
	text []byte
	more chan struct{}
}

// Write implements io.Writer.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	l.text = append(l.text, p...)
	l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.text)
}

// firstMatch waits for a process to say something and returns the part in parentheses.
func firstMatch(out *lines, pattern *regexp.Regexp) (string, error) {
	deadline := time.After(startTimeout)
	for {
		if m := pattern.FindStringSubmatch(out.String()); m != nil {
			return m[1], nil
		}
		select {
		case <-out.more:
		case <-deadline:
			return "", fmt.Errorf("not said within %s: %s\nsaid: %s", startTimeout, pattern, out)
		}
	}
}
