package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/tests/browser"
	"github.com/qosrtc/qos/tests/kit/testenv"
)

// clientDir is where the package is made, with the tools that its lockfile pins.
var clientDir = filepath.Join("..", "..", "client")

// manifest is what the build of the library says about its files.
type manifest struct {
	Version string
	Files   map[string]struct{ Integrity string }
}

// readManifest asks the collector, as a developer would who wants the hash.
func readManifest(t *testing.T, c *collector) manifest {
	t.Helper()
	var m manifest
	require.NoError(t, json.Unmarshal([]byte(c.read(c.receiver+"/manifest.json")), &m))
	return m
}

// libraryPages serves testdata/pages, RequireJS as it is, and the application as Vite built
// it. Browsers get the library itself from the collector.
type libraryPages struct {
	url  string
	fill *strings.Replacer // puts the collector's URL and the hashes in
}

func startLibraryPages(t *testing.T, built string) *libraryPages {
	t.Helper()
	pages := &libraryPages{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{name}", func(w http.ResponseWriter, r *http.Request) {
		text, err := os.ReadFile(filepath.Join("testdata", "pages", filepath.Base(r.PathValue("name"))))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		contentType := "text/html; charset=utf-8"
		if strings.HasSuffix(r.PathValue("name"), ".js") {
			contentType = "text/javascript; charset=utf-8"
		}
		w.Header().Set("Content-Type", contentType)
		if policy := r.URL.Query().Get("policy"); policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		_, _ = w.Write([]byte(pages.fill.Replace(string(text))))
	})
	mux.HandleFunc("GET /require.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(clientDir, "node_modules", "requirejs", "require.js"))
	})
	mux.Handle("GET /vite/", http.StripPrefix("/vite/", http.FileServer(http.Dir(built))))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	pages.url = server.URL
	return pages
}

// of says which collector the pages load the library from; it must run.
func (p *libraryPages) of(t *testing.T, c *collector) {
	t.Helper()
	m := readManifest(t, c)
	p.fill = strings.NewReplacer(
		"{{collector}}", c.receiver,
		"{{integrity}}", m.Files["qos.min.js"].Integrity,
		"{{otherIntegrity}}", m.Files["qos.js"].Integrity,
	)
}

// needPackages skips the test where the package cannot be made and installed.
func needPackages(t *testing.T) {
	t.Helper()
	browser.Require(t)
	testenv.Program(t, "node")
	testenv.Program(t, "npm")
	for _, name := range []string{"vite", "requirejs"} {
		if _, err := os.Stat(filepath.Join(clientDir, "node_modules", name)); err != nil {
			testenv.Missing(t, errors.New(name+" is not installed (npm ci in client/)"))
		}
	}
}

// buildApplication packs the library, installs the package into a fresh application and
// has Vite build that. It returns the folder with the result. Nothing is fetched: the
// package has no dependencies.
func buildApplication(t *testing.T) string {
	t.Helper()
	tmp := t.TempDir()
	application := filepath.Join(tmp, "application")
	require.NoError(t, os.CopyFS(application, os.DirFS(filepath.Join("testdata", "pages", "vite"))))
	vite, err := filepath.Abs(filepath.Join(clientDir, "node_modules", "vite", "bin", "vite.js"))
	require.NoError(t, err)

	packed := runIn(t, tmp, clientDir, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", tmp)
	tarball := filepath.Join(tmp, strings.TrimSpace(packed))
	runIn(t, tmp, application, "npm", "install", "--offline", "--silent", "--ignore-scripts", tarball)
	runIn(t, tmp, application, "node", vite, "build")
	return filepath.Join(application, "dist")
}

// runIn runs a program that has to succeed, with tmp as its home, and returns what it printed.
func runIn(t *testing.T, tmp, dir, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+tmp, "npm_config_cache="+filepath.Join(tmp, "cache"), "npm_config_update_notifier=false")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "%s %v\n%s%s", name, args, out, stderr.String())
	return string(out)
}
