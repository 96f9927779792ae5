package house

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const root = "../.."

func read(t *testing.T, path ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{root}, path...)...))
	require.NoError(t, err)
	return string(b)
}

// TestEveryPackageIsDocumented: `go doc` of any folder says what it is for.
func TestEveryPackageIsDocumented(t *testing.T) {
	for _, p := range list(t) {
		generated := strings.Contains(p.ImportPath, "/internal/metadata") || strings.HasSuffix(p.ImportPath, "/collector")
		if generated || len(p.GoFiles) == 0 {
			continue
		}
		require.NotEmpty(t, p.Doc, "%s has no package comment", p.ImportPath)
	}
}

// TestBuilderVersionsAreThoseOfGoMod: ocb does not check them when it writes into this
// module, and go.mod decides what is built.
func TestBuilderVersionsAreThoseOfGoMod(t *testing.T) {
	goMod := read(t, "go.mod")
	lines := regexp.MustCompile(`gomod: (\S+) (\S+)`).FindAllStringSubmatch(read(t, "builder-config.yaml"), -1)
	require.NotEmpty(t, lines)
	for _, line := range lines {
		if line[1]+"/" == module {
			continue
		}
		require.Contains(t, goMod, line[1]+" "+line[2]+"\n", "builder-config.yaml and go.mod differ")
	}
}

// TestCollectorIsGenerated: each component of builder-config.yaml stands in collector/.
// `make check-generated` compares the text.
func TestCollectorIsGenerated(t *testing.T) {
	components := read(t, "collector", "components.go") + read(t, "collector", "main.go")
	for _, line := range regexp.MustCompile(`import: (\S+)`).FindAllStringSubmatch(read(t, "builder-config.yaml"), -1) {
		require.Contains(t, components, line[1])
	}
}

// TestOneVersion: browser library, collector and token agent are released together.
//
// spec: LIB-04
func TestOneVersion(t *testing.T) {
	collector := regexp.MustCompile(`(?m)^  version: (\S+)$`).FindStringSubmatch(read(t, "builder-config.yaml"))
	library := regexp.MustCompile(`"version": "(\S+)"`).FindStringSubmatch(read(t, "client", "package.json"))
	built := regexp.MustCompile(`"version": "(\S+)"`).FindStringSubmatch(read(t, "client", "dist", "manifest.json"))
	require.Equal(t, collector[1], library[1])
	require.Contains(t, read(t, "agent", "doc.go"), `const Version = "`+library[1]+`"`)
	require.Equal(t, library[1], built[1])
	require.Contains(t, read(t, "CHANGELOG.md"), "## "+library[1])
}

func TestGoModHasNoReplace(t *testing.T) {
	require.NotContains(t, read(t, "go.mod"), "replace ", "a module with replace cannot be built by other people's ocb")
}

// TestFilesSpeakOfTheProjectAlone: no path of a machine and no registry host in what is
// committed; lock files would otherwise name where somebody's packages came from.
func TestFilesSpeakOfTheProjectAlone(t *testing.T) {
	cmd := exec.Command("git", "grep", "-nIE", `(/work/(main|shared)|/root/|registry\.npmjs|proxy\.golang)`, "--", ".", ":!tests/house")
	cmd.Dir = root
	out, err := cmd.Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return // git grep found nothing, or this is no checkout
	}
	require.NoError(t, err)
	require.Empty(t, string(bytes.TrimSpace(out)))
}

// TestListenersShareTheirLimits: a listener of its own would offer suites with CBC, and a default configuration of its
// own would wait a minute for the headers of a request.
//
// spec: SRV-01
func TestListenersShareTheirLimits(t *testing.T) {
	for _, call := range []string{`\.ToListener(`, `\.NewDefaultServerConfig(`} {
		out, err := exec.Command("git", "-C", root, "grep", "-l", call, "--", "*.go", ":!*_test.go").Output()
		if err != nil {
			return // this is no checkout
		}
		require.Equal(t, "internal/serve/tlsserver/tlsserver.go\n", string(out))
	}
}
