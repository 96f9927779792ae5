package mask

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Withheld replaces a text that may have unknown names.
const Withheld = "[withheld]"

// Names maps names to their replacements in texts (Replace). A nil Names replaces nothing.
type Names struct {
	most         int
	replacements map[string]string // by name
	pending      []string          // names that are not in starts yet
	starts       map[string][]form // by the first word of the form; the longest form first
	bytes        [256]bool         // the first bytes of the forms
}

// form is the form of a name.
type form struct{ text, name string }

// New returns an empty set for at most most names.
func New(most int) *Names { return &Names{most: most, replacements: map[string]string{}} }

// Add adds a name and its replacement. A known name keeps its replacement. It returns false for a name beyond the
// limit: from then on Text withholds every text.
func (n *Names) Add(name, with string) bool {
	if n == nil || name == "" {
		return true
	}
	if _, known := n.replacements[name]; known {
		return true
	}
	if len(n.replacements) > n.most {
		return false
	}
	n.replacements[name] = with
	n.pending = append(n.pending, name)
	return len(n.replacements) <= n.most
}

// Len returns the number of names.
func (n *Names) Len() int { return len(n.replacements) }

// Empty reports whether the set has no names.
func (n *Names) Empty() bool { return n == nil || len(n.replacements) == 0 }

// index adds the forms of the pending names.
func (n *Names) index() {
	if n.starts == nil {
		n.starts = map[string][]form{}
	}
	for _, name := range n.pending {
		text := Form(name)
		if text == "" {
			continue
		}
		start, one := text[:firstWord(text)], form{text, name}
		at, _ := slices.BinarySearchFunc(n.starts[start], one, compareForms)
		n.starts[start] = slices.Insert(n.starts[start], at, one)
		n.bytes[start[0]] = true
	}
	n.pending = nil
}

// compareForms orders the forms with one first word: the longest first.
func compareForms(a, b form) int {
	return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text), cmp.Compare(a.name, b.name))
}

// Text returns a text with every name replaced.
func (n *Names) Text(text string) string {
	if n.Empty() || text == "" {
		return text
	}
	if len(n.replacements) > n.most {
		return Withheld
	}
	n.index()
	text, _ = Replace(text, n)
	return text
}

// Whole returns the replacement of a text that is a name as a whole, in any form, and other texts as they are.
func (n *Names) Whole(text string) string {
	if with, known := n.replacements[text]; known {
		return with
	}
	n.index()
	if form := Form(text); form != "" && n.Longest(form, form[:firstWord(form)]) == len(form) {
		return n.Replacement(text, form)
	}
	return text
}

// Longest implements Set.
func (n *Names) Longest(text, start string) int {
	if !n.bytes[start[0]] {
		return 0
	}
	for _, one := range n.starts[start] {
		if strings.HasPrefix(text, one.text) && Ends(text, len(one.text)) {
			return len(one.text)
		}
	}
	return 0
}

// Replacement implements Set. Of several names with the same form it prefers the one that is equal to the text.
func (n *Names) Replacement(text, found string) string {
	first := ""
	for _, one := range n.starts[found[:firstWord(found)]] {
		switch {
		case one.name == text:
			return n.replacements[text]
		case one.text == found && first == "":
			first = one.name
		}
	}
	return n.replacements[first]
}

// Value returns a value of JSON with every name replaced in its texts and keys. It changes the value.
func (n *Names) Value(v any) any {
	if n.Empty() {
		return v
	}
	switch v := v.(type) {
	case string:
		return n.Text(v)
	case []any:
		for i := range v {
			v[i] = n.Value(v[i])
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			member := n.Value(v[key])
			if masked := n.Text(key); masked != key {
				delete(v, key)
				key = masked
			}
			v[key] = member
		}
	}
	return v
}
