package readapi

import (
	"net/url"
	"slices"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// userIDs finds users by the IDs that they were given, also in apps whose records have pseudonyms in their place.
// Without an apps extension there are only the IDs.
type userIDs struct{ apps Pseudonyms }

// stored returns the texts under which the store may have a user of an app, the ID itself first.
func (u userIDs) stored(app, id string) []string {
	if u.apps == nil || id == "" {
		return []string{id}
	}
	return u.apps.StoredUserIDs(app, id)
}

// hashed returns the apps of a scope that have pseudonyms: all, or the one that is asked for.
func (u userIDs) hashed(scope access.Scope, app string) (apps []string) {
	if u.apps == nil {
		return nil
	}
	for _, id := range u.apps.PseudonymApps() {
		if scope.Has(id) && (app == "" || app == id) {
			apps = append(apps, id)
		}
	}
	return apps
}

// maxVariants bounds the queries of one search that are for pseudonyms.
const maxVariants = 256

// queries returns the queries of the store that answer a query of a reader: one if the scope has all apps, else
// one for each app, and further ones for the pseudonyms of each app that has them. It refuses a search with more than
// maxVariants of these: three texts in an app with eight keys would be 728.
func (u userIDs) queries(q storage.Query, scope access.Scope) ([]storage.Query, error) {
	var queries []storage.Query
	for _, app := range within(scope, q.AppID) {
		one := q
		one.AppID = app
		queries = append(queries, one)
	}
	if q.UserID == "" && q.Any == "" && q.AdditionalID == "" {
		return queries, nil
	}
	n := 0
	for _, app := range u.hashed(scope, q.AppID) {
		if n += u.count(q, app) - 1; n > maxVariants {
			return nil, tooWide(q)
		}
		queries = append(queries, u.variants(q, app)[1:]...)
	}
	return queries, nil
}

// count returns the number of variants.
func (u userIDs) count(q storage.Query, app string) int {
	return len(u.stored(app, q.UserID)) * len(u.stored(app, q.AdditionalID)) * len(u.stored(app, q.Any))
}

// tooWide names the parameter that narrows a search most easily.
func tooWide(q storage.Query) error {
	if q.AppID == "" {
		return &badParameter{"app", "is required: too many pseudonyms of all apps fit this search"}
	}
	field := "additional"
	if q.AdditionalID == "" {
		field = "q"
	}
	return &badParameter{field, "cannot be combined with the other IDs: too many pseudonyms fit this search"}
}

// variants returns the query of one app with each text under which the store may have what is searched for. The
// first has the texts themselves.
func (u userIDs) variants(q storage.Query, app string) (out []storage.Query) {
	q.AppID = app
	for _, user := range u.stored(app, q.UserID) {
		for _, additional := range u.stored(app, q.AdditionalID) {
			for _, anything := range u.stored(app, q.Any) {
				one := q
				one.UserID, one.AdditionalID, one.Any = user, additional, anything
				out = append(out, one)
			}
		}
	}
	return out
}

// audited replaces what a search looks for by its pseudonyms where an app has them: the store keeps the text in the
// audit log.
func (u userIDs) audited(terms url.Values, q storage.Query, scope access.Scope) url.Values {
	apps := u.hashed(scope, q.AppID)
	for _, field := range namesOf(roleUserText) {
		if len(apps) == 0 || len(terms[field]) == 0 {
			continue
		}
		var stored []string
		for _, app := range apps[:min(len(apps), maxAudited)] {
			stored = append(stored, u.stored(app, terms[field][0])[1:]...)
		}
		terms[field] = slices.Clip(stored)
	}
	return terms
}

// maxAudited bounds the apps whose pseudonyms one audit entry has.
const maxAudited = 8
