package explain

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/qosrtc/qos/internal/jsonobject"
)

// maxShown is how much of a value is printed.
const maxShown = 200

// members are those of one JSON object, each as it is written.
type members map[string]json.RawMessage

// readMembers reads one object. A member that stands twice is refused: two readers may take different ones.
func readMembers(raw []byte) (members, error) {
	all, err := jsonobject.Members(raw)
	if twice := new(jsonobject.Fault); errors.As(err, &twice) {
		return nil, errors.New("names a member twice")
	}
	if err != nil {
		return nil, errors.New("is no JSON object, or has more after it")
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
