package frames

import (
	_ "embed"
	"strings"
)

// nameLines lists the names that have a number in bodies and chunks, one a line. It is
// part of the format: a released line never changes, new names are added at the end
// (go test ./storage/internal/frames -update). The 15 most frequent use one byte.
//
//go:embed names.txt
var nameLines string

var (
	names       = strings.Fields(nameLines)
	nameNumbers = func() map[string]uint64 {
		numbers := make(map[string]uint64, len(names))
		for i, name := range names {
			numbers[name] = uint64(i + 1)
		}
		return numbers
	}()
)

// NameNumber returns the number of the name of a record or of an attribute, from 1 on; 0 if
// it is not in the list: then the name itself is written.
func NameNumber(name string) uint64 { return nameNumbers[name] }

// NameOf returns the name of a number; false if a newer version wrote it.
func NameOf(number uint64) (string, bool) {
	if number == 0 || number > uint64(len(names)) {
		return "", false
	}
	return names[number-1], true
}
