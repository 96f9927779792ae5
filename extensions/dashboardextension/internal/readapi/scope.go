package readapi

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/qosrtc/qos/internal/access"
	"github.com/qosrtc/qos/storage"
)

// list lists conferences of the apps in a scope, each once. An app that is not in it has none.
func (a *API) list(ctx context.Context, q storage.Query, scope access.Scope) (storage.Page, error) {
	queries, err := a.userIDs.queries(q, scope)
	if err != nil {
		return storage.Page{}, err
	}
	if len(queries) == 1 {
		return a.reader.Conferences(ctx, queries[0])
	}
	var all []placed[storage.Conference]
	more := false
	for _, one := range queries {
		page, err := a.reader.Conferences(ctx, one)
		if err != nil {
			return storage.Page{}, err
		}
		all = place(all, page.Conferences, page.Cursors)
		more = more || page.Next != (storage.Cursor{})
	}
	var page storage.Page
	page.Conferences, page.Cursors, page.Next = newest(all, limit(q.Limit), more)
	return page, nil
}

// listUnattached lists annotations of the apps in a scope that no conference owns.
func (a *API) listUnattached(ctx context.Context, q storage.UnattachedQuery, scope access.Scope) (storage.UnattachedPage, error) {
	if scope.All {
		return a.reader.Unattached(ctx, q)
	}
	var all []placed[storage.Unattached]
	var damage error
	more := false
	for _, app := range within(scope, q.AppID) {
		q.AppID = app
		page, err := a.reader.Unattached(ctx, q)
		if errors.Is(err, storage.ErrDamaged) {
			damage = err
		} else if err != nil {
			return storage.UnattachedPage{}, err
		}
		all = place(all, page.Unattached, page.Cursors)
		more = more || page.Next != (storage.Cursor{})
	}
	var page storage.UnattachedPage
	page.Unattached, page.Cursors, page.Next = newest(all, limit(q.Limit), more)
	return page, damage
}

// within returns the apps to be read: those of a scope, or the one of them that is asked for. The scope of all apps
// has one for all, "".
func within(scope access.Scope, app string) []string {
	switch {
	case scope.All:
		return []string{app}
	case app == "":
		return scope.Apps
	case scope.Has(app):
		return []string{app}
	}
	return nil
}

// limit is the number of rows that the store returns for a limit.
func limit(n int) int {
	if n <= 0 {
		return defaultLimit
	}
	return min(n, maxLimit)
}

// placed is a row and its place in the listing.
type placed[T any] struct {
	row T
	at  storage.Cursor
}

func place[T any](all []placed[T], rows []T, cursors []storage.Cursor) []placed[T] {
	for i := range rows {
		all = append(all, placed[T]{rows[i], cursors[i]})
	}
	return all
}

// newest returns the newest rows of several listings, each once, and where to continue.
func newest[T any](all []placed[T], limit int, more bool) (rows []T, cursors []storage.Cursor, next storage.Cursor) {
	slices.SortFunc(all, func(a, b placed[T]) int {
		return cmp.Or(b.at.Start.Compare(a.at.Start), cmp.Compare(b.at.Key, a.at.Key))
	})
	all = slices.CompactFunc(all, func(a, b placed[T]) bool { return a.at == b.at })
	if len(all) > limit {
		all, more = all[:limit], true
	}
	for i := range all {
		rows, cursors = append(rows, all[i].row), append(cursors, all[i].at)
	}
	if more && len(all) > 0 {
		next = all[len(all)-1].at
	}
	return rows, cursors, next
}
