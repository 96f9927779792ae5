package readapi

import (
	"cmp"
	"context"
	"errors"
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

// finding is a search for rows of a kind by what the store does not select by.
type finding[Row any] struct {
	read  func(before storage.Cursor, limit int) (rows []Row, next storage.Cursor, err error)
	check func(*Row) (hidden, met bool, err error) // hidden: the reader may not find it
	weigh func(*Row) int                           // participants of a row
}

// page returns up to limit rows, or fewer and a cursor: the rest was not read yet. With storage.ErrDamaged it has what can be read.
func (f *finding[Row]) page(before storage.Cursor, limit int) (found []Row, next storage.Cursor, damage error) {
	concealed, read, weight := false, 0, 0
	for range maxFoundPages {
		rows, after, err := f.read(before, limit-len(found))
		if err != nil && !errors.Is(err, storage.ErrDamaged) {
			return found, next, err
		}
		damage = cmp.Or(damage, err)
		for i := range rows {
			hidden, met, err := f.check(&rows[i])
			if err != nil {
				return found, next, err
			}
			if concealed = concealed || hidden; met && !hidden {
				found, weight = append(found, rows[i]), weight+f.weigh(&rows[i])
			}
		}
		before, next, read = after, after, read+len(rows)
		if next == (storage.Cursor{}) || len(found) == limit || read >= maxFoundRows || weight >= storage.DefaultPageParticipants {
			break
		}
	}
	if concealed && len(found) == 0 {
		next = storage.Cursor{} // it would report that there are hidden ones
	}
	return found, next, damage
}

// find lists the conferences that meet all conditions, and whose texts the reader may search by.
func (a *API) find(ctx context.Context, s *search) (page storage.Page, err error) {
	q, scope := s.query, s.view.scope
	if len(s.conditions) == 0 && (s.view.real || q.SiteID+q.ApplicationVersion+q.AdditionalID+q.Any == "") {
		return a.list(ctx, q, scope)
	}
	f := finding[storage.Conference]{
		read: func(before storage.Cursor, limit int) ([]storage.Conference, storage.Cursor, error) {
			q.Before, q.Limit = before, limit
			page, err := a.list(ctx, q, scope)
			return page.Conferences, page.Next, err
		},
		check: func(c *storage.Conference) (hidden, met bool, err error) { return s.check(ctx, c) }, weigh: people,
	}
	page.Conferences, page.Next, err = f.page(q.Before, q.Limit)
	return page, err
}

// check reports whether a conference is hidden from the search (hides), else whether it meets all conditions.
func (s *search) check(ctx context.Context, c *storage.Conference) (hidden, met bool, err error) {
	hidden, met = s.hides(c), true
	for i := 0; i < len(s.conditions) && met && !hidden && err == nil; i++ {
		met, err = s.conditions[i](ctx, c)
	}
	return hidden, met, err
}

// hides reports whether a conference has a text that the search looks for, and the reader is shown another one.
func (s *search) hides(c *storage.Conference) bool {
	texts := []string{s.query.SiteID, s.query.ApplicationVersion, s.query.AdditionalID}
	if !slices.Contains(c.Matched, storage.MatchedUser) && !slices.Contains(c.Matched, storage.MatchedConferenceID) {
		texts = append(texts, s.query.Any)
	}
	return s.view.hides(c.Participants, texts...)
}
