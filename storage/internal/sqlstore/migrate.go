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

// The form of the migrations: a line a column, whose name is in lower case; constraints begin in upper case.
var (
	createTable  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \($(.*?)^\)`)
	createColumn = regexp.MustCompile(`(?m)^  ([a-z_]+) `)
)

// Column is a column of a schema.
type Column struct{ Table, Name string }

// CheckColumns reports the tables and columns of the migrations that a schema does not have, though it has the version.
// Before the first release the first migration grew, so a store of an unreleased build lacks what was added since.
func CheckColumns(files fs.FS, have []Column) error {
	names, err := fs.Glob(files, "migrations/*.sql")
	if err != nil {
		return err
	}
	var tables, columns []string
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		for _, made := range createTable.FindAllStringSubmatch(string(text), -1) {
			if table := made[1]; !slices.ContainsFunc(have, func(c Column) bool { return c.Table == table }) {
				tables = append(tables, table)
			} else {
				columns = append(columns, lacking(table, made[2], have)...)
			}
		}
	}
	var lacks []string
	for what, names := range map[string][]string{"tables ": tables, "columns ": columns} {
		if len(names) > 0 {
			lacks = append(lacks, what+strings.Join(names, ", "))
		}
	}
	if len(lacks) == 0 {
		return nil
	}
	slices.Sort(lacks)
	return fmt.Errorf("its schema lacks the %s: an unreleased build of this program made it, and no migration exists; "+
		"use an empty store, or the build that made this one", strings.Join(lacks, " and the "))
}

// lacking returns the columns in the text of a table's statement that a schema does not have.
func lacking(table, text string, have []Column) (out []string) {
	for _, made := range createColumn.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(have, Column{table, made[1]}) {
			out = append(out, table+"."+made[1])
		}
	}
	return out
}
