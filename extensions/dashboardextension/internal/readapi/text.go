package readapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/qosrtc/qos/extensions/dashboardextension/internal/narrative"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/storage"
)

// conferenceText answers with a conference as plain text.
func (a *API) conferenceText(ctx context.Context, r *http.Request) (any, error) {
	ref, err := readParameters(r).ref()
	if err != nil {
		return nil, err
	}
	text, err := a.explain(ctx, ref)
	if err != nil {
		return nil, err
	}
	return plainText(text), nil
}

// explain returns a conference as plain text (package narrative) with what the visitor may see of it. It audits the
// read like the page does, and returns the same errors.
func (a *API) explain(ctx context.Context, ref storage.Ref) (string, error) {
	d, err := a.detailOf(ctx, ref)
	if err != nil {
		return "", err
	}
	c, err := narrated(d)
	if err != nil {
		return "", err
	}
	if c.Unattached, err = a.unattachedNear(ctx, c); err != nil {
		return "", err
	}
	return narrative.Text(c), nil
}

// unattachedNear counts the unattached annotations that the page of a conference lists: at most maxNearby.
func (a *API) unattachedNear(ctx context.Context, c *narrative.Conference) (int, error) {
	page, err := a.reader.Unattached(ctx, storage.UnattachedQuery{
		AppID: c.AppID, ConferenceID: c.ConferenceID, Limit: maxNearby,
		From: time.UnixMilli(c.StartMs).Add(-nearBefore), To: time.UnixMilli(c.EndMs).Add(nearAfter),
	})
	if errors.Is(err, storage.ErrDamaged) {
		err = nil
	}
	return len(page.Unattached), err
}

// Unattached annotations that may belong to a conference, as in web/js/nearby.js.
const (
	maxNearby  = 20
	nearBefore = 24 * time.Hour
	nearAfter  = 7 * 24 * time.Hour
)

// missingReasons are why a conference that goes on has no summary so far.
var missingReasons = map[string]string{
	missingTooLarge: "It has too many records for a summary while it goes on.",
	missingTooSlow:  "Its summary takes too long while it goes on.",
	missingFailed:   "The store could not be read. The collector's log has the reason.",
}

// narrated returns what package narrative describes, from an answer that is masked.
func narrated(d *detail) (*narrative.Conference, error) {
	row := &d.Conference
	c := &narrative.Conference{
		AppID: row.App, ConferenceID: row.ID, URL: pageOf(row), State: row.State, StartMs: row.StartAt, EndMs: row.EndAt,
		LeftOut: d.LeftOut.Timeline,
	}
	summary := d.Summary
	if d.SoFar != nil {
		summary, c.Missing = d.SoFar.Summary, missingReasons[d.SoFar.Missing]
	}
	var err error
	if c.Summary, err = summaryOf(summary); err != nil {
		return nil, err
	}
	for i := range row.Participants {
		c.Participants = append(c.Participants, narratedParticipant(&row.Participants[i]))
	}
	for i := range d.Timeline {
		if e := &d.Timeline[i]; e.Kind == kindNames[event.KindError] {
			c.Errors = append(c.Errors, narrative.Error{AtMs: e.At, Session: e.Session, Function: e.Function, Name: e.Name, Message: e.Message})
		}
	}
	return c, nil
}

// summaryOf reads a masked summary document.
func summaryOf(document any) (*conference.Summary, error) {
	if document == nil {
		return nil, nil // there is none
	}
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	var s conference.Summary
	if json.Unmarshal(text, &s) != nil {
		return nil, nil // a document of another version: the page shows what it can
	}
	return &s, nil
}

func narratedParticipant(p *participant) narrative.Participant {
	name := p.User
	if p.UserName != "" {
		name = p.UserName + " (" + p.User + ")"
	}
	agent := p.Details[semconv.UserAgent]
	family, major := event.Browser(agent)
	browser := family
	if major != "" {
		browser += " " + major
	}
	if system := event.OperatingSystem(agent); system != "" {
		browser += " on " + system
	}
	return narrative.Participant{
		Session: p.Session, Name: name, Browser: browser, Site: p.Details[semconv.SiteID], Version: p.Details[semconv.ApplicationVersion],
	}
}

// pageOf returns the address of a conference's page, relative to the dashboard's.
func pageOf(row *conferenceRow) string {
	return "conference?" + url.Values{"app": {row.App}, "id": {row.ID}, "at": {strconv.FormatInt(row.StartAt, 10)}}.Encode()
}
