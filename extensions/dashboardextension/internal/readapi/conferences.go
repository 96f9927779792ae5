package readapi

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/qosrtc/qos/internal/call/notice"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// liveFor is how long after its last activity a conference without a summary counts as
// live: the silence that ends it, and some time for the summary to arrive.
const liveFor = 90 * time.Second

// prolonged is how far activity must go beyond a summary to say that the conference goes
// on: the two ends may differ a little.
const prolonged = 2 * time.Second

// maxListed bounds the participants, and the sites, of one row of the listing.
const maxListed = 8

// States of a conference.
const (
	stateLive    = "live"
	stateEnded   = "ended"
	statePending = "pending" // silent for long, and still without a summary
)

// conferenceRow is one conference, in the listing and at the head of its page.
type conferenceRow struct {
	App              string        `json:"app" mask:"-"`               // AppID
	ID               string        `json:"id" mask:"-"`                // conferenceID
	StartAt          int64         `json:"startAt"`                    // first activity, in ms since the Unix epoch
	EndAt            int64         `json:"endAt"`                      // last activity, in ms since the Unix epoch
	DurationMs       int64         `json:"durationMs"`                 // from start to end
	State            string        `json:"state" mask:"-"`             // live, ended, or pending: silent for 90 s and still without a summary
	Outcome          string        `json:"outcome,omitempty" mask:"-"` // absent without a summary
	MOS              *float64      `json:"mos"`                        // score, MOS 1 to 5; null: unknown
	Label            string        `json:"label,omitempty" mask:"-"`   // excellent, good, fair, poor or bad; absent without a score
	Cause            string        `json:"cause,omitempty" mask:"-"`   // likely cause; absent without a summary
	Sites            []string      `json:"sites,omitempty"`            // siteIDs of participants, each once, 8 at most
	Revision         int           `json:"revision"`                   // of the summary: 1 at the end, more when late data changed it; 0: none
	ParticipantCount int           `json:"participantCount"`           // number of sessions
	Participants     []participant `json:"participants"`               // sessions; in a list of conferences 8 at most
	Matched          []string      `json:"matched,omitempty" mask:"-"` // kinds of the search term that q found: conferenceID, userID, siteID, applicationVersion or a key of additionalIDs
	TermsDropped     int           `json:"termsDropped,omitempty"`     // names and ids by which it is not found
}

// participant is one session in one conference.
type participant struct {
	Session  string            `json:"session" mask:"-"`              // ID of the session
	User     string            `json:"user" mask:"alias"`             // alias of the user
	UserName string            `json:"userName,omitempty"`            // real name, where it may be shown and differs
	Former   []string          `json:"former,omitempty" mask:"alias"` // aliases before reportUserIDChange, in the order of their use
	Details  map[string]string `json:"details,omitempty"`             // what the application and the browser said about the participant, by attribute

	known []string // all names by which a search may find them
}

type listing struct {
	At          int64           `json:"at"`                   // time of the answer, in ms since the Unix epoch
	Conferences []conferenceRow `json:"conferences"`          // the newest first
	Next        string          `json:"next,omitempty"`       // cursor of the next page; absent on the last
	Pseudonyms  []string        `json:"pseudonyms,omitempty"` // of the user ID that was searched for, in the apps of the rows
}

func (a *API) conferences(ctx context.Context, r *http.Request) (any, error) {
	s, err := a.search(ctx, r)
	if err != nil {
		return nil, err
	}
	if err := a.audit(ctx, s.entry); err != nil {
		return nil, err
	}
	page, err := a.find(ctx, s)
	if err != nil {
		return nil, err
	}
	list := listing{At: a.now().UnixMilli(), Next: formatCursor(page.Next)}
	list.Conferences = a.rows(s, page.Conferences, list.found)
	return list, nil
}

// search is a search for conferences as one reader may make it.
type search struct {
	query      storage.Query
	conditions []condition
	view       view
	entry      access.Entry // of the audit log
}

// search reads that of a request.
func (a *API) search(ctx context.Context, r *http.Request) (*search, error) {
	p, s := readParameters(r), &search{view: a.view(ctx)}
	s.query.AliasesOnly = !s.view.real // who may not see real names finds nothing by them
	p.read(&s.query)
	s.query.Outcome, s.query.Failed = outcomeOf(s.query.Outcome)
	if a.conditions(p, s); p.err != nil {
		return nil, p.err
	}
	target := a.userIDs.audited(p.terms(), s.query, s.view.scope).Encode()
	s.entry = access.Entry{Action: access.ActionSearch, AppID: s.query.AppID, Target: target}
	return s, nil
}

// rows returns the rows of conferences that a search found. It calls found with the pseudonyms by which it searched.
func (a *API) rows(s *search, conferences []storage.Conference, found func([]string)) []conferenceRow {
	now := a.now()
	rows := make([]conferenceRow, 0, len(conferences))
	for _, c := range conferences {
		names := newNames(s.view.real, s.view.comments) // masks are those of one conference
		row := names.row(c, now)
		wanted := a.userIDs.stored(row.App, cmp.Or(s.query.UserID, s.query.Any))
		first(row.Participants, wanted)
		found(wanted[1:])
		for i := range row.Participants {
			row.Participants[i].Details = nil
		}
		row.Participants = slices.Clone(row.Participants[:min(len(row.Participants), maxListed)]) // of a crowd the others are free
		names.masks.answer(&row)
		rows = append(rows, row)
	}
	return rows
}

// conditions adds what a search asks for beyond the query of the store, and what the query needs for it.
func (a *API) conditions(p *parameters, s *search) {
	r := &reported{notice.Reason(p.text(notice.ParameterReason)), p.number(parameterNamed(notice.ParameterLimit)), s.query.From, s.query.To}
	if p.text("state") != "" {
		a.searchLive(s)
	}
	if digested := p.digestCondition(); digested != nil {
		s.query.Digests = true
		s.conditions = append(s.conditions, digested)
	}
	if r.reason != "" {
		a.searchReported(s, r)
	}
}

// searchLive narrows a search to the conferences that countLive counts.
func (a *API) searchLive(s *search) {
	now := a.now()
	s.query.Unsummarised = true
	if oldest := now.Add(-liveFor); s.query.From.Before(oldest) {
		s.query.From = oldest
	}
	s.conditions = append(s.conditions, func(_ context.Context, c *storage.Conference) (bool, error) { return state(*c, now) == stateLive, nil })
}

// found adds pseudonyms that a row was searched by, each once.
func (l *listing) found(pseudonyms []string) {
	for _, one := range pseudonyms {
		if !slices.Contains(l.Pseudonyms, one) {
			l.Pseudonyms = append(l.Pseudonyms, one)
		}
	}
}

// first brings the participants with one of some names to the front, so that they are among those listed.
func first(people []participant, names []string) {
	other := func(p participant) int {
		if slices.ContainsFunc(names, func(name string) bool { return name != "" && slices.Contains(p.known, name) }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(people, func(a, b participant) int { return cmp.Compare(other(a), other(b)) })
}

func (n names) row(c storage.Conference, now time.Time) conferenceRow {
	row := conferenceRow{
		App:              c.AppID,
		ID:               c.ConferenceID,
		State:            state(c, now),
		ParticipantCount: len(c.Participants),
		Participants:     n.participants(c.Participants),
		Matched:          c.Matched,
		TermsDropped:     c.TermsDropped,
	}
	row.Sites = sites(c.Participants)
	start, end := c.Start, c.End
	if s := c.Summary; s != nil {
		row.Outcome, row.MOS, row.Label, row.Cause, row.Revision = s.Outcome, s.MOS, s.Label, s.Cause, s.Revision
		if row.ParticipantCount == 0 {
			row.ParticipantCount = s.Participants
		}
	}
	row.StartAt, row.EndAt = start.UnixMilli(), end.UnixMilli()
	row.DurationMs = row.EndAt - row.StartAt
	return row
}

// sites returns the siteIDs of participants, in order.
func sites(in []storage.Participant) (out []string) {
	for _, p := range in {
		if site := p.Session.Details[semconv.SiteID]; site != "" && !slices.Contains(out, site) {
			out = append(out, site)
		}
	}
	slices.Sort(out)
	return out[:min(len(out), maxListed)]
}

func state(c storage.Conference, now time.Time) string {
	fresh := now.Sub(c.End) <= liveFor
	switch {
	case c.Summary != nil && fresh && c.End.Sub(c.Summary.End) > prolonged:
		return stateLive // somebody came back
	case c.Summary != nil:
		return stateEnded
	case fresh:
		return stateLive
	default:
		return statePending
	}
}

// participants are in order of their session ids, which is the order of joining.
func (n names) participants(in []storage.Participant) []participant {
	out := make([]participant, 0, len(in))
	for _, p := range in {
		out = append(out, n.participant(p))
	}
	slices.SortFunc(out, func(a, b participant) int { return cmp.Compare(a.Session, b.Session) })
	return out
}

// participant has the names that are in force now.
func (n names) participant(p storage.Participant) participant {
	out := participant{Session: p.Session.ID, Details: p.Session.Details}
	out.call(n, storage.Name{UserID: p.Session.UserID, UserAlias: p.Session.UserAlias})
	for _, name := range p.Renames {
		out.Former = append(out.Former, out.User)
		out.call(n, name)
	}
	return out
}

func (p *participant) call(n names, name storage.Name) {
	p.User, p.UserName = name.UserAlias, n.name(name.UserID, name.UserAlias)
	p.known = append(p.known, p.User, p.UserName)
}
