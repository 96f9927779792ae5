package sqlstore

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// Migrate applies the migrations of files in the order of their names, without the first have, which the schema
// has. A released migration never changes.
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

// The form of the migrations: one line for each column, whose name is in lower case; constraints are in upper case.
var (
	createTable  = regexp.MustCompile(`(?ms)^CREATE TABLE (\w+) \($(.*?)^\)`)
	createColumn = regexp.MustCompile(`(?m)^  ([a-z_]+) `)
)

// Column is a column of a schema.
type Column struct{ Table, Name string }

// CheckColumns returns an error if the schema lacks tables or columns of the migrations, although it has their version.
// The first migration changed until the first release, so stores of unreleased builds may lack later columns.
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
				columns = append(columns, missingColumns(table, made[2], have)...)
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

// missingColumns returns the columns in the text of a CREATE TABLE that a schema does not have.
func missingColumns(table, text string, have []Column) (out []string) {
	for _, made := range createColumn.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(have, Column{table, made[1]}) {
			out = append(out, table+"."+made[1])
		}
	}
	return out
}
