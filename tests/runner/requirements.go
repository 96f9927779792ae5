package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/qosrtc/qos/tests/kit/testenv"
)

// needed are the programs of tests, with the Debian packages that have them.
var needed = [][2]string{
	{"chromium", "chromium"},
	{"chromedriver", "chromium-driver"},
	{"firefox-esr", "firefox-esr"},
	{"certutil", "libnss3-tools"},
	{"ip", "iproute2"},
	{"initdb", "postgresql"},
	{"sqlite3", "sqlite3"},
	{"nginx", "nginx"},
	{"haproxy", "haproxy"},
	{"prometheus", "prometheus"},
	{"prometheus-alertmanager", "prometheus-alertmanager"},
	{"victoria-metrics", "victoria-metrics"},
	{"curl", "curl"},
	{"openssl", "openssl"},
	{"systemd-analyze", "systemd"},
	{"turnserver", "coturn"},
	{"janus", "janus"},
	{"node", "nodejs"},
	{"npm", "npm"},
	{"gcc", "gcc"},
}

// leastFree is the space that a run takes in the temporary directory, with some to spare.
const leastFree = 2 << 30

// requirements checks what would fail the run later: missing programs and a full disk.
func (r *run) requirements() error {
	var missing, packages []string
	for _, p := range needed {
		if _, err := testenv.Find(p[0]); err != nil {
			missing, packages = append(missing, p[0]), append(packages, p[1])
		}
	}
	if exec.Command("/usr/bin/python3", "-c", "import websockets").Run() != nil {
		missing, packages = append(missing, "Python's websockets"), append(packages, "python3-websockets")
	}
	install := "apt-get install " + strings.Join(packages, " ")
	switch {
	case len(missing) > 0 && r.strict:
		return fmt.Errorf("with CI=true every program has to be installed; missing: %s (%s)", strings.Join(missing, ", "), install)
	case len(missing) > 0:
		r.print("not installed: %s; their tests are skipped (%s)\n", strings.Join(missing, ", "), install)
	}
	var errs []error
	for _, dir := range []string{os.TempDir(), "."} {
		errs = append(errs, hasSpace(dir, leastFree))
	}
	return errors.Join(errs...)
}

// hasSpace returns an error if the file system of dir has less than some bytes free.
func hasSpace(dir string, least uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < least {
		return fmt.Errorf("%s has %d MiB free, a run needs %d MiB", dir, free>>20, least>>20)
	}
	return nil
}
