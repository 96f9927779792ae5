package readapi

import (
	"context"
	"net/http"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// unattachedList is the annotations that no conference owns, newest first.
type unattachedList struct {
	At         int64        `json:"at"`                // time of the answer, in ms since the Unix epoch
	Unattached []unattached `json:"unattached"`        // the newest first
	Next       string       `json:"next,omitempty"`    // cursor of the next page; absent on the last
	Damaged    bool         `json:"damaged,omitempty"` // some of it cannot be read, and is not here
}

// unattached is what one session said about one time.
type unattached struct {
	App     string      `json:"app" mask:"-"`   // AppID
	ID      string      `json:"id" mask:"-"`    // conferenceID
	AboutAt int64       `json:"aboutAt"`        // the time that they are about, in ms since the Unix epoch
	User    participant `json:"participant"`    // session that sent them
	Entries []entry     `json:"entries"`        // in order of time
	More    bool        `json:"more,omitempty"` // there are more than these
}

func (a *API) unattached(ctx context.Context, r *http.Request) (any, error) {
	p, query := readParameters(r), storage.UnattachedQuery{}
	if p.read(&query); p.err != nil {
		return nil, p.err
	}
	view := a.view(ctx)
	if err := a.audit(ctx, access.Entry{Action: access.ActionUnattached, AppID: query.AppID}); err != nil {
		return nil, err
	}
	page, err := a.listUnattached(ctx, query, view.scope)
	damaged, err := a.damaged(ctx, "unattached annotations", err)
	if err != nil {
		return nil, err
	}
	list := unattachedList{At: a.now().UnixMilli(), Unattached: make([]unattached, 0, len(page.Unattached)), Next: formatCursor(page.Next), Damaged: damaged}
	for i := range page.Unattached {
		list.Unattached = append(list.Unattached, view.unattachedRow(&page.Unattached[i]))
	}
	for i := range list.Unattached { // when all names of the answer are known
		view.masks.answer(&list.Unattached[i])
	}
	return list, nil
}

func (n names) unattachedRow(u *storage.Unattached) unattached {
	line := newTimeline(n)
	var m event.Measurement
	for i := range u.Records {
		if e, ok := eventrow.Read(&u.Records[i], &m); ok {
			e.Session = u.Session.ID
			n.note(&e)
			line.add(&e)
		}
	}
	row := unattached{
		App: u.AppID, ID: u.ConferenceID, AboutAt: u.At.UnixMilli(),
		User: n.participant(storage.Participant{Session: u.Session}), Entries: line.list(), More: u.More,
	}
	if row.Entries == nil {
		row.Entries = []entry{}
	}
	return row
}
