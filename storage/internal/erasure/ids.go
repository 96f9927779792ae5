package erasure

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/qosrtc/qos/internal/identity/mask"
)

// IDs finds and replaces identifiers: exact ones if a whole value is an ID, and all their forms in texts
// (mask.Replace). It is not safe for concurrent use.
type IDs struct {
	id      func(id string) (replacement string, found bool)
	form    func(form string) (replacement string, found bool)
	lengths []int             // of the forms in bytes, ascending
	found   func(text string) // called with each identifier that was replaced; may be nil
}

// NewIDs returns the IDs of a map from identifiers to their replacements. An empty identifier is ignored.
func NewIDs(replacements map[string]string) *IDs {
	forms := map[string]string{}
	for id, replacement := range replacements {
		form := mask.Form(id)
		forms[form] = max(forms[form], replacement)
	}
	ids := &IDs{id: func(text string) (string, bool) { r, ok := replacements[text]; return r, ok && text != "" }}
	ids.form = func(form string) (string, bool) { r, ok := forms[form]; return r, ok }
	for form := range forms {
		ids.addLength(len(form))
	}
	return ids
}

// over returns the union of ids and below. ids takes precedence.
func (ids *IDs) over(below *IDs) *IDs {
	out := &IDs{id: either(ids.id, below.id), form: either(ids.form, below.form), found: below.found, lengths: slices.Clone(below.lengths)}
	for _, n := range ids.lengths {
		out.addLength(n)
	}
	return out
}

func either(first, second func(string) (string, bool)) func(string) (string, bool) {
	return func(text string) (string, bool) {
		if replacement, found := first(text); found {
			return replacement, true
		}
		return second(text)
	}
}

func (ids *IDs) addLength(n int) {
	if i, found := slices.BinarySearch(ids.lengths, n); !found && n > 0 {
		ids.lengths = slices.Insert(ids.lengths, i, n)
	}
}

// ID returns the replacement of a text if the whole text is an identifier.
func (ids *IDs) ID(text string) (replacement string, found bool) {
	if replacement, found = ids.id(text); !found {
		return text, false
	}
	ids.report(text)
	return replacement, true
}

// report calls found for a name that was replaced.
func (ids *IDs) report(name string) {
	if ids.found != nil && name != "" {
		ids.found(name)
	}
}

// Text replaces the identifiers that occur in a text as whole words, in all their forms.
func (ids *IDs) Text(text string) (string, bool) {
	if text == "" || len(ids.lengths) == 0 {
		return text, false
	}
	return mask.Replace(text, ids)
}

// Longest implements mask.Set.
func (ids *IDs) Longest(text, _ string) int {
	for _, n := range slices.Backward(ids.lengths) {
		if n > len(text) || !mask.Ends(text, n) {
			continue
		}
		if _, found := ids.form(text[:n]); found {
			return n
		}
	}
	return 0
}

// Replacement implements mask.Set.
func (ids *IDs) Replacement(text, form string) string {
	ids.report(text)
	if replacement, found := ids.id(text); found {
		return replacement
	}
	replacement, _ := ids.form(form)
	return replacement
}

// JSON replaces identifiers in the strings and the numbers of a JSON text. All other bytes are unchanged.
// A text that is not valid JSON is handled by Text.
func (ids *IDs) JSON(text string) (string, bool) {
	if text == "" {
		return text, false
	}
	if !json.Valid([]byte(text)) {
		return ids.Text(text)
	}
	var out strings.Builder
	changed := false
	for i := 0; i < len(text); {
		end := token(text, i)
		if replaced, ok := ids.token(text[i:end]); ok {
			out.WriteString(replaced)
			changed = true
		} else {
			out.WriteString(text[i:end])
		}
		i = end
	}
	if !changed {
		return text, false
	}
	return out.String(), true
}

// token returns the end of the string, the number or the byte that begins at i of valid JSON.
func token(text string, i int) int {
	end := i + 1
	switch c := text[i]; {
	case c == '"':
		for ; text[end] != '"'; end++ {
			if text[end] == '\\' {
				end++
			}
		}
		return end + 1
	case c == '-' || c >= '0' && c <= '9':
		for end < len(text) && strings.IndexByte("+-.eE0123456789", text[end]) >= 0 {
			end++
		}
	}
	return end
}

func (ids *IDs) token(literal string) (string, bool) {
	if literal[0] != '"' {
		if strings.IndexByte("-0123456789", literal[0]) < 0 {
			return literal, false
		}
		replacement, found := ids.ID(literal)
		return quote(replacement), found
	}
	var value string
	if json.Unmarshal([]byte(literal), &value) != nil {
		return literal, false
	}
	replaced, changed := ids.Text(value)
	return quote(replaced), changed
}

// quoted returns text as a JSON string.
func quote(text string) string {
	literal, _ := json.Marshal(text) // a string never fails
	return string(literal)
}
