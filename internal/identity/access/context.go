package access

import "context"

type visitorKey struct{}

// With returns a context of a request with its visitor. Only a server that has authenticated the
// visitor calls it.
func With(ctx context.Context, v *Visitor) context.Context {
	return context.WithValue(ctx, visitorKey{}, v)
}

// From returns the visitor of a request; nil without one.
func From(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}
