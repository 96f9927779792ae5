package term

import (
	"slices"

	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/semconv"
)

// Reader reads the terms of records. What one record says most often stands in the one
// before it too: that is not worked out again.
type Reader struct {
	app         string
	user, alias string
	remote      []Term
}

// NewReader returns a reader of records of an app.
func NewReader(app string) *Reader { return &Reader{app: app} }

// OfRecord returns the terms of a record of activity: who is at the other end, and what an
// event calls a user from then on. The caller does not change them.
func (r *Reader) OfRecord(name string, attributes map[string]any) []Term {
	user, _ := attributes[semconv.RemoteUserID].(string)
	alias, _ := attributes[semconv.RemoteUserAlias].(string)
	if user != r.user || alias != r.alias {
		r.user, r.alias, r.remote = user, alias, appendUser(nil, r.app, user, alias)
	}
	if name != semconv.EventEvent {
		return r.remote
	}
	other := named(attributes)
	if other.Of == event.Claimed {
		return r.remote
	}
	return appendUser(slices.Clip(r.remote), r.app, other.User.Name, other.User.Alias)
}

// named returns the user that an event names.
func named(attributes map[string]any) event.Naming {
	name, _ := attributes[semconv.EventName].(string)
	data, _ := attributes[semconv.EventData].(string)
	return event.Names(name, []byte(data))
}
