package e2e

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testcert"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// Where the site is, for browsers. Both names are loopback there.
const (
	appOrigin   = "https://app.test"      // the application; collectors know this origin of it
	otherOrigin = "https://app.test:8443" // the same host and cookies, but another origin
	plainOrigin = "http://app.test"       // the same without TLS
	qosBase     = "https://qos.test"      // collectors
)

// site is an application whose users log in: its origin server, the token agent and a
// collector, behind an nginx that ends TLS with a chain of its own.
type site struct {
	t          *testing.T
	dir        string // of nginx
	authority  string // PEM file of who signed the certificate
	management string // base URL of the apps extension's API
	collector  *collector
	agent      *tokenAgent
	logins     logins
}

// startSite starts all of it.
func startSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, dir: t.TempDir(), management: "http://" + freeAddress(t)}
	s.authority = makeChain(t, s.dir, "app.test", "qos.test")
	origin := startOrigin(t)
	s.agent = startAgent(t, origin)
	s.collector = newCollector(t)
	s.register()
	s.collector.start()
	s.startNginx(origin)
	return s
}

// makeChain writes an authority, and a certificate for the names that it signed.
func makeChain(t *testing.T, dir string, names ...string) (authority string) {
	t.Helper()
	c, err := testcert.New(names...)
	require.NoError(t, err)
	authority = filepath.Join(dir, "authority.pem")
	for file, text := range map[string][]byte{
		authority: c.Root, filepath.Join(dir, "chain.pem"): c.Chain(), filepath.Join(dir, "key.pem"): c.Key,
	} {
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	return authority
}

// startNginx starts the server as Debian packages it, on the usual ports: nobody else is in
// this namespace.
func (s *site) startNginx(origin string) {
	s.t.Helper()
	template, err := os.ReadFile(filepath.Join("testdata", "auth_nginx.conf"))
	require.NoError(s.t, err)
	pages, err := filepath.Abs("testdata")
	require.NoError(s.t, err)
	config := filepath.Join(s.dir, "nginx.conf")
	filled := strings.NewReplacer(
		"{{dir}}", s.dir, "{{pages}}", pages, "{{origin}}", origin, "{{agent}}", s.agent.url, "{{collector}}", s.collector.receiver,
	).Replace(string(template))
	require.NoError(s.t, os.WriteFile(config, []byte(filled), 0o600))
	nginx, out, err := browser.StartProcess(s.dir, testenv.Program(s.t, "nginx"), "-p", s.dir, "-c", config)
	require.NoError(s.t, err)
	s.t.Cleanup(nginx.Kill)
	browser.Eventually(s.t, patience, "nginx listens", func() (bool, string) {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:443", patience)
		if err != nil {
			return false, err.Error() + out.String()
		}
		return conn.Close() == nil, ""
	})
}

// startOrigin starts the origin server: it logs users in, and tells who has a cookie.
func startOrigin(t *testing.T) string {
	t.Helper()
	var mu sync.Mutex
	users := map[string]string{} // by cookie
	mux := http.NewServeMux()
	mux.HandleFunc("POST /account/login", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		login := rand.Text()
		users[login] = r.FormValue("user")
		http.SetCookie(w, &http.Cookie{
			Name: "login", Value: login, Path: r.FormValue("path"), Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		})
	})
	mux.HandleFunc("GET /account/who", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		cookie, err := r.Cookie("login")
		switch {
		case err != nil || users[cookie.Value] == "":
			http.Error(w, "nobody is logged in", http.StatusUnauthorized)
		case users[cookie.Value] == "outage":
			http.Error(w, "the database is away", http.StatusInternalServerError)
		default:
			_ = json.NewEncoder(w).Encode(map[string]string{"userID": users[cookie.Value]}) // the agent may have gone
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// logLine is a line of nginx's log.
type logLine struct {
	Host, Request, Cookie, Referer, Origin string
	Status                                 int
}

// accesses reads nginx's log.
func (s *site) accesses(t *testing.T) []logLine {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, "access.log"))
	require.NoError(t, err)
	var all []logLine
	for line := range strings.Lines(string(text)) {
		var one logLine
		require.NoError(t, json.Unmarshal([]byte(line), &one), line)
		all = append(all, one)
	}
	return all
}

// port is what the path of a back-end says of where it is.
func port(t *testing.T, base string) string {
	t.Helper()
	u, err := url.Parse(base)
	require.NoError(t, err)
	return u.Port()
}

// backend is a collector, or a front of some, for one visit.
func backend(t *testing.T, visit, base string) string {
	t.Helper()
	return fmt.Sprintf("%s/%s/%s/", qosBase, url.PathEscape(visit), port(t, base))
}
