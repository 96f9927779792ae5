package conference

import (
	"math"
	"strings"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Limits of one conference. Records beyond them are counted as truncated.
const (
	maxParticipants   = 5000
	maxFabrics        = 1024
	maxParts          = 50_000 // fabrics and streams together
	maxSessionRecords = 2000
)

// Conference is the state of one conference: one instance, in the sense of package
// instance. It is not safe for concurrent use.
type Conference struct {
	appID          string
	id             string
	span           instance.Span // of its activity; of its annotations as long as it has no activity
	active         bool          // it has activity
	attemptMs      int64         // the later of the newest attempt and its arrival; 0: none
	participants   map[string]*participant
	sessionRecords map[identity]*sessionRecord // nil until the first one
	parts          int                         // fabrics and streams
	bytes          int64                       // of them and of participants, beyond those of an element: see Bytes
	truncated      int
	criteria       *criteria
	dirty          bool // something changed since the last evaluation
}

// identity is the identity of a record.
type identity struct {
	session string
	seq     uint64
	index   int
}

// Seq returns the frame number of the record.
func (i identity) Seq() uint64 { return i.seq }

// Index returns the record's index in its frame.
func (i identity) Index() int { return i.index }

// participant is one session in one conference.
type participant struct {
	user, alias string
	client      Client
	machine     Machine
	seen        event.Identities // of its activity records
	fabrics     map[int]*fabric
	renames     renames
}

// sessionRecord is a record of a session without a fabric: an annotation, which does not extend
// the conference and may belong to one that ended long ago, or an attempt.
type sessionRecord struct {
	kind        event.Kind
	user, alias string
	client      Client
	machine     Machine
	atMs        int64
	placeMs     int64
	attempt     bool            // it is activity, and is never attached to another conference
	devices     event.Devices   // KindEvent activeDeviceList
	models      []string        // KindEvent activeDeviceList: models of the devices
	function    string          // KindError
	feedback    *event.Feedback // KindFeedback
}

// New returns a conference without records that is evaluated by the operator's rules and labels. nil rules are the defaults.
func New(appID, conferenceID string, rules *detect.Rules, labels quality.Bounds) *Conference {
	return &Conference{appID: appID, id: conferenceID, participants: make(map[string]*participant, 2), criteria: newCriteria(rules, labels)}
}

// NotArrived is the arrival time of a record that was read from the store. Such a record does not
// prolong the conference.
const NotArrived = math.MinInt64

// Apply applies one record. It reports whether the record was applied before.
func (c *Conference) Apply(e *event.Event) (duplicate bool) { return c.ApplyArrived(e, NotArrived) }

// ApplyArrived is Apply of a record that arrived at arrivedMs, or NotArrived.
func (c *Conference) ApplyArrived(e *event.Event, arrivedMs int64) (duplicate bool) {
	if !e.Identified() {
		c.truncated++
		return false
	}
	if !e.Activity() || e.Attempt() {
		return c.applySessionRecord(e, arrivedMs)
	}
	p := c.participant(e)
	if p != nil && !c.isNew(p, e) {
		return true
	}
	c.extend(instance.At(e.AtMs))
	if p == nil {
		c.truncated++
		return false
	}
	c.truncated += p.renames.apply(e, "local")
	f := p.fabrics[e.Fabric]
	if f == nil {
		if len(p.fabrics) >= maxFabrics || c.parts >= maxParts {
			c.truncated++
			return false
		}
		f = &fabric{criteria: c.criteria}
		p.fabrics[e.Fabric] = f
		c.parts++
		c.bytes += f.ownBytes()
	}
	c.criteria.dirty, c.criteria.full = false, c.parts >= maxParts
	var key streamKey
	if e.Measured != nil {
		key, _ = keyOf(e.Measured)
	}
	streams, bytes := len(f.streams), f.touched(key)
	c.truncated += f.apply(e, arrivedMs)
	c.parts += len(f.streams) - streams
	c.bytes += f.touched(key) - bytes
	c.dirty = c.dirty || c.criteria.dirty
	return false
}

// isNew notes the identity of a record and reports whether it was not applied before.
func (c *Conference) isNew(p *participant, e *event.Event) bool {
	before := p.seen.Bytes()
	added := p.seen.Add(e.Seq, e.Index)
	c.bytes += p.seen.Bytes() - before
	return added
}

func (c *Conference) participant(e *event.Event) *participant {
	p := c.participants[e.Session]
	if p == nil && len(c.participants) < maxParticipants {
		p = &participant{
			user: event.Clip(e.UserID, event.MaxUserIDBytes), alias: event.Clip(e.Alias, event.MaxUserIDBytes),
			client: clientOf(e), machine: machineOf(e), fabrics: make(map[int]*fabric, 1),
		}
		c.dirty = c.dirty || len(c.participants) > 0 // it may be a late join
		c.participants[strings.Clone(e.Session)] = p
	}
	return p
}

// extend adds s to the span of the conference's activity.
func (c *Conference) extend(s instance.Span) {
	if c.active {
		s = c.span.Union(s)
	}
	c.span, c.active = s, true
}

func (c *Conference) applySessionRecord(e *event.Event, arrivedMs int64) (duplicate bool) {
	id := identity{e.Session, e.Seq, e.Index}
	if c.sessionRecords[id] != nil {
		return true
	}
	if e.Attempt() {
		c.extend(instance.At(e.AtMs))
		c.attemptMs = max(c.attemptMs, e.AtMs, arrivedMs)
	}
	id.session = strings.Clone(id.session)
	c.keep(id, newSessionRecord(e))
	return false
}

func newSessionRecord(e *event.Event) *sessionRecord {
	return &sessionRecord{
		kind: e.Kind, user: event.Clip(e.UserID, event.MaxUserIDBytes), alias: event.Clip(e.Alias, event.MaxUserIDBytes),
		client: clientOf(e), machine: machineOf(e), atMs: e.AtMs, placeMs: e.PlaceMs(), attempt: e.Attempt(),
		function: event.Clip(e.Function, event.MaxText), feedback: e.Feedback, devices: devices(e), models: deviceModels(e),
	}
}

// keep adds a session record to the conference, if there is room for it.
func (c *Conference) keep(id identity, r *sessionRecord) {
	if len(c.sessionRecords) >= maxSessionRecords {
		c.truncated++
		return
	}
	if c.sessionRecords == nil {
		c.sessionRecords = make(map[identity]*sessionRecord)
	}
	if !c.active {
		at := instance.At(r.placeMs)
		if len(c.sessionRecords) > 0 {
			at = at.Union(c.span)
		}
		c.span = at
	}
	c.sessionRecords[id] = r
	c.dirty = c.dirty || r.devices != (event.Devices{})
}

// Seen reports whether the record was applied before.
func (c *Conference) Seen(e *event.Event) bool {
	if !e.Activity() || e.Attempt() {
		return c.sessionRecords[identity{e.Session, e.Seq, e.Index}] != nil
	}
	p := c.participants[e.Session]
	return p != nil && e.Index >= 0 && p.seen.Has(e.Seq, e.Index)
}

// Merge merges o into c. They MUST NOT have a record in common. Two conferences become one when
// late records close the gap between them.
func (c *Conference) Merge(o *Conference) {
	switch {
	case o.active:
		c.extend(o.span)
	case !c.active && len(c.sessionRecords) == 0:
		c.span = o.span
	case !c.active:
		c.span = c.span.Union(o.span)
	}
	c.attemptMs = max(c.attemptMs, o.attemptMs)
	c.truncated += o.truncated
	c.parts += o.parts
	c.dirty = c.dirty || o.dirty
	for session, p := range o.participants {
		switch have := c.participants[session]; {
		case have != nil:
			c.truncated += have.merge(p)
		case len(c.participants) >= maxParticipants:
			c.truncated++
		default:
			c.participants[session] = p
		}
	}
	for id, r := range o.sessionRecords {
		c.keep(id, r)
	}
	c.recount()
}

func (p *participant) merge(o *participant) (truncated int) {
	p.seen.Merge(o.seen)
	truncated += p.renames.merge(o.renames)
	for number, f := range o.fabrics {
		if have := p.fabrics[number]; have != nil {
			truncated += have.merge(f)
		} else {
			p.fabrics[number] = f
		}
	}
	return truncated
}

// DeadlineMs returns the time after which the conference has ended if no further record
// arrives: math.MinInt64 when all participants reported their end, else 30 s after the last
// record of those that did not. An attempt prolongs the conference too. A conference of
// annotations alone ends after 30 s, and so does one with truncated records: one of them may
// have been a participant.
func (c *Conference) DeadlineMs() int64 {
	if !c.active {
		return c.span.End + instance.Gap
	}
	deadline := int64(math.MinInt64)
	if c.truncated > 0 {
		deadline = c.span.End + instance.Gap
	}
	if c.attemptMs > 0 {
		deadline = max(deadline, c.attemptMs+instance.Gap)
	}
	for _, p := range c.participants {
		for _, f := range p.fabrics {
			deadline = max(deadline, f.deadlineMs())
		}
	}
	return deadline
}
