package readapi

import (
	"context"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// list lists conferences of the apps in a scope, each once. An app that is not in it has none.
func (a *API) list(ctx context.Context, q storage.Query, scope access.Scope) (page storage.Page, err error) {
	queries, err := a.userIDs.queries(q, scope)
	if err != nil {
		return page, err
	}
	if err := take(ctx, 0); err != nil {
		return page, err
	}
	if len(queries) == 1 {
		return a.reader.Conferences(ctx, queries[0])
	}
	all := listings[storage.Conference]{limit: q.Limit, weigh: people, most: storage.DefaultPageParticipants}
	for _, one := range queries {
		page, err := a.reader.Conferences(ctx, one)
		if err := all.add(page.Conferences, page.Cursors, page.Next, err); err != nil {
			return storage.Page{}, err
		}
	}
	page.Conferences, page.Cursors, page.Next = all.page()
	return page, all.damage
}

func people(c *storage.Conference) int { return len(c.Participants) }

// listUnattached lists annotations of the apps in a scope that no conference owns.
func (a *API) listUnattached(ctx context.Context, q storage.UnattachedQuery, scope access.Scope) (page storage.UnattachedPage, err error) {
	if err := take(ctx, 0); err != nil {
		return page, err
	}
	if scope.All {
		return a.reader.Unattached(ctx, q)
	}
	all := listings[storage.Unattached]{limit: q.Limit, weigh: (*storage.Unattached).TextBytes, most: storage.MaxUnattachedBytes}
	for _, app := range within(scope, q.AppID) {
		q.AppID = app
		page, err := a.reader.Unattached(ctx, q)
		if err := all.add(page.Unattached, page.Cursors, page.Next, err); err != nil {
			return storage.UnattachedPage{}, err
		}
	}
	page.Unattached, page.Cursors, page.Next = all.page()
	return page, all.damage
}

// listPreCalls lists tests of the apps in a scope, each once, also under the pseudonyms of the user that is searched for.
func (a *API) listPreCalls(ctx context.Context, q storage.PreCallQuery, scope access.Scope) (page storage.PreCallPage, err error) {
	queries, err := a.userIDs.queries(conferenceSearch(q), scope)
	if err != nil {
		return page, err
	}
	if err := take(ctx, 0); err != nil {
		return page, err
	}
	all := listings[storage.PreCall]{limit: q.Limit}
	for _, one := range queries {
		q.AppID, q.UserID, q.AdditionalID = one.AppID, one.UserID, one.AdditionalID
		page, err := a.reader.PreCalls(ctx, q)
		if err := all.add(page.PreCalls, page.Cursors, page.Next, err); err != nil {
			return storage.PreCallPage{}, err
		}
	}
	page.PreCalls, page.Cursors, page.Next = all.page()
	return page, all.damage
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
