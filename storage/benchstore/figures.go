package main

import (
	"errors"
	"fmt"
	"strings"
)

// figures are what goes into a Markdown file, between the marks.
type figures struct {
	head     string
	sections [][2]string // title and table
}

// The marks in the file; what stands between them is written by this program.
const (
	beginMark = "<!-- bench-store begins -->\n"
	endMark   = "<!-- bench-store ends -->\n"
)

var errMarks = errors.New("the marks of the store's figures are missing")

// whole puts figures between the marks of a text.
func (d figures) whole(text []byte) ([]byte, error) {
	before, rest, found := strings.Cut(string(text), beginMark)
	_, after, ended := strings.Cut(rest, endMark)
	if !found || !ended {
		return nil, errMarks
	}
	var b strings.Builder
	b.WriteString(before + beginMark + "\n" + d.head)
	for _, s := range d.sections {
		fmt.Fprintf(&b, "\n### %s\n\n%s", s[0], s[1])
	}
	return []byte(b.String() + "\n" + endMark + after), nil
}

// some puts sections in the place of those of their titles, each with what it was measured
// on, and leaves the others.
func (d figures) some(text []byte) ([]byte, error) {
	for _, s := range d.sections {
		title := "\n### " + s[0] + "\n"
		before, rest, found := strings.Cut(string(text), title)
		end := strings.Index(rest, "\n"+endMark)
		if !found || end < 0 {
			return nil, fmt.Errorf("section %q: %w", s[0], errMarks)
		}
		if next := strings.Index(rest[:end], "\n### "); next >= 0 {
			end = next
		}
		text = []byte(before + title + "\n" + d.head + "\n" + s[1] + rest[end:])
	}
	return text, nil
}
