package recipes

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
	"github.com/qosrtc/qos/storage/sqlite"
	"github.com/qosrtc/qos/tests/harness"
	"github.com/qosrtc/qos/tests/kit/testcert"
	"github.com/qosrtc/qos/tests/kit/testenv"
	"github.com/qosrtc/qos/tests/timeseries/timeseriestest"
)

// dashHost is the host of the commands of docs/api.md.
const dashHost = "dash.example.org"

// apiCommands are the commands of docs/api.md in their order: what the answer, or the file that it is written to, has.
var apiCommands = []struct {
	file string
	want []string
}{
	{"", []string{`"id":"standup"`, `"outcome":"dropped"`, `"user":"ada"`}},
	{"", []string{"Conference standup (app shop)", "ada"}},
	{"failed.csv", []string{`"app","conferenceID",`, `"shop","standup","2025-11-21T05:16:00`}},
	{"", []string{`"user":"ada"`, `"calls":[{`, `"id":"standup"`}},
	{"", []string{`"current":{"conferences":1,`, `"baseline":{"conferences":0,`}},
	{"", []string{`"set":{`, `"findings":[]`}},
	{"openapi.json", []string{`"openapi": "3.1.0"`}},
}

var fenced = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")

// commands returns the commands of a document, one a line.
func commands(t *testing.T, path string) (all []string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, found := range fenced.FindAllStringSubmatch(string(text), -1) {
		for line := range strings.Lines(found[1]) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				all = append(all, line)
			}
		}
	}
	require.Len(t, all, strings.Count(string(text), "\ncurl "), "a curl command is in a block without the language sh")
	return all
}

// TestCommandsOfTheAPI runs the commands of docs/api.md unchanged, with a token that an administrator makes, against the
// real collector with sign-in and TLS.
//
// spec: DASH-01, DASH-03
func TestCommandsOfTheAPI(t *testing.T) {
	testenv.Program(t, "curl")
	all := commands(t, filepath.Join("..", "..", "docs", "api.md"))
	require.Len(t, all, len(apiCommands), "each command has an expectation")
	dir := t.TempDir()
	seedDropped(t, dir)
	address := harness.FreeAddress(t)
	client := authority(t, dir, address)
	config := filepath.Join(dir, "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(dashboardConfig(dir, address, harness.FreeAddress(t))), 0o600))
	timeseriestest.NewProcess(t, client, "https://"+dashHost+"/signin", harness.Binary(t), "--config", config)
	token := makeToken(t, client)
	for i, command := range all {
		out := curl(t, dir, command, token)
		if name := apiCommands[i].file; name != "" {
			text, err := os.ReadFile(filepath.Join(dir, name))
			require.NoError(t, err, command)
			out = string(text)
		}
		for _, want := range apiCommands[i].want {
			require.Contains(t, out, want, command)
		}
	}
	require.Contains(t, curl(t, dir, all[0], "qos_wrong"), `"error"`)
}

// seedDropped writes a dropped call of ada, the only one of the day, and the administrator root to a store in dir.
func seedDropped(t *testing.T, dir string) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(dir, "qos.sqlite3"), sqlite.Options{})
	require.NoError(t, err)
	at := time.UnixMilli(1_763_702_160_000).UTC()
	_, err = store.Append(t.Context(), []storage.Batch{{
		Session: storage.Session{ID: "019a9f3c-7b1a-7c3e-9f10-2b6f0c1d2e3f", AppID: "shop", UserID: "ada", UserAlias: "ada"},
		Records: []storage.Record{{
			Seq: 1, ConferenceID: "standup", ConferenceAt: at, Fabric: 1, Name: semconv.EventEvent, At: at, ObservedAt: at, Activity: true,
			Attributes: map[string]any{semconv.EventName: "fabricAdded", semconv.EventData: "{}"},
		}},
	}})
	require.NoError(t, err)
	require.NoError(t, store.PutSummary(t.Context(), storage.Summary{
		AppID: "shop", ConferenceID: "standup", Start: at, End: at, Revision: 1, Outcome: "dropped", Participants: 1, Document: []byte(`{"outcome":"dropped"}`),
	}))
	passwords, err := access.NewPasswords()
	require.NoError(t, err)
	hash, err := passwords.Hash(t.Context(), access.Applicant{}, adminPassword)
	require.NoError(t, err)
	user := access.User{Roles: []access.Role{access.Admin}, Scope: access.Scope{All: true}, Password: hash, Generation: 1, CreatedAt: time.Now().UTC()}
	body, err := user.Encode()
	require.NoError(t, err)
	_, err = store.PutSetting(t.Context(), storage.Setting{Kind: "user", ID: "root", ChangedAt: time.Now().UTC(), Body: body})
	require.NoError(t, err)
	require.NoError(t, store.Close())
}

const adminPassword = "correct horse battery"

// dashboardConfig is the configuration of a collector with a dashboard that readers sign in to.
func dashboardConfig(dir, dashboard, otlp string) string {
	return fmt.Sprintf(`
extensions:
  qosstorage: {directory: %[1]s, retention: 100000h}
  qosaccess: {storage: qosstorage}
  qosdashboard:
    endpoint: %[2]s
    storage: qosstorage
    access: qosaccess
    allowed_hosts: [%[4]s]
    tls: {cert_file: %[1]s/cert.pem, key_file: %[1]s/key.pem}
receivers: {otlp: {protocols: {http: {endpoint: "%[3]s"}}}}
exporters: {qosstore: {storage: qosstorage}}
service:
  extensions: [qosstorage, qosaccess, qosdashboard]
  pipelines: {logs: {receivers: [otlp], exporters: [qosstore]}}
  %[5]s
`, dir, dashboard, otlp, dashHost, timeseriestest.Quiet)
}

// authority writes a certificate of dashHost, and settings for curl that trust it and connect to address. It returns a
// client with the same.
func authority(t *testing.T, dir, address string) *http.Client {
	t.Helper()
	c, err := testcert.New(dashHost)
	require.NoError(t, err)
	for name, text := range map[string][]byte{
		"cert.pem": c.Chain(), "key.pem": c.Key,
		".curlrc": fmt.Appendf(nil, "silent\nshow-error\nnoproxy = \"*\"\ncacert = %q\nconnect-to = %q\n", filepath.Join(dir, "cert.pem"), dashHost+":443:"+address),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &http.Client{
		Jar: jar, Timeout: timeseriestest.Patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: c.Roots(), MinVersion: tls.VersionTLS12},
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, address)
			},
		},
	}
}

var (
	formToken = regexp.MustCompile(`name="form" value="([^"]*)"`)
	apiToken  = regexp.MustCompile(`qos_[^"]+`)
)

// makeToken signs in as root and makes a token of an engineer.
func makeToken(t *testing.T, client *http.Client) string {
	t.Helper()
	const base = "https://" + dashHost
	read := func(res *http.Response, err error) string {
		t.Helper()
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Less(t, res.StatusCode, 400, "%s", text)
		return string(text)
	}
	form := formToken.FindStringSubmatch(read(client.Get(base + "/signin")))
	require.NotNil(t, form)
	read(client.PostForm(base+"/signin", url.Values{"user": {"root"}, "password": {adminPassword}, "form": {form[1]}}))
	made := read(client.Post(base+"/api/v1/tokens", "application/json", strings.NewReader(`{"name":"script","roles":["engineering"],"scope":{"apps":["shop"]}}`)))
	token := apiToken.FindString(made)
	require.NotEmpty(t, token, made)
	return token
}

// curl runs a command in dir, where curl finds its settings, and returns what it prints.
func curl(t *testing.T, dir, command, token string) string {
	t.Helper()
	cmd := exec.Command("sh", "-euc", command)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CURL_HOME=" + dir, "QOS_TOKEN=" + token}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", command, out)
	return string(out)
}
