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
