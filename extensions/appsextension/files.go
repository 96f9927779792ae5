package appsextension

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// maxFileBytes bounds a file that holds a secret or a key.
const maxFileBytes = 16 << 10

// files reads small files that the configuration names and notices when one changes. It is
// for one goroutine.
type files struct {
	read map[string]stamp
}

// stamp is what a file looked like before it was read.
type stamp struct {
	modified time.Time
	size     int64
	info     os.FileInfo // tells a file from another one under the same name
}

func newFiles() *files { return &files{read: map[string]stamp{}} }

// text returns what a file holds, without the line's end.
func (f *files) text(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		delete(f.read, path)
		return "", err
	}
	f.read[path] = stamp{modified: info.ModTime(), size: info.Size(), info: info}
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was read only
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maxFileBytes:
		return "", fmt.Errorf("%s: must have at most %d bytes", path, maxFileBytes)
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

// changed reports whether a file that was read is not as it was then.
func (f *files) changed() bool {
	for path, was := range f.read {
		info, err := os.Stat(path)
		if err != nil || !os.SameFile(info, was.info) || info.Size() != was.size || !info.ModTime().Equal(was.modified) {
			return true
		}
	}
	return false
}

// either returns a text, or what the file holds that is named in its place.
func (f *files) either(text, path string) (string, error) {
	if path == "" {
		return text, nil
	}
	text, err := f.text(path)
	if err == nil && text == "" {
		err = errors.New(path + ": is empty")
	}
	return text, err
}
