package term

import (
	"encoding/json"
	"slices"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/internal/userid"
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
	user, alias = named(attributes)
	return appendUser(slices.Clip(r.remote), r.app, user, alias)
}

// named returns the user that an event names.
func named(attributes map[string]any) (user, alias string) {
	data, _ := attributes[semconv.EventData].(string)
	var event struct{ UserID, NewUserID json.RawMessage }
	var u userid.User
	switch attributes[semconv.EventName] {
	case "userIDChange":
		_ = json.Unmarshal([]byte(data), &event) // what is no JSON names nobody
		u, _ = userid.Parse(event.NewUserID)
	case "associateMstWithUserID":
		_ = json.Unmarshal([]byte(data), &event)
		u, _ = userid.Parse(event.UserID)
	}
	return u.Name, u.Alias
}
