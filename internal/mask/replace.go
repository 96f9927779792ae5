package mask

import (
	"cmp"
	"slices"
	"strings"
)

// Set is a set of names, each in its Form, and what stands for them.
type Set interface {
	// Longest returns the length of the longest name that a text begins with and that Ends there; 0 without one. start is
	// the first word of the text.
	Longest(text, start string) int
	// Replacement returns what stands for a name: as the text has it, and in its form.
	Replacement(text, form string) string
}

// found is a name in a text.
type found struct {
	from, to int
	form     string
}

// Replace replaces the names of a set that occur in a text as whole words, and reports whether there was one. A name is
// found in every Form that Form makes equal, and in what is behind escape sequences of URLs and JSON, which may be one in
// another. Scripts that are written without spaces have no words: there its characters are found.
func Replace(text string, names Set) (string, bool) {
	var all []found
	for _, reading := range readings(text) {
		all = append(all, reading.search(names)...)
	}
	if len(all) == 0 {
		return text, false
	}
	slices.SortFunc(all, func(a, b found) int { return cmp.Or(a.from-b.from, b.to-a.to) })
	var out strings.Builder
	at := 0
	for i := 0; i < len(all); {
		one := all[i]
		for i++; i < len(all) && all[i].from < one.to; i++ {
			one.to = max(one.to, all[i].to)
		}
		out.WriteString(text[at:one.from])
		out.WriteString(names.Replacement(text[one.from:one.to], one.form))
		at = one.to
	}
	return out.String() + text[at:], true
}

// search returns the names in a text that is in the form of names.
func (l *layer) search(names Set) (all []found) {
	for at := 0; at < len(l.text); {
		word := firstWord(l.text[at:])
		n := names.Longest(l.text[at:], l.text[at:at+word])
		if n > 0 {
			from, to := l.source(at, at+n)
			all = append(all, found{from, to, l.text[at : at+n]})
		}
		at += max(n, word)
	}
	return all
}
