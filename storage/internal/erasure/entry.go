package erasure

import "github.com/qosrtc/qos/storage"

// Entry replaces identifiers in the target and the body of an audit entry, and reports whether it did.
func (ids *IDs) Entry(e *storage.AuditEntry) (changed bool) {
	if target, ok := ids.Text(e.Target); ok {
		e.Target, changed = target, true
	}
	if body, ok := ids.JSON(string(e.Body)); ok {
		e.Body, changed = []byte(body), true
	}
	return changed
}

// Entry returns an audit entry with the erasures of its app applied, or of all apps if it has none. In the entry of a
// search that verifies an erasure, the pseudonym replaces the search term.
func (l *Late) Entry(e storage.AuditEntry) storage.AuditEntry {
	for app, all := range l.apps {
		if e.AppID != "" && e.AppID != app {
			continue
		}
		for _, one := range all {
			one.Find(false, nil).Entry(&e)
		}
	}
	return e
}
