package house

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// questionStart matches a statement that begins with a question word.
	questionStart = regexp.MustCompile(`(?:^|[.!?:] +|\*\*)(What|Who|Whoever) [^?]*$`)
	// dialect matches words that describe a component as a person.
	dialect = regexp.MustCompile(`(?i)\b(?:tells?|hears?|heard|stands?|remarks?|says so|go(?:es)? on|look(?:s|ed)? at|let(?:s)? go|knows? nothing|for good|the way (?:to|from))\b`)

	listItem  = regexp.MustCompile(`^\s*(?:[-*]|\d+\.) +`)
	codeSpan  = regexp.MustCompile("`[^`]*`")
	linkText  = regexp.MustCompile(`\]\([^)]*\)`)
	sentences = regexp.MustCompile(`[.!?] +`)
)

// TestProse reads each Markdown document, its code and links aside. The interface document and
// the requirements are copies; the built library and vendored files follow from others.
func TestProse(t *testing.T) {
	for _, file := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, file))
		require.NoError(t, err)
		for _, sentence := range faults(string(text)) {
			t.Errorf("%s: the subject comes first, and components report, emit and record: %q", file, sentence)
		}
	}
}

// documents lists the Markdown files of the checkout; none where this is no checkout.
func documents(t *testing.T) (files []string) {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "--", "*.md", ":!docs/interface.md", ":!docs/requirements.md", ":!client/dist", ":!*/vendor/*")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Skip("this is no checkout")
	}
	require.NotEmpty(t, out)
	return strings.Fields(string(out))
}

// faults returns the sentences of a document that break the rules of prose.
func faults(text string) (found []string) {
	for _, paragraph := range paragraphs(text) {
		for _, sentence := range split(paragraph) {
			if dialect.MatchString(sentence) || questionStart.MatchString(sentence) {
				found = append(found, sentence)
			}
		}
	}
	return found
}

// split cuts a paragraph into sentences, which keep their full stop.
func split(paragraph string) []string {
	marked := sentences.ReplaceAllStringFunc(paragraph, func(end string) string { return end[:1] + "\n" })
	return strings.Split(marked, "\n")
}

// paragraphs returns the prose of a document: paragraphs, list items and rows of tables, each in
// one line, without code, link targets and headings.
func paragraphs(text string) (list []string) {
	var current []string
	end := func() {
		if len(current) > 0 {
			list = append(list, strings.Join(current, " "))
		}
		current = nil
	}
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
			fenced = !fenced
			end()
			continue
		case fenced:
			continue
		case line == "", strings.HasPrefix(line, "#"):
			end()
			continue
		case strings.HasPrefix(line, "|"), listItem.MatchString(line):
			end()
		}
		line = listItem.ReplaceAllString(line, "")
		current = append(current, linkText.ReplaceAllString(codeSpan.ReplaceAllString(line, "`…`"), "]"))
	}
	end()
	return list
}

// TestProseIsRead: the rules hold for wrapped lines, list items and tables, not for code.
func TestProseIsRead(t *testing.T) {
	for text, want := range map[string]int{
		"The store\ntells the exporter.\n":            1,
		"It works. What comes late is dropped.\n":     1,
		"- **Who reads** the log finds it.\n":         1,
		"| a | the receiver hears it |\n":             1,
		"| What | meaning |\n":                        0,
		"## What a score means\n":                     0,
		"```sh\nlook at this # tells\n```\nFine.\n":   0,
		"The key `tells` and [a link](tells.md).\n":   0,
		"The receiver reports what it has dropped.\n": 0,
		"What does it cost?\n":                        0,
		"One.\n\nWhoever asks, waits. It goes on.\n":  2,
	} {
		require.Len(t, faults(text), want, text)
	}
}
