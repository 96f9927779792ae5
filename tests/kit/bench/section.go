package bench

import (
	"fmt"
	"os"
	"strings"
)

// ReplaceSection puts text in the place of the section of this title, of the third level, in a Markdown file. The file is
// not changed if it has no such section, or nothing after it.
func ReplaceSection(path, title, text string) error {
	whole, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	before, rest, found := strings.Cut(string(whole), "### "+title+"\n")
	end := strings.Index(rest, "\n#")
	if !found || end < 0 {
		return fmt.Errorf("%s has no section %q with another after it", path, title)
	}
	return os.WriteFile(path, []byte(before+text+rest[end:]), 0o644)
}
