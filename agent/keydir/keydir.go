// Package keydir keeps the key that signs in a directory and follows its changes, so that a
// key is replaced without a restart. A change is taken whole or not at all: while the new
// file cannot be used, the old key goes on signing.
package keydir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/qosrtc/qos/agent"
)

// CurrentName is the file that signs, where there are several: the key itself or a link to
// it. `ln -s NEW.pem next && mv -T next current.pem` changes it at one blow.
const CurrentName = "current.pem"

// Options of a Dir. The zero value is the strictest.
type Options struct {
	// Permissions are those of the key file's mode that others may have, of 0o077. The zero
	// value wants a file that its owner alone can read.
	Permissions os.FileMode
	// Report hears of each change of the key and of each new reason why there is none. One
	// goroutine at a time calls it.
	Report func(Change)
}

// Change is what a look at the directory brought.
type Change struct {
	Key *agent.Key // the key that signs from now on
	Err error      // why the directory was not taken; Key is then the old one
}

// Dir is a directory of key files (agent.ParseKey).
type Dir struct {
	path    string
	options Options
	current atomic.Pointer[agent.Key]
	failed  atomic.Bool

	mu        sync.Mutex // guards what follows; held while the directory is read
	lastError string
}

// Open reads the directory once; it must hold a key that can be used.
func Open(path string, options Options) (*Dir, error) {
	d := &Dir{path: path, options: options}
	key, err := d.load()
	if err != nil {
		return nil, err
	}
	d.current.Store(key)
	return d, nil
}

// Current returns the key that signs now. It never returns nil.
func (d *Dir) Current() *agent.Key { return d.current.Load() }

// Failed reports whether the last look at the directory found no key to use, so that an
// older one signs.
func (d *Dir) Failed() bool { return d.failed.Load() }

// Reload looks at the directory now. An error leaves the key as it is.
func (d *Dir) Reload() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	key, err := d.load()
	if err != nil {
		d.failed.Store(true)
		d.reportError(err)
		return err
	}
	d.failed.Store(false)
	d.lastError = ""
	if !key.Equal(d.Current()) {
		d.current.Store(key)
		d.report(Change{Key: key})
	}
	return nil
}

// reportError tells of an error once, not each time that the directory is looked at.
func (d *Dir) reportError(err error) {
	if d.lastError != err.Error() {
		d.lastError = err.Error()
		d.report(Change{Key: d.Current(), Err: err})
	}
}

func (d *Dir) report(c Change) {
	if d.options.Report != nil {
		d.options.Report(c)
	}
}

func (d *Dir) load() (*agent.Key, error) {
	file, err := d.choose()
	if err != nil {
		return nil, err
	}
	text, err := read(file, d.options.Permissions)
	if err != nil {
		return nil, err
	}
	key, err := agent.ParseKey(text)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", file, err)
	}
	return key, nil
}

// choose returns the file that signs: CurrentName, or the only *.pem there is.
func (d *Dir) choose() (string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return "", fmt.Errorf("read the key directory: %w", err)
	}
	var found []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".pem" {
			found = append(found, e.Name())
		}
	}
	switch {
	case slices.Contains(found, CurrentName):
		return filepath.Join(d.path, CurrentName), nil
	case len(found) == 1:
		return filepath.Join(d.path, found[0]), nil
	case len(found) == 0:
		return "", fmt.Errorf("the key directory %s holds no *.pem", d.path)
	default:
		return "", errors.New("the key directory " + d.path + " holds several *.pem; " + CurrentName + " must say which signs")
	}
}
