package conference

import (
	"cmp"
	"maps"
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
)

// Summary returns the summary of all applied records, as if the conference had ended. Its
// Revision is 0; the caller sets it.
func (c *Conference) Summary(labels quality.Bounds) Summary { return c.summary(labels, atEnd) }

func (c *Conference) summary(labels quality.Bounds, now moment) Summary {
	s := Summary{
		AppID: c.appID, ConferenceID: c.id,
		StartMs: c.span.Start, EndMs: c.span.End, DurationMs: c.span.End - c.span.Start,
		Participants: make([]Participant, 0, len(c.participants)), ErrorsByFunction: map[string]int{},
		SetupMs: []float64{}, Truncated: c.truncated,
	}
	c.findServers()
	c.scoreStreams(labels, now)
	var v evidence
	bySession := make(map[string]*Participant, len(c.participants))
	for session, p := range c.participants {
		out := p.summary(session, labels, &v, now)
		bySession[session] = &out
	}
	c.addSessionRecords(&s, bySession)
	v.addErrors(s.ErrorsByFunction)
	if now == atEnd {
		s.Outcome = v.outcome()
	}
	s.OutOfRange, s.TwoKinds, s.Statistics = v.outOfRange, v.twoKinds, v.all.both()
	for _, p := range bySession {
		s.Participants = append(s.Participants, *p)
	}
	s.sort()
	s.collect()
	s.rate(labels)
	s.ShareBad = c.shareBad()
	s.listIssues(c.findIssues(&s, labels, now))
	c.findCauses(&s, labels)
	return s
}

func (s *Summary) sort() {
	slices.SortFunc(s.Participants, func(a, b Participant) int {
		return cmp.Or(cmp.Compare(a.StartMs, b.StartMs), cmp.Compare(a.Session, b.Session))
	})
}

// collect sums up values of the participants and their fabrics.
func (s *Summary) collect() {
	for i := range s.Participants {
		p := &s.Participants[i]
		s.LostMeasurements += p.LostMeasurements
		s.LostEvents += p.LostEvents
		for _, f := range p.Fabrics {
			if f.SetupMs != nil {
				s.SetupMs = append(s.SetupMs, *f.SetupMs)
			}
		}
	}
	slices.Sort(s.SetupMs)
}

// addSessionRecords counts errors, feedback and logs in order of (time, identity). A session
// without other records becomes a participant without fabrics.
func (c *Conference) addSessionRecords(s *Summary, participants map[string]*Participant) {
	ids := slices.SortedFunc(maps.Keys(c.sessionRecords), func(a, b identity) int {
		return cmp.Or(cmp.Compare(c.sessionRecords[a].atMs, c.sessionRecords[b].atMs),
			cmp.Compare(a.session, b.session), cmp.Compare(a.seq, b.seq), cmp.Compare(a.index, b.index))
	})
	for _, id := range ids {
		r := c.sessionRecords[id]
		p := participants[id.session]
		if p == nil {
			p = &Participant{
				Session: id.session, UserID: r.user, Alias: r.alias, Client: r.client, Machine: r.machine, StartMs: r.placeMs, EndMs: r.placeMs,
				UserIDs: []string{}, Fabrics: []Fabric{}, Mutes: []Interval{}, Holds: []Interval{}, Screen: []Interval{}, Feedback: []event.Feedback{},
			}
			participants[id.session] = p
		}
		s.addSessionRecord(p, id, r)
	}
	s.Feedback.finish()
}

func (s *Summary) addSessionRecord(p *Participant, id identity, r *sessionRecord) {
	p.Machine.addModels(r.models)
	switch r.kind {
	case event.KindError:
		s.Errors++
		p.Errors++
		s.ErrorsByFunction[cmp.Or(r.function, "unknown")]++
	case event.KindFeedback:
		if r.feedback != nil {
			rating := *r.feedback
			rating.Seq, rating.Index, rating.AtMs = id.seq, id.index, r.atMs
			p.Feedback = append(p.Feedback, rating)
			s.Feedback.add(rating)
		}
	case event.KindLog:
		s.Logs++
	case event.KindStats, event.KindEvent, event.KindSkip: // not counted outside a fabric
	}
}

// add accumulates the sum in Overall; finish makes it a mean.
func (r *Ratings) add(f event.Feedback) {
	if f.Overall == nil {
		return
	}
	r.Count++
	score := *f.Overall
	total := float64(score)
	if r.Overall != nil {
		total += *r.Overall
		score = min(score, *r.Worst)
	}
	r.Overall, r.Worst = &total, &score
}

func (r *Ratings) finish() {
	if r.Overall != nil {
		mean := round4(*r.Overall / float64(r.Count))
		r.Overall = &mean
	}
}

// named returns the participant with its names and empty lists.
func (p *participant) named(session string) Participant {
	out := Participant{
		Session: session, UserIDs: p.renames.all(p.user), Client: p.client, Machine: p.machine,
		Fabrics: make([]Fabric, 0, len(p.fabrics)),
		Mutes:   []Interval{}, Holds: []Interval{}, Screen: []Interval{}, Feedback: []event.Feedback{},
	}
	out.UserID, out.Alias = p.renames.current(p.user, p.alias)
	return out
}

func (p *participant) summary(session string, labels quality.Bounds, v *evidence, now moment) Participant {
	out := p.named(session)
	var all tallies
	connected := p.connected()
	for _, number := range slices.Sorted(maps.Keys(p.fabrics)) {
		f := p.fabrics[number]
		v.outOfRange += f.outOfRange
		v.twoKinds += f.twoKinds()
		fab := f.summary(number, now)
		own := f.tallies()
		fab.Statistics = own.both()
		if connected && !f.hadDescription() {
			fab.State = StateUnused
		} else {
			v.addFabric(f)
		}
		all.merge(&own)
		out.Fabrics = append(out.Fabrics, fab)
		out.addFabric(&fab, f)
	}
	out.setEnd(now)
	if len(out.Fabrics) > 0 {
		v.addParticipant(out.EndReason)
	}
	p.rate(&out, labels)
	out.Statistics = all.both()
	v.all.merge(&all)
	return out
}

// connected reports whether a fabric of the participant connected.
func (p *participant) connected() bool {
	for _, f := range p.fabrics {
		if f.connected() {
			return true
		}
	}
	return false
}

// addFabric adds the times, the counts and the intervals of a fabric to its participant.
func (p *Participant) addFabric(out *Fabric, f *fabric) {
	if len(p.Fabrics) == 1 || f.first < p.StartMs {
		p.StartMs = f.first
	}
	if len(p.Fabrics) == 1 || out.EndMs > p.EndMs {
		p.EndMs, p.EndReason = out.EndMs, out.EndReason
	}
	p.Connected = p.Connected || out.State == StateConnected
	p.LostMeasurements += out.LostMeasurements
	p.LostEvents += out.LostEvents
	for _, i := range f.intervals(out.Fabric, out.EndMs) {
		switch i.Kind {
		case "hold":
			p.Holds = append(p.Holds, i)
		case "screen":
			p.Screen = append(p.Screen, i)
		default:
			p.Mutes = append(p.Mutes, i)
		}
	}
}

func (f *fabric) summary(number int, now moment) Fabric {
	at, reason := f.end(now)
	out := Fabric{
		Fabric: number, Usage: f.usage,
		RemoteUserIDs: f.renames.all(f.remoteUser), State: StateNeverConnected,
		AddedAtMs: f.addedAt, EndMs: at, EndReason: reason,
		RemoteDescription: f.hadRemoteDescription(), AlreadyConnected: f.alreadyConnected,
		PairChanges: f.pairChanges, ICEDisruptions: f.disruptions,
		ICEDisruptionMs: round4(f.disruptionMs.value()), ICERestarts: f.restarts,
		Streams: make([]Stream, 0, len(f.streams)), LocalAddresses: []string{},
		LostMeasurements: f.lost.Stats, LostEvents: f.lost.Events,
	}
	out.RemoteUserID, out.RemoteAlias = f.renames.current(f.remoteUser, f.remoteAlias)
	f.summariseSetup(&out)
	for _, key := range slices.SortedFunc(maps.Keys(f.streams), streamKey.compare) {
		s := f.streams[key].summary(key)
		if key.statsType == candidatePair {
			out.CandidatePair = &s
			continue
		}
		f.nameOwner(&s)
		out.Streams = append(out.Streams, s)
	}
	return out
}

func (f *fabric) summariseSetup(out *Fabric) {
	if f.connected() {
		out.State = StateConnected
	}
	if d := f.setup.value; d != nil {
		out.GatheringMs, out.ConnectivityMs = pointerTo(d.GatheringMs), pointerTo(d.ConnectivityMs)
		if !f.alreadyConnected {
			out.SetupMs = pointerTo(d.SetupMs)
		}
	}
	if d := f.setupFailed.value; d != nil {
		out.FailureMs, out.FailureStage, out.FailureReason = pointerTo(d.FailureMs), d.Stage, d.Reason
	}
	if d := f.pair.value; d != nil {
		out.LocalCandidateType, out.RemoteCandidateType, out.RelayProtocol, out.NetworkType = d.LocalCandidateType, d.RemoteCandidateType, d.RelayProtocol, d.NetworkType
		out.LocalAddress, out.LocalAddresses = d.LocalAddress, append(out.LocalAddresses, d.LocalAddresses...)
	}
}

// ownerOf returns the user that the application associated with a stream, "" if there is none.
func (f *fabric) ownerOf(ssrc int64) (user string) {
	for _, o := range f.owners {
		if o.ssrc == ssrc {
			user = o.user
		}
	}
	return user
}

func (f *fabric) nameOwner(s *Stream) {
	for _, o := range f.owners {
		if o.ssrc == s.SSRC {
			s.UserID, s.UsageLabel = o.user, o.label
		}
	}
}

func pointerTo(v event.Value) *float64 {
	if !v.Known {
		return nil
	}
	rounded := round4(v.V)
	return &rounded
}
