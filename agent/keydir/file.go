package keydir

import (
	"fmt"
	"io"
	"os"
)

// maxFileBytes is far more than any key has.
const maxFileBytes = 64 << 10

// othersMask are the permissions of group and world.
const othersMask os.FileMode = 0o077

// read returns the text of a key file, unless others may read or write it.
func read(path string, permitted os.FileMode) ([]byte, error) {
	f, err := os.Open(path) //nolint:gosec // G304: the operator's own directory
	if err != nil {
		return nil, fmt.Errorf("open the key file: %w", err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	// The open file is asked, not the path, so that what is checked is what is read.
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("key file %s is no regular file", path)
	}
	if others := info.Mode().Perm() & othersMask &^ permitted; others != 0 {
		return nil, fmt.Errorf("key file %s has mode %#o: others may use it; chmod 600, or permit %#o", path, info.Mode().Perm(), others)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("key file %s has more than %d bytes", path, maxFileBytes)
	}
	return text, nil
}
