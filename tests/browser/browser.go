package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Kinds of browsers.
const (
	Chromium = "Chromium"
	Firefox  = "Firefox"
)

// programs have to be installed for a kind of browser.
var programs = map[string][]string{
	Chromium: {"chromium", "chromedriver"},
	Firefox:  {"firefox-esr"},
}

// A Browser is a running browser that a test drives.
type Browser struct {
	*BiDi
	Kind    string
	Process *Process   // of Chromium: chromedriver, in whose process group the browser runs
	Opening sync.Mutex // held while a window opens, by tests that open many windows of one browser

	t      *testing.T
	trusts string // PEM file of the authority that it trusts; empty: it accepts any certificate

	mu      sync.Mutex
	console []string // lines that its pages wrote
}

// Start starts a browser with a fresh profile. It ends with the test.
func Start(t *testing.T, kind string) *Browser {
	t.Helper()
	return StartTrusting(t, kind, "")
}

// StartTrusting starts a browser that accepts the certificates of one authority alone, which is a PEM file.
func StartTrusting(t *testing.T, kind, authority string) *Browser {
	t.Helper()
	Require(t, kind)
	b := &Browser{Kind: kind, t: t, trusts: authority}
	require.NoError(t, b.start(), kind)
	t.Cleanup(b.Stop)
	require.NoError(t, b.Do("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}}, nil))
	return b
}

// start starts the browser while no other process of the same test package starts one: on a busy machine, many
// starts at once exceed the drivers' own time limits. The lock is on the package's folder, in which tests run.
func (b *Browser) start() error {
	turn, err := os.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = turn.Close() }() // releases the lock
	if err := unix.Flock(int(turn.Fd()), unix.LOCK_EX); err != nil {
		return err
	}
	if b.Kind == Chromium {
		return b.startChromium()
	}
	return b.startFirefox()
}

// Errors returns the errors on the consoles of the browser's pages.
func (b *Browser) Errors() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []string
	for _, line := range b.console {
		if strings.HasPrefix(line, "error:") {
			found = append(found, line)
		}
	}
	return found
}

// ScriptErrors returns the errors on the consoles of the browser's pages without those of requests, which pages show.
func (b *Browser) ScriptErrors() []string {
	return slices.DeleteFunc(b.Errors(), func(line string) bool { return strings.Contains(line, "Failed to load resource") })
}

// shortDir makes a directory that is removed at the end of the test: Chromium's socket below it has at most 107 bytes.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "b") //nolint:usetesting // the path of t.TempDir is too long
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a process of the browser may still write
	return dir
}

func (b *Browser) log(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, text)
}

// Stop closes the browser as a user does, then kills the processes that are left.
func (b *Browser) Stop() {
	_ = b.Do("browser.close", map[string]any{}, nil) // it may have been killed by the test
	b.close()
	b.Process.Kill()
	if b.t.Failed() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.t.Logf("%s console:\n%s", b.Kind, strings.Join(b.console, "\n"))
	}
}

var chromiumArgs = []string{
	"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
	"--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
	"--autoplay-policy=no-user-gesture-required", "--allow-loopback-in-peer-connection", "--window-size=1000,900",
	"--host-resolver-rules=MAP *.test 127.0.0.1",
}

func (b *Browser) startChromium() error {
	dir := shortDir(b.t)
	if err := b.trust(filepath.Join(dir, ".pki", "nssdb")); err != nil {
		return err
	}
	driver, out, err := StartProcess(dir, "chromedriver", "--port=0")
	if err != nil {
		return err
	}
	b.Process = driver
	port, err := FirstMatch(out, regexp.MustCompile(`started successfully on port (\d+)`))
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
	client := &http.Client{Timeout: Patience}
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
	b.BiDi, err = dialBidi(answer.Value.Capabilities.WebSocketURL, b.log)
	return err
}

// firefoxPrefs make calls over loopback possible, which need the permissions too, and switch off background
// requests.
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

func (b *Browser) startFirefox() error {
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
	process, out, err := StartProcess(dir, "firefox-esr", "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0")
	if err != nil {
		return err
	}
	b.Process = process
	url, err := FirstMatch(out, regexp.MustCompile(`WebDriver BiDi listening on (ws://\S+)`))
	if err != nil {
		return err
	}
	if b.BiDi, err = dialBidi(url+"/session", b.log); err != nil {
		return err
	}
	return b.Do("session.new", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"acceptInsecureCerts": b.trusts == ""}}}, nil)
}

// trust makes a certificate store with the authority, in the form that both browsers read.
func (b *Browser) trust(dir string) error {
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
