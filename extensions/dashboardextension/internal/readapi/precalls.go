package readapi

import (
	"context"
	"net/http"

	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

// preCallList is the answer of /api/precalls.
type preCallList struct {
	At       int64        `json:"at"`                // time of the answer, in ms since the Unix epoch
	PreCalls []preCallRow `json:"preCalls"`          // the newest first
	Next     string       `json:"next,omitempty"`    // cursor of the next page; absent on the last
	Damaged  bool         `json:"damaged,omitempty"` // some tests cannot be read, and are not here
}

// preCallRow is one pre-call test.
type preCallRow struct {
	App   string      `json:"app" mask:"-"` // AppID
	EndAt int64       `json:"endAt"`        // end of the test, in ms since the Unix epoch
	User  participant `json:"participant"`  // session that ran the test

	storage.PreCallResult
}

// preCalls lists the pre-call tests that a search finds.
func (a *API) preCalls(ctx context.Context, r *http.Request) (any, error) {
	p, view := readParameters(r), a.view(ctx)
	query := storage.PreCallQuery{AliasesOnly: !view.real} // who may not see real names finds nothing by them
	if p.read(&query); p.err != nil {
		return nil, p.err
	}
	target := a.userIDs.audited(p.terms(), conferenceSearch(query), view.scope).Encode()
	if err := a.audit(ctx, access.Entry{Action: access.ActionSearch, AppID: query.AppID, Target: target}); err != nil {
		return nil, err
	}
	page, err := a.findPreCalls(ctx, query, view)
	damaged, err := a.damaged(ctx, "pre-call tests", err)
	if err != nil {
		return nil, err
	}
	list := preCallList{At: a.now().UnixMilli(), PreCalls: make([]preCallRow, 0, len(page.PreCalls)), Next: formatCursor(page.Next), Damaged: damaged}
	for i := range page.PreCalls {
		list.PreCalls = append(list.PreCalls, view.preCallRow(&page.PreCalls[i]))
	}
	for i := range list.PreCalls { // when all names of the answer are known
		view.masks.answer(&list.PreCalls[i])
	}
	return list, nil
}

// findPreCalls lists the tests of a query whose texts the reader may search by (find). The error may be storage.ErrDamaged.
func (a *API) findPreCalls(ctx context.Context, q storage.PreCallQuery, view view) (found storage.PreCallPage, err error) {
	f := finding[storage.PreCall]{
		read: func(before storage.Cursor, limit int) ([]storage.PreCall, storage.Cursor, error) {
			q.Before, q.Limit = before, limit
			page, err := a.listPreCalls(ctx, q, view.scope)
			return page.PreCalls, page.Next, err
		},
		check: func(p *storage.PreCall) (hidden, met bool, err error) {
			return view.hides([]storage.Participant{{Session: p.Session}}, q.SiteID, q.ApplicationVersion, q.AdditionalID, q.Provider), true, nil
		},
		weigh: func(*storage.PreCall) int { return 1 },
	}
	found.PreCalls, found.Next, err = f.page(q.Before, q.Limit)
	return found, err
}

func (n names) preCallRow(p *storage.PreCall) preCallRow {
	return preCallRow{
		App: p.Session.AppID, EndAt: p.At.UnixMilli(), User: n.participant(storage.Participant{Session: p.Session}), PreCallResult: p.Result,
	}
}

// conferenceSearch is what a search of tests has in common with one of conferences.
func conferenceSearch(q storage.PreCallQuery) storage.Query {
	return storage.Query{AppID: q.AppID, UserID: q.UserID, AdditionalID: q.AdditionalID}
}
