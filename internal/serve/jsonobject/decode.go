package jsonobject

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Decode reads the one JSON object that a text is into a struct, by the json tags of its fields. A member that is
// absent or null leaves its field as it is. The errors are those of Check, and a *Fault for a member that the
// struct does not have in this case, or that is of another kind than its field.
func Decode(raw []byte, into any) error {
	if err := Check(raw); err != nil {
		return err
	}
	return DecodeAt("", raw, into)
}

// DecodeAt reads a value that is at a path of a text that has passed Check, as Decode reads a member.
func DecodeAt(path string, raw json.RawMessage, into any) error {
	return decode(path, bytes.TrimSpace(raw), reflect.ValueOf(into).Elem())
}

// kinds are the limits of values, by the kind of their fields.
var kinds = map[reflect.Kind]string{
	reflect.String: "be a string", reflect.Bool: "be true or false", reflect.Float64: "be a number", reflect.Int: "be a whole number", reflect.Int64: "be a whole number",
	reflect.Struct: "be an object", reflect.Map: "be an object", reflect.Slice: "be an array",
}

func decode(path string, raw json.RawMessage, v reflect.Value) error {
	switch into := v.Addr().Interface().(type) {
	case *json.RawMessage:
		*into = raw
		return nil
	case *time.Time:
		return decodeTime(path, raw, into)
	}
	ok := string(raw) != "null"
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decode(path, raw, v.Elem())
	case reflect.Struct, reflect.Map:
		var members map[string]json.RawMessage
		if ok = ok && json.Unmarshal(raw, &members) == nil; ok {
			return decodeMembers(path, members, v)
		}
	case reflect.Slice:
		var list []json.RawMessage
		if ok = ok && json.Unmarshal(raw, &list) == nil; ok {
			return decodeList(path, list, v)
		}
	case reflect.Int, reflect.Int64:
		var n float64
		if ok = ok && json.Unmarshal(raw, &n) == nil && n == math.Trunc(n) && math.Abs(n) < 1<<53; ok {
			v.SetInt(int64(n))
		}
	default:
		ok = ok && json.Unmarshal(raw, v.Addr().Interface()) == nil
	}
	if !ok {
		return &Fault{Field: path, Limit: kinds[v.Kind()], Got: KindOf(raw)}
	}
	return nil
}

// decodeMembers reads members into the fields of a struct, none that it does not have, or into a map.
func decodeMembers(path string, members map[string]json.RawMessage, v reflect.Value) error {
	fields, known := map[string][]int{}, []string(nil)
	if v.Kind() == reflect.Map {
		v.Set(reflect.MakeMap(v.Type()))
	} else {
		fields, known = tagged(v.Type())
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		at := strings.TrimPrefix(path+"."+Clip(name), ".")
		index, ok := fields[name]
		var err error
		switch {
		case v.Kind() == reflect.Struct && !ok:
			return &Fault{Field: at, Limit: "be left out: known here are " + strings.Join(known, ", "), Got: KindOf(members[name])}
		case string(members[name]) == "null":
		case ok:
			err = decode(at, members[name], v.FieldByIndex(index))
		default:
			one := reflect.New(v.Type().Elem()).Elem()
			err = decode(at, members[name], one)
			v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tagged returns the fields of a struct and of those that it embeds by the names of their json tags, and the names.
func tagged(t reflect.Type) (fields map[string][]int, names []string) {
	fields = map[string][]int{}
	for _, field := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
			fields[name] = field.Index
			names = append(names, name)
		}
	}
	return fields, names
}

func decodeList(path string, list []json.RawMessage, v reflect.Value) error {
	v.Set(reflect.MakeSlice(v.Type(), len(list), len(list)))
	for i, one := range list {
		if err := decode(fmt.Sprintf("%s[%d]", path, i), one, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// decodeTime reads a time as RFC 3339 writes it, of the years 2000 to 9999, to the millisecond; an empty string is none.
func decodeTime(path string, raw json.RawMessage, into *time.Time) error {
	var text string
	if err := decode(path, raw, reflect.ValueOf(&text).Elem()); err != nil || text == "" {
		return err
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Year() < 2000 || at.Year() > 9999 {
		return &Fault{Field: path, Limit: "be a time like 2026-01-31T12:00:00Z", Got: fmt.Sprintf("%q", Clip(text))}
	}
	*into = at.UTC().Truncate(time.Millisecond)
	return nil
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
