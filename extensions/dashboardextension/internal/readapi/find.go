package readapi

import (
	"context"

	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/storage"
)

// Bounds of a search with a condition that no index has, in one request.
const (
	maxFoundRows  = 2000
	maxFoundPages = 100
)

// condition reports whether a search finds a conference, beyond what the store selects.
type condition func(context.Context, *storage.Conference) (bool, error)

// find lists the conferences that meet all conditions. With conditions it may return fewer rows than asked
// for, and a cursor: the rest was not read yet.
func (a *API) find(ctx context.Context, q storage.Query, conditions []condition, scope access.Scope) (storage.Page, error) {
	if len(conditions) == 0 {
		return a.list(ctx, q, scope)
	}
	var found storage.Page
	limit, rows, participants := q.Limit, 0, 0
	for range maxFoundPages {
		q.Limit = limit - len(found.Conferences)
		page, err := a.list(ctx, q, scope)
		if err != nil {
			return found, err
		}
		for i := range page.Conferences {
			c := &page.Conferences[i]
			met, err := meets(ctx, c, conditions)
			if err != nil {
				return found, err
			}
			if met {
				found.Conferences = append(found.Conferences, *c)
				participants += people(c)
			}
		}
		q.Before, found.Next = page.Next, page.Next
		rows += len(page.Conferences)
		if page.Next == (storage.Cursor{}) || len(found.Conferences) == limit || rows >= maxFoundRows || participants >= storage.DefaultPageParticipants {
			break
		}
	}
	return found, nil
}

func meets(ctx context.Context, c *storage.Conference, conditions []condition) (bool, error) {
	for _, met := range conditions {
		if ok, err := met(ctx, c); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
