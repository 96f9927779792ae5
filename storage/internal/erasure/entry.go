package erasure

import (
	"net/url"

	"github.com/qosrtc/qos/storage"
)

// search is the action of an audit entry whose target is the query of a search.
const search = "search"

// Entry replaces identifiers in the target and the body of an audit entry, and reports whether it did.
func (ids *IDs) Entry(e *storage.AuditEntry) (changed bool) {
	if e.Action == search {
		changed = ids.query(&e.Target)
	}
	if target, ok := ids.Text(e.Target); ok {
		e.Target, changed = target, true
	}
	if body, ok := ids.JSON(string(e.Body)); ok {
		e.Body, changed = []byte(body), true
	}
	return changed
}

// query replaces identifiers in the values of a query.
func (ids *IDs) query(text *string) (changed bool) {
	values, err := url.ParseQuery(*text)
	if err != nil {
		return false
	}
	for name, all := range values {
		for i, value := range all {
			if replaced, ok := ids.Text(value); ok {
				values[name][i], changed = replaced, true
			}
		}
	}
	if changed {
		*text = values.Encode()
	}
	return changed
}
