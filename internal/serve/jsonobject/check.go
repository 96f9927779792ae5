// Package jsonobject reads JSON objects that come from outside in one strict form: UTF-8, one object and nothing
// after it, no member twice at any depth, names in the case that is written. encoding/json takes the last of two
// members, and ROLES for roles, so two readers of one text could understand it differently.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ErrNone is the fault of a text that is no JSON object.
var ErrNone = errors.New("must be one JSON object in UTF-8, and nothing after it")

// Fault is the fault of one member. It is safe to be shown: it never has what may be secret.
type Fault struct {
	Field string // its path: webhooks[1].url
	Limit string // what it must do: "have at most 16 entries"
	Got   string // what came: "a string of 3 bytes"
}

// Error implements error.
func (f *Fault) Error() string { return fmt.Sprintf("%s must %s (got %s)", f.Field, f.Limit, f.Got) }

// Check returns ErrNone for a text that is not one JSON object, and a *Fault for an object that has a member
// twice, itself or within a value. Names are compared as they are read, without their escapes.
func Check(raw []byte) error {
	text := bytes.TrimLeft(raw, " \t\r\n")
	if len(text) == 0 || text[0] != '{' || !utf8.Valid(raw) || !json.Valid(raw) {
		return ErrNone
	}
	var w walk
	for len(text) > 0 {
		size := 1
		if text[0] == '"' {
			size = stringLength(text)
		}
		if twice := w.take(text[:size]); twice {
			return &Fault{Field: w.path(), Limit: "be there once", Got: "it twice"}
		}
		text = text[size:]
	}
	return nil
}

// Members returns the members of the one object that a text is, each as it is written. Its errors are those of
// Check.
func Members(raw []byte) (map[string]json.RawMessage, error) {
	if err := Check(raw); err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil, ErrNone
	}
	return members, nil
}

// stringLength returns the length of the string that a valid text begins with, with its quotes.
func stringLength(text []byte) int {
	for i := 1; ; i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// level is an object or array that is open. An array has no names.
type level struct {
	names map[string]struct{}
	name  string // of the member that is being read
	index int    // of the entry that is being read
	named bool   // the next string is a value and no name
}

// walk goes through the tokens of a valid JSON text.
type walk struct{ open []level }

// take reads the next token, or one byte of a number or a word, and reports whether it is the name of a member
// that was there before.
func (w *walk) take(token []byte) (twice bool) {
	var top *level
	if len(w.open) > 0 {
		top = &w.open[len(w.open)-1]
	}
	switch token[0] {
	case '{':
		w.open = append(w.open, level{names: map[string]struct{}{}})
	case '[':
		w.open = append(w.open, level{})
	case '}', ']':
		w.open = w.open[:len(w.open)-1]
	case ',':
		top.index, top.named = top.index+1, false
	case '"':
		if top.names == nil || top.named {
			return false
		}
		top.name, top.named = unquote(token), true
		_, twice = top.names[top.name]
		top.names[top.name] = struct{}{}
	}
	return twice
}

func unquote(token []byte) (name string) {
	if !bytes.ContainsRune(token, '\\') {
		return string(token[1 : len(token)-1])
	}
	_ = json.Unmarshal(token, &name) // it is valid
	return name
}

// path is that of the member that is being read.
func (w *walk) path() string {
	var b strings.Builder
	for i := range w.open {
		switch one := &w.open[i]; {
		case one.names == nil:
			b.WriteString("[" + strconv.Itoa(one.index) + "]")
		case i > 0:
			b.WriteString("." + one.name)
		default:
			b.WriteString(one.name)
		}
	}
	return Clip(b.String())
}

// Clip bounds a text from outside that an answer repeats.
func Clip(text string) string {
	if len(text) > 100 {
		return strings.ToValidUTF8(text[:100], "") + "…"
	}
	return text
}
