package readapi

import (
	"encoding/json"
	"reflect"

	"github.com/qosrtc/qos/internal/identity/mask"
)

// maxMasks bounds the real names of one answer. Beyond it the texts are withheld.
const maxMasks = 20_000

// masks are the real names that an answer must not have, with their aliases: in errors, SDP, logs, details.
// Its zero value replaces nothing.
type masks struct{ *mask.Names }

func newMasks() masks { return masks{mask.New(maxMasks)} }

// Tags of fields whose texts are not searched for names.
const (
	notMasked   = "-"       // words of closed sets, IDs, names of attributes
	maskUser    = "alias"   // the alias of a user, or what is given as one: it is replaced where it is a real name as a whole
	maskSummary = "summary" // a summary's document: its members and the words of closed sets are the collector's
)

// answer masks all texts of what a pointer points to, except in fields with the tag mask:"-". It is called when all names
// of the answer are known. Maps and slices, which may be the store's, are copied.
func (m masks) answer(pointer any) {
	if !m.Empty() {
		m.value(reflect.ValueOf(pointer).Elem(), "")
	}
}

func (m masks) value(v reflect.Value, tag string) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > 0 {
			v.SetString(m.text(v.String(), tag))
		}
	case reflect.Interface: // JSON
		if !v.IsNil() {
			v.Set(reflect.ValueOf(m.document(v.Interface(), tag)))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			m.value(v.Elem(), tag)
		}
	case reflect.Struct:
		m.fields(v)
	case reflect.Slice:
		m.elements(v, tag)
	case reflect.Map:
		m.members(v, tag)
	default: // numbers
	}
}

// document masks JSON, decoded or as text, in its form.
func (m masks) document(v any, tag string) any {
	if tag == maskSummary {
		return m.summary(v, "")
	}
	if text, ok := v.(json.RawMessage); ok {
		return encoded(m.Value(names{real: true}.document(string(text), nil)))
	}
	return m.Value(v)
}

func (m masks) text(text, tag string) string {
	if tag == maskUser {
		return m.Whole(text)
	}
	return m.Text(text)
}

func (m masks) fields(v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if tag := field.Tag.Get("mask"); tag != notMasked && (field.IsExported() || field.Anonymous) {
			m.value(v.Field(i), tag)
		}
	}
}

func (m masks) elements(v reflect.Value, tag string) {
	switch v.Type().Elem().Kind() {
	case reflect.String, reflect.Struct, reflect.Pointer:
	default:
		return
	}
	if v.Len() == 0 {
		return
	}
	list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
	reflect.Copy(list, v)
	for i := range list.Len() {
		m.value(list.Index(i), tag)
	}
	v.Set(list)
}

func (m masks) members(v reflect.Value, tag string) {
	if v.Type().Elem().Kind() != reflect.String || v.Len() == 0 {
		return
	}
	texts := reflect.MakeMapWithSize(v.Type(), v.Len())
	for each := v.MapRange(); each.Next(); {
		texts.SetMapIndex(each.Key(), reflect.ValueOf(m.text(each.Value().String(), tag)))
	}
	v.Set(texts)
}
