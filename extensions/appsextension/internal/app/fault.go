package app

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Fault is what is wrong with one member of a body. It is safe to be shown: it never
// quotes what may be secret.
type Fault struct {
	Field string // its path: webhooks[1].url
	Limit string // what it must do: "have at most 16 entries"
	Got   string // what came: "a string of 3 bytes"
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s must %s (got %s)", f.Field, f.Limit, f.Got) }

// ErrNoJSON says that a body is not one JSON object in UTF-8.
var ErrNoJSON = errors.New("the body must be one JSON object in UTF-8, and nothing after it")

// object is a JSON object that is being read. Its first fault is kept, and what is read
// after it is zero; who has read all asks fault.
type object struct {
	path    string
	members map[string]json.RawMessage
	first   *error // of an object and all within it
}

// body reads a request's body, which may have these members.
func body(raw []byte, names ...string) object {
	o := object{first: new(error)}
	if !utf8.Valid(raw) {
		*o.first = ErrNoJSON
		return o
	}
	o.read(raw, names)
	return o
}

// fault is the first one.
func (o object) fault() error { return *o.first }

// at is the path of a member.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// refuse keeps a fault of a member.
func (o object) refuse(name, limit, got string) {
	if *o.first == nil {
		*o.first = &Fault{Field: o.at(name), Limit: limit, Got: got}
	}
}

// read takes the members apart: each once, none that is not allowed. An error of the
// decoder means that the text is no JSON at all.
func (o *object) read(raw []byte, names []string) {
	o.members = map[string]json.RawMessage{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		*o.first = o.noObject(raw, err)
		return
	}
	for dec.More() {
		name, err := dec.Token()
		var value json.RawMessage
		if err == nil {
			err = dec.Decode(&value)
		}
		if err != nil {
			*o.first = ErrNoJSON
			return
		}
		o.take(name.(string), value, names)
	}
	if _, err := dec.Token(); err != nil {
		*o.first = ErrNoJSON
		return
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		*o.first = ErrNoJSON
	}
}

func (o *object) noObject(raw []byte, err error) error {
	if err != nil || o.path == "" {
		return ErrNoJSON
	}
	return &Fault{Field: o.path, Limit: "be an object", Got: kindOf(raw)}
}

func (o *object) take(name string, value json.RawMessage, names []string) {
	if _, twice := o.members[name]; twice {
		o.refuse(clip(name), "be there once", "it twice")
	}
	if !slices.Contains(names, name) {
		o.refuse(clip(name), "be left out: known here are "+strings.Join(names, ", "), kindOf(value))
	}
	o.members[name] = value
}

// clip bounds what comes from outside and goes into an answer.
func clip(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}

// kindOf says what a JSON value is, without its content.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}
	switch raw[0] {
	case '"':
		var s string
		_ = json.Unmarshal(raw, &s) // it was read before
		return fmt.Sprintf("a string of %d bytes", len(s))
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f', 'n':
		return string(raw)
	default:
		return "the number " + clip(string(raw))
	}
}

// value decodes a member into out and reports whether it is there. null counts as absent.
func (o object) value(name, limit string, out any) bool {
	raw, ok := o.members[name]
	if !ok || *o.first != nil || string(raw) == "null" {
		return false
	}
	if json.Unmarshal(raw, out) != nil {
		o.refuse(name, limit, kindOf(raw))
		return false
	}
	return true
}

// text reads a string of at most maxBytes; empty where it is absent.
func (o object) text(name string, maxBytes int) (s string) {
	if o.value(name, "be a string", &s) && len(s) > maxBytes {
		o.refuse(name, fmt.Sprintf("have at most %d bytes", maxBytes), strconv.Itoa(len(s)))
		return ""
	}
	return s
}

func (o object) boolean(name string) (b bool) {
	o.value(name, "be true or false", &b)
	return b
}

// MaxCount bounds numbers: more would limit nothing.
const MaxCount = 1_000_000

func (o object) count(name string) int {
	n := o.number(name)
	if n != math.Trunc(n) {
		o.refuse(name, "be a whole number", fmt.Sprint(n))
		return 0
	}
	return int(n)
}

// number reads a limit; 0 where it is absent.
func (o object) number(name string) (n float64) {
	if o.value(name, "be a number", &n) && (n < 0 || n > MaxCount) {
		o.refuse(name, fmt.Sprintf("be 0 (the receiver's own) to %d", MaxCount), fmt.Sprint(n))
		return 0
	}
	return n
}

// time reads a time as RFC 3339 writes it; zero where it is absent.
func (o object) time(name string) time.Time {
	text := o.text(name, 64)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 2000 || at.Year() > 9999 {
		o.refuse(name, "be a time like 2026-01-31T12:00:00Z", fmt.Sprintf("%q", text))
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// list reads an array of at most maxEntries.
func (o object) list(name string, maxEntries int) (list []json.RawMessage) {
	if o.value(name, "be an array", &list) && len(list) > maxEntries {
		o.refuse(name, fmt.Sprintf("have at most %d entries", maxEntries), strconv.Itoa(len(list)))
		return nil
	}
	return list
}

// object reads an object within this one; ok is false where it is absent.
func (o object) object(name string, names ...string) (inner object, ok bool) {
	var raw json.RawMessage
	if !o.value(name, "be an object", &raw) {
		return object{first: o.first}, false
	}
	return o.entry(name, raw, names...), *o.first == nil
}

// entry reads an object that is the value of a path within this one.
func (o object) entry(name string, raw json.RawMessage, names ...string) object {
	inner := object{path: o.at(name), first: o.first}
	if *o.first == nil {
		inner.read(raw, names)
	}
	return inner
}
