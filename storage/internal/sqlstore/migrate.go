package sqlstore

import (
	"fmt"
	"io/fs"
)

// Migrate applies the migrations of files that a schema does not have: have counts those that it
// has. They are applied in the order of their names and never change once released.
func Migrate(files fs.FS, have int, apply func(text string, version int) error) error {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return err
	}
	if have > len(names) {
		return fmt.Errorf("its schema has version %d, this program knows up to %d: use a newer program", have, len(names))
	}
	for i, name := range names[have:] {
		text, err := fs.ReadFile(files, name)
		if err == nil {
			err = apply(string(text), have+i+1)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}
