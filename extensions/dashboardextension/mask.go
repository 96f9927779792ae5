package dashboardextension

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxMasks bounds the real names of one answer. Beyond it the texts are withheld.
const maxMasks = 20_000

// withheld is in the place of a text that may have names which are not known.
const withheld = "[withheld]"

// masks are the real names that an answer must not have, with their aliases. It replaces them in
// texts that users and applications write: errors, SDP, logs, details. It finds whole words, in upper
// and lower case, composed and decomposed, also as URLs, JSON and identifiers have them. Scripts that
// are written without spaces have no words: there it finds the characters.
type masks struct {
	aliases map[string]string // by real name
	starts  map[string][]mask // by the first word of the form, in lower case; nil: to be built
}

// mask is one form of a real name.
type mask struct{ form, alias string }

func newMasks() *masks { return &masks{aliases: map[string]string{}} }

func (m *masks) add(userName, alias string) {
	if m == nil || userName == "" || len(m.aliases) > maxMasks {
		return
	}
	if _, known := m.aliases[userName]; !known {
		m.aliases[userName], m.starts = alias, nil
	}
}

// build makes the index of the forms.
func (m *masks) build() {
	m.starts = map[string][]mask{}
	for name, alias := range m.aliases {
		forms := forms(name)
		slices.Sort(forms)
		for _, form := range slices.Compact(forms) {
			start := strings.ToLower(form[:firstWord(form)])
			m.starts[start] = append(m.starts[start], mask{form, alias})
		}
	}
	for _, list := range m.starts {
		slices.SortFunc(list, func(a, b mask) int { return cmp.Or(len(b.form)-len(a.form), cmp.Compare(a.form, b.form)) })
	}
}

// forms are the ways in which texts may have a name.
func forms(name string) (out []string) {
	joined := func(separator string) string { return strings.Join(strings.Fields(name), separator) }
	for _, plain := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		out = append(out, plain, url.QueryEscape(plain), url.PathEscape(plain), quoted(plain, true), quoted(plain, false), ascii(plain))
	}
	return append(out, joined("_"), joined("."), joined("-"))
}

// ascii is a name as JSON of ASCII alone has it.
func ascii(name string) string {
	var out strings.Builder
	for _, r := range quoted(name, false) {
		if r < utf8.RuneSelf {
			out.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&out, `\u%04x`, unit)
		}
	}
	return out.String()
}

// quoted is a name as JSON has it between quotation marks.
func quoted(name string, html bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(name) // a string: it does not fail
	text := strings.TrimSuffix(out.String(), "\n")
	return text[1 : len(text)-1]
}

// text returns a text with aliases in the place of real names.
func (m *masks) text(text string) string {
	if m == nil || len(m.aliases) == 0 || text == "" {
		return text
	}
	if len(m.aliases) > maxMasks {
		return withheld
	}
	if m.starts == nil {
		m.build()
	}
	var out strings.Builder
	from := 0
	for at := 0; at < len(text); {
		n := firstWord(text[at:])
		if found, ok := m.at(text[at:], strings.ToLower(text[at:at+n])); ok {
			out.WriteString(text[from:at])
			out.WriteString(found.alias)
			at += len(found.form)
			from = at
			continue
		}
		at += n
	}
	if from == 0 {
		return text
	}
	return out.String() + text[from:]
}

// at returns the longest form that a text begins with.
func (m *masks) at(text, start string) (mask, bool) {
	for _, one := range m.starts[start] {
		n := len(one.form)
		if n <= len(text) && strings.EqualFold(text[:n], one.form) && !inWord(one.form, text[n:]) {
			return one, true
		}
	}
	return mask{}, false
}

// inWord reports whether a word goes on behind a form.
func inWord(form, rest string) bool {
	last, _ := utf8.DecodeLastRuneInString(form)
	next, _ := utf8.DecodeRuneInString(rest)
	return rest != "" && isWord(last) && isWord(next)
}

// firstWord is the length of the word that a text begins with, or of the character that is none.
func firstWord(text string) int {
	if n := escape(text); n > 0 {
		return n
	}
	for i, r := range text {
		if !isWord(r) {
			if i == 0 {
				_, n := utf8.DecodeRuneInString(text)
				return n
			}
			return i
		}
	}
	return len(text)
}

// escape is the length of the escape sequence of a URL or of JSON that a text begins with: behind it a
// word may begin.
func escape(text string) int {
	switch {
	case len(text) > 2 && text[0] == '%' && isHex(text[1]) && isHex(text[2]):
		return 3
	case len(text) > 5 && text[0] == '\\' && text[1] == 'u':
		return 6
	case len(text) > 1 && text[0] == '\\' && text[1] < utf8.RuneSelf:
		return 2
	}
	return 0
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isWord reports whether a character is part of a word, which is longer than it.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.In(r, withoutSpaces...)
}

// withoutSpaces are the scripts in which spaces do not separate words.
//
//nolint:gochecknoglobals // a constant
var withoutSpaces = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar,
}

// value returns a value of JSON with all its texts masked, those of its keys too.
func (m *masks) value(v any) any {
	if m == nil || len(m.aliases) == 0 {
		return v
	}
	switch v := v.(type) {
	case string:
		return m.text(v)
	case []any:
		for i := range v {
			v[i] = m.value(v[i])
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			member := m.value(v[key])
			if masked := m.text(key); masked != key {
				delete(v, key)
				key = masked
			}
			v[key] = member
		}
	}
	return v
}

// all masks some texts in place.
func (m *masks) all(texts ...*string) {
	for _, text := range texts {
		*text = m.text(*text)
	}
}

// people masks the details of participants, which applications write. The maps are the store's.
func (m *masks) people(list []participant) {
	if m == nil || len(m.aliases) == 0 {
		return
	}
	for i := range list {
		p := &list[i]
		p.Details = maps.Clone(p.Details)
		for key, text := range p.Details {
			p.Details[key] = m.text(text)
		}
	}
}

// entries masks the lines of a time-line.
func (m *masks) entries(list []entry) {
	for i := range list {
		e := &list[i]
		m.all(&e.Name, &e.Message, &e.Code, &e.ConstraintName, &e.Stack, &e.LocalSDP, &e.RemoteSDP, &e.Text)
		e.Data = m.value(e.Data)
		if e.Feedback != nil {
			m.all(&e.Feedback.Comment)
		}
	}
}

// detail masks the answer of a conference. It is called when all names of the answer are known.
func (m *masks) detail(d *detail) {
	if m == nil {
		return
	}
	m.people(d.Conference.Participants)
	m.entries(d.Timeline)
	for _, s := range d.Streams {
		m.all(&s.UsageLabel, &s.RID)
	}
	for _, c := range d.Custom {
		m.all(&c.Name)
	}
	d.Summary = m.value(d.Summary)
	if d.SoFar != nil {
		d.SoFar.Summary = m.value(d.SoFar.Summary)
	}
}
