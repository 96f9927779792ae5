package term

import (
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
)

// Reader reads the terms of records. It caches the terms of the remote user, which is mostly the same
// from one record to the next.
type Reader struct {
	app         string
	user, alias string
	remote      []Term
}

// NewReader returns a reader of records of an app.
func NewReader(app string) *Reader { return &Reader{app: app} }

// OfRecord returns the terms of a record of activity: the names of the remote user, and the new names that an
// event gives a user. The caller must not change them.
func (r *Reader) OfRecord(name string, attributes map[string]any) []Term {
	user, _ := attributes[semconv.RemoteUserID].(string)
	alias, _ := attributes[semconv.RemoteUserAlias].(string)
	if user != r.user || alias != r.alias {
		r.user, r.alias, r.remote = user, alias, appendUser(nil, r.app, user, alias)
	}
	if name != semconv.EventEvent {
		return r.remote
	}
	naming := namedUser(attributes)
	if naming.Of == event.Claimed {
		return r.remote
	}
	return appendUser(slices.Clip(r.remote), r.app, naming.User.Name, naming.User.Alias)
}

// namedUser returns the user that an event names.
func namedUser(attributes map[string]any) event.Naming {
	name, _ := attributes[semconv.EventName].(string)
	data, _ := attributes[semconv.EventData].(string)
	return event.Names(name, []byte(data))
}
