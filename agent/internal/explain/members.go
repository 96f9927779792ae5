package explain

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown is how much of a value is printed.
const maxShown = 200

// members are those of one JSON object, each as it is written.
type members map[string]json.RawMessage

// readMembers reads one object. A member that stands twice is refused: two readers may take
// different ones.
func readMembers(raw []byte) (members, error) {
	in := json.NewDecoder(bytes.NewReader(raw))
	open, err := in.Token()
	if err != nil || open != json.Delim('{') || !utf8.Valid(raw) {
		return nil, errors.New("is no JSON object")
	}
	all := make(members)
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, errors.New("is no JSON object")
		}
		var value json.RawMessage
		if err := in.Decode(&value); err != nil {
			return nil, errors.New("is no JSON object")
		}
		text, _ := name.(string)
		if _, twice := all[text]; twice {
			return nil, errors.New("names a member twice")
		}
		all[text] = value
	}
	if _, err := in.Token(); err != nil {
		return nil, errors.New("is no JSON object")
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("has more after its JSON object")
	}
	return all, nil
}

// text returns a member that is a string with something in it.
func (m members) text(name string) (string, bool) {
	var text *string
	if err := json.Unmarshal(m[name], &text); err != nil || text == nil {
		return "", false
	}
	return *text, *text != ""
}

// show returns a member for printing. Control characters are escaped, for the terminal's
// sake.
func (m members) show(name string) string {
	raw, there := m[name]
	if !there {
		return "none"
	}
	text, isText := m.text(name)
	if !isText {
		text = string(raw)
	}
	if len(text) > maxShown {
		text = text[:maxShown] + "…"
	}
	if isText {
		return strconv.Quote(text)
	}
	return strings.Map(printable, text)
}

func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return utf8.RuneError
}
