package readapi

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/usual"
	"github.com/qosrtc/qos/internal/call/contrast"
	"github.com/qosrtc/qos/internal/call/digest"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/storage"
)

const (
	// maxEarlier bounds the earlier calls that say what was usual until a call.
	maxEarlier = 50
	// maxCalls bounds the calls of one answer, which is read with those that say what was usual until its last.
	maxCalls = maxLimit - maxEarlier
)

// historyAnswer is the answer of /api/user.
type historyAnswer struct {
	At         int64         `json:"at"`                   // time of the answer, in ms since the Unix epoch
	App        string        `json:"app"`                  // AppID
	User       string        `json:"user"`                 // alias of the user in the newest call; empty without calls
	UserName   string        `json:"userName,omitempty"`   // real name of the user in the newest call, where it may be shown and differs
	Names      []string      `json:"names"`                // aliases in these calls, the newest first
	Pseudonyms []string      `json:"pseudonyms,omitempty"` // of the user ID, in an app that hashes user IDs
	Usual      []usual.Value `json:"usual"`                // values that most of the newest calls have, of 50 calls at most
	Calls      []userCall    `json:"calls"`                // the newest first
	Next       string        `json:"next,omitempty"`       // cursor of the next page; absent on the last
}

// userCall is a conference of a user, with the sessions of the user in it.
type userCall struct {
	App        string             `json:"app"`               // AppID
	ID         string             `json:"id"`                // conferenceID
	StartAt    int64              `json:"startAt"`           // first activity, in ms since the Unix epoch
	EndAt      int64              `json:"endAt"`             // last activity, in ms since the Unix epoch
	DurationMs int64              `json:"durationMs"`        // from start to end
	State      string             `json:"state"`             // live, ended, or pending: silent for 90 s and still without a summary
	Outcome    string             `json:"outcome,omitempty"` // absent without a summary
	Cause      string             `json:"cause,omitempty"`   // of the user's faults; where there is none, of the conference's
	MOS        *float64           `json:"mos"`               // the lowest of the user's sessions
	Label      string             `json:"label,omitempty"`   // of the score; absent without one
	Sessions   []participant      `json:"sessions"`          // none: the user was only the other end of a connection
	Facts      []contrast.Fact    `json:"facts"`             // attributes of the user's sessions, each value once
	Different  []usual.Difference `json:"different"`         // attributes that are unlike earlier calls of the user

	values usual.Call
}

// compared are the attributes that a call of a user may differ in from earlier ones.
var compared = []string{
	contrast.Site, contrast.ApplicationVersion, contrast.Browser, contrast.BrowserVersion, contrast.OS, contrast.Device,
	contrast.NetworkType, contrast.LocalAddress, contrast.LocalCandidateType, contrast.RelayProtocol,
}

// history answers which calls a user of an app had, the newest first.
func (a *API) history(ctx context.Context, r *http.Request) (any, error) {
	p, view := readParameters(r), a.view(ctx)
	asked, query, limit, err := p.history(view.names)
	if err != nil {
		return nil, err
	}
	target := a.userIDs.audited(p.terms(), query, view.scope).Encode()
	if err := a.audit(ctx, access.Entry{Action: access.ActionSearch, AppID: query.AppID, Target: target}); err != nil {
		return nil, err
	}
	page, err := a.list(ctx, query, view.scope)
	if err != nil {
		return nil, err
	}
	wanted := a.userIDs.stored(query.AppID, query.UserID)
	calls := make([]userCall, 0, len(page.Conferences))
	for i := range page.Conferences {
		calls = append(calls, newUserCall(newNames(view.real, view.comments), page.Conferences[i], wanted, a.now()))
	}
	out := historyAnswer{At: a.now().UnixMilli(), App: query.AppID, Usual: usual.Of(values(calls[:min(len(calls), maxEarlier)]), compared)}
	shown := min(len(calls), limit)
	for i := range shown {
		earlier := calls[i+1 : min(len(calls), i+1+maxEarlier)]
		calls[i].Different = usual.Differences(calls[i].values, values(earlier), compared)
	}
	if !asked.From.IsZero() {
		if i := slices.IndexFunc(calls[:shown], func(c userCall) bool { return c.EndAt < asked.From.UnixMilli() }); i >= 0 {
			shown, page.Next = i, storage.Cursor{}
		}
	}
	out.Calls = calls[:shown]
	if shown < len(calls) && shown == limit {
		page.Next = page.Cursors[shown-1]
	}
	out.Next = formatCursor(page.Next)
	out.call(wanted)
	return out, nil
}

// userQuery is what /api/user takes, but for its limit.
type userQuery struct {
	AppID, UserID string
	From, To      time.Time // calls that overlap [From, To)
	Before        storage.Cursor
}

// history reads the query with the calls that say what was usual, and how many are shown. Earlier calls are read even if
// they ended before from.
func (p *parameters) history(n names) (u userQuery, q storage.Query, limit int, err error) {
	p.read(&u)
	p.required("app", "user")
	shown := parameterNamed("limit")
	shown.high = maxCalls
	limit = int(p.number(shown))
	q = storage.Query{AppID: u.AppID, UserID: u.UserID, To: u.To, AliasesOnly: !n.real, Digests: true, Before: u.Before, Limit: limit + maxEarlier}
	return u, q, limit, p.err
}

// call fills the names of the user: those of the sessions in the calls that are shown.
func (h *historyAnswer) call(wanted []string) {
	h.Names = []string{}
	add := func(list *[]string, name string) {
		if name != "" && !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i := range h.Calls {
		for _, s := range h.Calls[i].Sessions {
			if h.User == "" {
				h.User, h.UserName = s.User, s.UserName
			}
			add(&h.Names, s.User)
			for _, former := range slices.Backward(s.Former) {
				add(&h.Names, former)
			}
			for _, name := range wanted[1:] {
				if slices.Contains(s.known, name) {
					add(&h.Pseudonyms, name)
				}
			}
		}
	}
}

func values(calls []userCall) (out []usual.Call) {
	for i := range calls {
		out = append(out, calls[i].values)
	}
	return out
}

// newUserCall returns a conference as one of a user, who is called one of some names.
func newUserCall(n names, c storage.Conference, wanted []string, now time.Time) userCall {
	row := n.row(c, now)
	out := userCall{
		App: row.App, ID: row.ID, StartAt: row.StartAt, EndAt: row.EndAt, DurationMs: row.DurationMs, State: row.State,
		Outcome: row.Outcome, Sessions: []participant{}, Facts: []contrast.Fact{}, Different: []usual.Difference{}, values: usual.Call{},
	}
	for _, p := range row.Participants {
		if slices.ContainsFunc(wanted, func(name string) bool { return slices.Contains(p.known, name) }) {
			p.Details = nil
			out.Sessions = append(out.Sessions, p)
		}
	}
	var d digest.Digest
	if c.Summary != nil && new(digest.Decoder).Decode(c.Summary.Digest, &d) == nil {
		out.add(&d, n.masks)
	}
	if out.Cause == "" {
		out.Cause = row.Cause
	}
	n.masks.answer(&out.Sessions)
	return out
}

// add adds the facts and the score of the user's sessions.
func (u *userCall) add(d *digest.Digest, m masks) {
	item := contrast.Of(u.App, d, false)
	for i := range d.Members {
		member := &d.Members[i]
		session := uuid.UUID(member.Session).String()
		if !slices.ContainsFunc(u.Sessions, func(p participant) bool { return p.Session == session }) {
			continue
		}
		if member.MOS > 0 && (u.MOS == nil || member.MOS < *u.MOS) {
			u.MOS, u.Label = &member.MOS, member.Label
		}
		if u.Cause == "" {
			u.Cause = member.Cause
		}
		for _, f := range item.Members[i] {
			f.Value = m.Text(f.Value)
			if !slices.Contains(u.Facts, f) {
				u.Facts = append(u.Facts, f)
			}
			u.values.Add(f.Attribute, f.Value)
		}
	}
}
