package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ownerOnly is the mode of all files of a store: their contents are not encrypted.
const ownerOnly fs.FileMode = 0o600

// privateStore makes the store's file, and the files that SQLite has beside it, readable to their owner alone.
// SQLite creates new ones with the mode of the store's file.
func privateStore(path string) error {
	if err := makePrivate(path); err != nil {
		return err
	}
	path, err := filepath.EvalSymlinks(path) // SQLite's own files are beside the file itself
	if err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := tighten(path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// makePrivate makes a file readable to its owner alone, and creates it if necessary.
func makePrivate(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, ownerOnly) //nolint:gosec // the path is the operator's
	if err != nil {
		return fmt.Errorf("the file or its directory cannot be written: %w", err)
	}
	return errors.Join(file.Close(), tighten(path))
}

func tighten(path string) error {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&^ownerOnly == 0 {
		return err
	}
	if err := os.Chmod(path, ownerOnly); err != nil {
		return fmt.Errorf("others may read it, and its mode cannot be made %#o: %w", ownerOnly, err)
	}
	return nil
}
