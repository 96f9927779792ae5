package mask

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// Withheld is in the place of a text that may have names which are not known.
const Withheld = "[withheld]"

// Names are names and what stands for each of them in texts. A name is found as a whole word, in upper and
// lower case, composed and decomposed, also as URLs, JSON and identifiers have it. Scripts that are written
// without spaces have no words: there its characters are found. A nil Names replaces nothing.
type Names struct {
	most    int
	with    map[string]string // by name
	pending []string          // names whose forms are not in starts yet
	starts  map[string][]form // by the first word of the form, in lower case; the longest first
}

// form is one way in which a text may have a name.
type form struct{ text, with string }

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
		texts := forms(name)
		slices.Sort(texts)
		for _, text := range slices.Compact(texts) {
			start := strings.ToLower(text[:firstWord(text)])
			one := form{text, n.with[name]}
			at, _ := slices.BinarySearchFunc(n.starts[start], one, before)
			n.starts[start] = slices.Insert(n.starts[start], at, one)
		}
	}
	n.pending = nil
}

// before orders the forms of one start: the longest first.
func before(a, b form) int {
	return cmp.Or(len(b.text)-len(a.text), cmp.Compare(a.text, b.text), cmp.Compare(a.with, b.with))
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
	var out strings.Builder
	from := 0
	for at := 0; at < len(text); {
		word := firstWord(text[at:])
		if found, ok := n.at(text[at:], text[at:at+word]); ok {
			out.WriteString(text[from:at])
			out.WriteString(found.with)
			at += len(found.text)
			from = at
			continue
		}
		at += word
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// at returns the longest form that a text begins with; of several in upper and lower case the one that is the
// same.
func (n *Names) at(text, start string) (found form, ok bool) {
	for _, one := range n.starts[strings.ToLower(start)] {
		length := len(one.text)
		if ok && length < len(found.text) {
			break
		}
		if length > len(text) || !strings.EqualFold(text[:length], one.text) || inWord(one.text, text[length:]) {
			continue
		}
		if text[:length] == one.text {
			return one, true
		}
		if !ok {
			found, ok = one, true
		}
	}
	return found, ok
}

// inWord reports whether a word goes on behind a form.
func inWord(form, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(form)
	next, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && isWord(last) && isWord(next)
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
