package readapi

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/qosrtc/qos/internal/call/conference"
)

// summary masks a part of a summary's document, which is that of a member. The collector's own members and words remain, also where a
// user has such a name.
func (m masks) summary(v any, member string) any {
	switch v := v.(type) {
	case string:
		if !conference.IsWord(member, v) {
			return m.Text(v)
		}
	case []any:
		for i := range v {
			v[i] = m.summary(v[i], member)
		}
	case map[string]any:
		for _, key := range slices.Collect(maps.Keys(v)) {
			part := m.summary(v[key], key)
			if !isOwnKey(member, key) {
				delete(v, key)
				key = m.Text(key)
			}
			v[key] = part
		}
	}
	return v
}

// isOwnKey reports whether the collector chose the key of an object that is a member of a summary: it is a member of the schema, or the kind of
// an issue or a label.
func isOwnKey(member, key string) bool {
	switch member {
	case "errorsByFunction": // names of functions, which the application sends
		return false
	case "issueCounts", "qualityShare":
		return true
	}
	return summaryMembers()[key]
}

// summaryMembers returns the members of a summary at any depth, as JSON names them.
var summaryMembers = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	addMembers(reflect.TypeFor[conference.Summary](), names)
	return names
})

func addMembers(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		addMembers(t.Elem(), names)
	case reflect.Struct:
		for field := range t.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			names[name] = true
			addMembers(field.Type, names)
		}
	default: // values
	}
}
