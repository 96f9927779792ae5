package mask

import (
	"cmp"
	"slices"
	"strings"
)

// Set is a set of names, each in its Form, and their replacements.
type Set interface {
	// Longest returns the length of the longest name at the start of a text that Ends there, 0 if there is none. start
	// is the first word of the text.
	Longest(text, start string) int
	// Replacement returns the replacement of a name, which is given as in the text and in its form.
	Replacement(text, form string) string
}

// occurrence is an occurrence of a name in a text.
type occurrence struct {
	from, to int
	form     string
}

// Replace replaces the names of a set that occur in a text as whole words, and reports whether there was one. A name
// is found in every spelling with the same Form, and behind escape sequences of URLs and JSON, also nested ones. In
// scripts that are written without spaces, which have no words, a name is found by its characters.
func Replace(text string, names Set) (string, bool) {
	var all []occurrence
	for _, reading := range readings(text) {
		all = append(all, reading.search(names)...)
	}
	if len(all) == 0 {
		return text, false
	}
	slices.SortFunc(all, func(a, b occurrence) int { return cmp.Or(a.from-b.from, b.to-a.to) })
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

// search returns the occurrences of names in a text that is in the form of names.
func (l *layer) search(names Set) (all []occurrence) {
	for at := 0; at < len(l.text); {
		word := firstWord(l.text[at:])
		n := names.Longest(l.text[at:], l.text[at:at+word])
		if n > 0 {
			from, to := l.source(at, at+n)
			all = append(all, occurrence{from, to, l.text[at : at+n]})
		}
		at += max(n, word)
	}
	return all
}
