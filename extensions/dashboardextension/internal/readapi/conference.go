package readapi

import (
	"context"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/identity/access"
	"github.com/qosrtc/qos/internal/record/eventrow"
	"github.com/qosrtc/qos/storage"
)

// detail is everything the page of one conference draws.
type detail struct {
	At         int64         `json:"at"`                     // time of the answer, in ms since the Unix epoch
	Conference conferenceRow `json:"conference"`             // the row of the conference, with all participants and their details
	Summary    any           `json:"summary" mask:"summary"` // document of the summary; null while there is none
	SoFar      *preliminary  `json:"soFar,omitempty"`        // the summary as far as it is known; absent where summary is that of the whole conference
	Fabrics    []*fabric     `json:"fabrics"`                // monitored PeerConnections, by their first record
	Timeline   []entry       `json:"timeline"`               // events, errors, feedback and logs, in order of time
	Streams    []*stream     `json:"streams"`                // measurements of streams and candidate pairs
	Measures   []measure     `json:"measures" mask:"-"`      // units and meanings of the values in latest of the streams
	Custom     []*customStat `json:"customStats"`            // numbers that the application reported
	LeftOut    leftOut       `json:"leftOut"`                // records that the answer has no room for
	Damaged    bool          `json:"damaged,omitempty"`      // some of it cannot be read, and is not here
}

// leftOut counts the records that the answer has no room for.
type leftOut struct {
	Timeline int `json:"timeline"`    // entries of the time-line
	Streams  int `json:"streams"`     // measurements
	Custom   int `json:"customStats"` // values of customStats
}

// fabric is one PeerConnection of one session, as its records describe it.
type fabric struct {
	Session            string `json:"session" mask:"-"`                      // ID of the session
	Fabric             int    `json:"fabric"`                                // its number in the session
	Usage              string `json:"usage,omitempty" mask:"-"`              // multiplex, audio, video, screen, data or unbundled, as the application says
	Direction          string `json:"direction,omitempty" mask:"-"`          // sendonly, receiveonly, sendrecv or inactive, as the application says
	RemoteEndpointType string `json:"remoteEndpointType,omitempty" mask:"-"` // peer or server, as the application says
	RemoteUser         string `json:"remoteUser,omitempty" mask:"alias"`     // alias of the remote end
	RemoteUserName     string `json:"remoteUserName,omitempty"`              // real name of the remote end, where it may be shown and differs
	FirstAt            int64  `json:"firstAt"`                               // its first record, in ms since the Unix epoch
	LastAt             int64  `json:"lastAt"`                                // its last record, in ms since the Unix epoch

	renamed   bool  // by reportUserIDChange: records go on to have the name of the beginning
	renamedBy order // by which record
}

type fabricKey struct {
	session string
	fabric  int
}

func (a *API) conference(ctx context.Context, r *http.Request) (any, error) {
	ref, err := readParameters(r).ref()
	if err != nil {
		return nil, err
	}
	d, err := a.detailOf(ctx, ref)
	if err != nil {
		return nil, err
	}
	a.countLeftOut(ctx, d.LeftOut)
	return d, nil
}

// detailOf reads a conference as far as the visitor may see it, and audits that. It returns storage.ErrNotFound for a
// conference of an app that is not in the visitor's scope.
func (a *API) detailOf(ctx context.Context, ref storage.Ref) (*detail, error) {
	view := a.view(ctx)
	c, damage, err := a.audited(ctx, ref, view.scope)
	if damage != nil {
		a.tellDamage(ctx, ref, damage)
	}
	if err != nil {
		return nil, err
	}
	b := newBuilder(view.names)
	row := view.row(c, a.now())
	soFar, damaged, err := a.read(ctx, &c, ref, row.State, b)
	if err != nil {
		return nil, err
	}
	d := b.detail()
	d.At, d.Conference, d.SoFar, d.Damaged = a.now().UnixMilli(), row, soFar.seen(view.names), damaged || damage != nil
	if c.Summary != nil {
		d.Summary = view.summary(string(c.Summary.Document))
	}
	view.masks.answer(d)
	return d, nil
}

// audited reads a conference without its records, and audits that, or that its app is not in the scope: then it returns
// storage.ErrNotFound. Where damage is not nil the document of the summary cannot be read, and all else is there.
func (a *API) audited(ctx context.Context, ref storage.Ref, scope access.Scope) (c storage.Conference, damage, err error) {
	if !scope.Has(ref.AppID) {
		a.keeper.Refused(ctx, access.From(ctx), ref.AppID, ref.ConferenceID, "scope") // without sign-in the scope is all
		return c, nil, storage.ErrNotFound
	}
	c, err = a.oneConference(ctx, ref)
	if errors.Is(err, storage.ErrDamaged) && c.Summary != nil {
		damage = err
	} else if err != nil {
		return c, nil, err
	}
	return c, damage, a.audit(ctx, access.Entry{Action: access.ActionConference, AppID: c.AppID, Target: c.ConferenceID, Body: map[string]any{"startAt": c.Start.UnixMilli()}})
}

// oneConference reads a conference without its records, when there is room for it. A document that is longer than that of
// so many participants is read again when there is room for it.
func (a *API) oneConference(ctx context.Context, ref storage.Ref) (c storage.Conference, err error) {
	charged, err := a.reader.CountParticipants(ctx, ref)
	if err != nil {
		return c, err
	}
	for {
		if err := take(ctx, charged); err != nil {
			return storage.Conference{}, err
		}
		c, err = a.reader.Conference(ctx, ref)
		if c.Summary == nil || len(c.Summary.Document) <= participantDocument*max(charged, readingCharge) {
			return c, err
		}
		charged, c = len(c.Summary.Document)/participantDocument+1, storage.Conference{}
	}
}

// read reads the records of a conference into b, and while it goes on its summary so far: one
// reading serves both. Where some are damaged it reads the others and says so.
func (a *API) read(ctx context.Context, c *storage.Conference, ref storage.Ref, state string, b *builder) (soFar *preliminary, damaged bool, err error) {
	page := &pageReading{add: b.add}
	if state != stateEnded {
		if soFar, err = a.soFar.of(ctx, c, page); err != nil {
			return nil, false, err
		}
	}
	if !page.done { // another request has the summary
		page.err = eventrow.EachRecord(ctx, a.reader, ref, c.Participants, func(e *event.Event, r *storage.Record) bool {
			b.add(e, r)
			return ctx.Err() == nil
		})
	}
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	if errors.Is(page.err, storage.ErrDamaged) {
		a.tellDamage(ctx, ref, page.err)
		return soFar, true, nil
	}
	return soFar, false, page.err
}

func (a *API) tellDamage(ctx context.Context, ref storage.Ref, err error) {
	a.telemetry.QosdashboardStoreErrors.Add(ctx, 1)
	a.log.Error("A part of a conference cannot be read", zap.String("app", ref.AppID), zap.String("conference", ref.ConferenceID), zap.Error(err))
}

func (a *API) countLeftOut(ctx context.Context, n leftOut) {
	if n.Timeline > 0 {
		a.telemetry.QosdashboardOmittedRecords.Add(ctx, int64(n.Timeline), partTimeline)
	}
	if n.Streams > 0 {
		a.telemetry.QosdashboardOmittedRecords.Add(ctx, int64(n.Streams), partStreams)
	}
	if n.Custom > 0 {
		a.telemetry.QosdashboardOmittedRecords.Add(ctx, int64(n.Custom), partCustomStats)
	}
}

// builder folds the records of a conference, which come in order of time, into a detail.
type builder struct {
	names    names
	timeline timeline
	fabrics  map[fabricKey]*fabric
	order    []*fabric
	streams  streams
	custom   customStats
}

func newBuilder(n names) *builder {
	return &builder{
		names:    n,
		timeline: newTimeline(n),
		fabrics:  map[fabricKey]*fabric{},
		streams:  newStreams(n),
		custom:   customStats{byKey: map[customKey]*customStat{}},
	}
}

func (b *builder) add(e *event.Event, r *storage.Record) {
	b.names.note(e)
	if e.Fabric != 0 {
		b.describe(e)
	}
	switch e.Kind {
	case event.KindStats:
		b.streams.add(e, r)
	case event.KindEvent:
		if b.custom.take(e, b.names) {
			return
		}
		b.streams.associate(e)
		b.renameRemote(e)
		b.timeline.add(e)
	default:
		b.timeline.add(e)
	}
}

// describe keeps the newest description of the event's fabric.
func (b *builder) describe(e *event.Event) {
	key := fabricKey{e.Session, e.Fabric}
	f := b.fabrics[key]
	if f == nil {
		f = &fabric{Session: e.Session, Fabric: e.Fabric, FirstAt: e.AtMs}
		b.fabrics[key] = f
		b.order = append(b.order, f)
	}
	f.LastAt = e.AtMs
	keep(e.Usage, &f.Usage)
	keep(e.Direction, &f.Direction)
	keep(e.RemoteType, &f.RemoteEndpointType)
	if f.renamed {
		return
	}
	keep(e.RemoteAlias, &f.RemoteUser)
	keep(b.names.name(e.RemoteUser, e.RemoteAlias), &f.RemoteUserName)
}

// keep writes a text that is there to place.
func keep(text string, place *string) {
	if text != "" {
		*place = text
	}
}

func (b *builder) detail() *detail {
	d := &detail{
		Fabrics:  b.order,
		Timeline: b.timeline.list(),
		Streams:  b.streams.list(b.fabrics),
		Custom:   b.custom.list(),
		LeftOut:  leftOut{Timeline: b.timeline.leftOut, Streams: b.streams.leftOut, Custom: b.custom.leftOut},
	}
	d.Measures = measuresOf(d.Streams)
	if d.Fabrics == nil {
		d.Fabrics = []*fabric{}
	}
	if d.Timeline == nil {
		d.Timeline = []entry{}
	}
	return d
}
