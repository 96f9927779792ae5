package readapi

import (
	"context"
	"slices"

	"github.com/qosrtc/qos/storage"
)

// Bounds of a search with a condition that no index has, in one request.
const (
	maxFoundRows  = 2000
	maxFoundPages = 100
)

// condition reports whether a search finds a conference, beyond what the store selects.
type condition func(context.Context, *storage.Conference) (bool, error)

// find lists the conferences that meet all conditions, and whose texts the reader may search by. With conditions it may return
// fewer rows than asked for, and a cursor: the rest was not read yet.
func (a *API) find(ctx context.Context, s *search) (storage.Page, error) {
	q, scope := s.query, s.view.scope
	if len(s.conditions) == 0 && (s.view.real || q.SiteID+q.ApplicationVersion+q.AdditionalID+q.Any == "") {
		return a.list(ctx, q, scope)
	}
	var found storage.Page
	hidden := false
	limit, rows, participants := q.Limit, 0, 0
	for range maxFoundPages {
		q.Limit = limit - len(found.Conferences)
		page, err := a.list(ctx, q, scope)
		if err != nil {
			return found, err
		}
		for i := range page.Conferences {
			c := &page.Conferences[i]
			if s.hides(c) {
				hidden = true
				continue
			}
			met, err := meets(ctx, c, s.conditions)
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
	if hidden && len(found.Conferences) == 0 {
		found.Next = storage.Cursor{} // it would report that there are hidden ones
	}
	return found, nil
}

// hides reports whether a conference has a text that the search looks for, and the reader is shown another one.
func (s *search) hides(c *storage.Conference) bool {
	texts := []string{s.query.SiteID, s.query.ApplicationVersion, s.query.AdditionalID}
	if !slices.Contains(c.Matched, storage.MatchedUser) && !slices.Contains(c.Matched, storage.MatchedConferenceID) {
		texts = append(texts, s.query.Any)
	}
	return s.view.hides(c.Participants, texts...)
}

func meets(ctx context.Context, c *storage.Conference, conditions []condition) (bool, error) {
	for _, met := range conditions {
		if ok, err := met(ctx, c); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}
