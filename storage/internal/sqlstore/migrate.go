package sqlstore

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
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

var createTable = regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`)

// CheckTables reports the tables of the migrations that a schema does not have, though it has the version. Before the
// first release the first migration grew, so a store of an unreleased build lacks what was added since.
func CheckTables(files fs.FS, have []string) error {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return err
	}
	var lacking []string
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		for _, made := range createTable.FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(have, made[1]) {
				lacking = append(lacking, made[1])
			}
		}
	}
	if len(lacking) > 0 {
		return fmt.Errorf("its schema lacks the tables %s: an unreleased build of this program made it, and no migration exists; "+
			"use an empty store, or the build that made this one", strings.Join(lacking, ", "))
	}
	return nil
}
