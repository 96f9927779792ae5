package mask

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Withheld is in the place of a text that may have names which are not known.
const Withheld = "[withheld]"

// Names are names and what stands for each of them in texts (Replace). A nil Names replaces nothing.
type Names struct {
	most    int
	with    map[string]string // by name
	pending []string          // names that are not in starts yet
	starts  map[string][]form // by the first word of the form; the longest first
	bytes   [256]bool         // with which the forms begin
}

// form is the form of a name.
type form struct{ text, name string }

// New returns an empty set of at most some names.
func New(most int) *Names { return &Names{most: most, with: map[string]string{}} }

// Add adds a name and what stands for it. A name that is known stays as it was. It returns false for one that
// is beyond the limit: from then on Text withholds every text.
func (n *Names) Add(name, with string) bool {
	if n == nil || name == "" {
		return true
	}
	if _, known := n.with[name]; known {
		return true
	}
	if len(n.with) > n.most {
		return false
	}
	n.with[name] = with
	n.pending = append(n.pending, name)
	return len(n.with) <= n.most
}

// Len returns the number of names.
func (n *Names) Len() int { return len(n.with) }

// Empty reports whether nothing is replaced.
func (n *Names) Empty() bool { return n == nil || len(n.with) == 0 }

// index adds the forms of the names that were added since the last text.
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
		at, _ := slices.BinarySearchFunc(n.starts[start], one, before)
		n.starts[start] = slices.Insert(n.starts[start], at, one)
		n.bytes[start[0]] = true
	}
	n.pending = nil
}

// before orders the forms of one start: the longest first.
func before(a, b form) int {
	return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text), cmp.Compare(a.name, b.name))
}

// Text returns a text with every name replaced.
func (n *Names) Text(text string) string {
	if n.Empty() || text == "" {
		return text
	}
	if len(n.with) > n.most {
		return Withheld
	}
	n.index()
	text, _ = Replace(text, n)
	return text
}

// Whole returns what stands for a name that is a text as a whole, in any form, and other texts as they are.
func (n *Names) Whole(text string) string {
	if with, known := n.with[text]; known {
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

// Replacement implements Set. Of names with the same form it takes the one that the text has, if there is one.
func (n *Names) Replacement(text, found string) string {
	first := ""
	for _, one := range n.starts[found[:firstWord(found)]] {
		switch {
		case one.name == text:
			return n.with[text]
		case one.text == found && first == "":
			first = one.name
		}
	}
	return n.with[first]
}

// Value returns a value of JSON with every name replaced in its texts, those of its keys too. It changes the
// value.
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
