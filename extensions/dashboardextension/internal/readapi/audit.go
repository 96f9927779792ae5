package readapi

import (
	"context"

	"github.com/qosrtc/qos/internal/identity/access"
)

// audit records what the visitor of a request reads. Without sign-in nobody is known.
func (a *API) audit(ctx context.Context, e access.Entry) error {
	v := access.From(ctx)
	if a.keeper == nil || v == nil {
		return nil
	}
	return a.keeper.Read(ctx, v, e)
}
