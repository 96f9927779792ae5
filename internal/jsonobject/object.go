package jsonobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Object is a JSON object that is being read. Its first fault is kept, and each value that is read after it is
// zero; the reader of all members asks for Fault at the end. null counts as absent.
type Object struct {
	// Members are the members as they are written, also those that are not known.
	Members map[string]json.RawMessage

	path  string
	first *error // of an object and all within it
}

// Read reads the body of a request, which may have the members of these names and no others.
func Read(raw []byte, names ...string) Object {
	o := Object{first: new(error)}
	if err := Check(raw); err != nil {
		*o.first = err
		return o
	}
	o.read(raw, names)
	return o
}

// Of returns an object with one member, for a value that does not come in a body. The value must be one that
// encoding/json wrote.
func Of(name string, raw json.RawMessage) Object {
	return Object{Members: map[string]json.RawMessage{name: raw}, first: new(error)}
}

// Fault returns the first fault: nil, ErrNone, a *Fault, or what Fail got.
func (o Object) Fault() error { return *o.first }

// Fail keeps an error, unless there is a fault.
func (o Object) Fail(err error) {
	if *o.first == nil {
		*o.first = err
	}
}

// Refuse keeps a fault of a member, unless there is one.
func (o Object) Refuse(name, limit, got string) {
	o.Fail(&Fault{Field: o.at(name), Limit: limit, Got: got})
}

// at is the path of a member.
func (o Object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// read takes the members apart, none that is not allowed. The text has passed Check.
func (o *Object) read(raw []byte, names []string) {
	if json.Unmarshal(raw, &o.Members) != nil || o.Members == nil {
		o.Fail(&Fault{Field: o.path, Limit: "be an object", Got: KindOf(raw)})
		return
	}
	for _, name := range slices.Sorted(maps.Keys(o.Members)) {
		if !slices.Contains(names, name) {
			o.Refuse(Clip(name), "be left out: known here are "+strings.Join(names, ", "), KindOf(o.Members[name]))
		}
	}
}

// KindOf returns the kind of a JSON value, without its content.
func KindOf(raw json.RawMessage) string {
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
		return "the number " + Clip(string(raw))
	}
}

// Value decodes a member into out and reports whether it is there. Out must be no struct and have none:
// encoding/json ignores the case of names.
func (o Object) Value(name, limit string, out any) bool {
	raw, ok := o.Members[name]
	if !ok || *o.first != nil || string(raw) == "null" {
		return false
	}
	if json.Unmarshal(raw, out) != nil {
		o.Refuse(name, limit, KindOf(raw))
		return false
	}
	return true
}

// Text reads a string of at most maxBytes; empty where it is absent.
func (o Object) Text(name string, maxBytes int) (s string) {
	if o.Value(name, "be a string", &s) && len(s) > maxBytes {
		o.Refuse(name, fmt.Sprintf("have at most %d bytes", maxBytes), strconv.Itoa(len(s)))
		return ""
	}
	return s
}

// Texts reads an array of strings; nil where it is absent.
func (o Object) Texts(name string) (texts []string) {
	o.Value(name, "be an array of strings", &texts)
	return texts
}

// Boolean reads true or false; false where it is absent.
func (o Object) Boolean(name string) (b bool) {
	o.Value(name, "be true or false", &b)
	return b
}

// MaxCount bounds numbers: more would limit nothing.
const MaxCount = 1_000_000

// Count reads a whole number of 0 to MaxCount; 0 where it is absent.
func (o Object) Count(name string) int {
	n := o.Number(name)
	if n != math.Trunc(n) {
		o.Refuse(name, "be a whole number", fmt.Sprint(n))
		return 0
	}
	return int(n)
}

// Number reads a limit of 0 to MaxCount; 0 where it is absent.
func (o Object) Number(name string) (n float64) {
	if o.Value(name, "be a number", &n) && (n < 0 || n > MaxCount) {
		o.Refuse(name, fmt.Sprintf("be 0 (the receiver's own) to %d", MaxCount), fmt.Sprint(n))
		return 0
	}
	return n
}

// Time reads a time as RFC 3339 writes it; zero where it is absent.
func (o Object) Time(name string) time.Time {
	text := o.Text(name, 64)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 2000 || at.Year() > 9999 {
		o.Refuse(name, "be a time like 2026-01-31T12:00:00Z", fmt.Sprintf("%q", text))
		return time.Time{}
	}
	return at.UTC().Truncate(time.Millisecond)
}

// List reads an array of at most maxEntries.
func (o Object) List(name string, maxEntries int) (list []json.RawMessage) {
	if o.Value(name, "be an array", &list) && len(list) > maxEntries {
		o.Refuse(name, fmt.Sprintf("have at most %d entries", maxEntries), strconv.Itoa(len(list)))
		return nil
	}
	return list
}

// Inner reads an object within this one, which may have the members of these names; ok is false where it is
// absent.
func (o Object) Inner(name string, names ...string) (inner Object, ok bool) {
	var raw json.RawMessage
	if !o.Value(name, "be an object", &raw) {
		return Object{first: o.first}, false
	}
	return o.Entry(name, raw, names...), *o.first == nil
}

// Entry reads an object that is the value of a path within this one.
func (o Object) Entry(name string, raw json.RawMessage, names ...string) Object {
	inner := Object{path: o.at(name), first: o.first}
	if *o.first == nil {
		inner.read(raw, names)
	}
	return inner
}

// Open is Entry for an object that may have members of any name.
func (o Object) Open(name string, raw json.RawMessage) Object {
	inner := Object{path: o.at(name), first: o.first}
	if json.Unmarshal(raw, &inner.Members) != nil || inner.Members == nil {
		o.Refuse(name, "be an object", KindOf(raw))
	}
	return inner
}

// With returns the object with one member in place of its own, so that the entry of a list is read as a member.
func (o Object) With(name string, raw json.RawMessage) Object {
	return Object{path: o.path, Members: map[string]json.RawMessage{name: raw}, first: o.first}
}
