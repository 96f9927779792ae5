package app

import (
	"encoding/json"

	"github.com/qosrtc/qos/internal/jsonobject"
)

// object is a body that is being read, or an object in one. Methods read the members that apps have.
type object struct{ jsonobject.Object }

// body reads a request's body, which may have these members.
func body(raw []byte, names ...string) object { return object{jsonobject.Read(raw, names...)} }

// object reads an object within this one; ok is false where it is absent.
func (o object) object(name string, names ...string) (inner object, ok bool) {
	inner.Object, ok = o.Inner(name, names...)
	return inner, ok
}

// entry reads an object that is the value of a path within this one.
func (o object) entry(name string, raw json.RawMessage, names ...string) object {
	return object{o.Entry(name, raw, names...)}
}
