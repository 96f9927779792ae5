package conference

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/instance"
	"github.com/qosrtc/qos/protocol"
)

// Limits of one fabric. Facts beyond them are counted as truncated.
const (
	maxStreams = 256
	maxToggles = 1024
	maxUserIDs = 16
)

// lastReadingMs is the time in which the measurement that a fabricTerminated announces may
// arrive (docs/protocol.md, section 10).
const lastReadingMs = 2000

// fabric is the state of one monitored PeerConnection in one conference. Facts whose order
// matters carry their rank, so the state is a function of the set of records and not of the
// order of their arrival.
type fabric struct {
	criteria                       *criteria
	usage, remoteUser, remoteAlias string
	direction                      string // fabricTransmissionDirection
	declaredServer                 bool   // the remote end is a media server, by its attribute
	server                         bool   // by its attribute, or findServers
	addedAt                        int64
	first, last                    int64 // activity, event time
	arrivedMs                      int64 // arrival of the newest record; not part of the summary
	ownLastMs                      int64 // event time of the newest record that arrived here; not part of the summary

	added             bool
	alreadyConnected  bool
	remoteDescription bool
	iceFailure        bool                // before a connection
	setup             oldest[*event.Data] // the first fabricSetup
	setupFailed       newest[*event.Data] // the newest fabricSetupFailed
	ended             oldest[ending]
	pair              newest[*event.Data] // the newest selected candidate pair
	pairChanges       int
	disruptions       int
	disruptionMs      sum
	disruption        newest[bool] // the newest disruption has not ended
	restarts          int

	toggles     []toggle     // ascending by rank
	renames     renames      // of the remote end
	owners      []ownership  // of streams, ascending by rank
	endedTracks []endedTrack // of sent streams, ascending by rank
	playouts    []playout    // ascending by rank
	streams     map[streamKey]*stream
	facts       detect.Timeline // of its streams together
	marks       []mark          // ascending by rank
	wifi        breach          // of weak signals
	lost        event.Lost
	outOfRange  int  // values that are out of range
	measured    int  // measurements
	offBeat     int  // measurements whose interval is not a multiple of cause.BeatMs
	received    bool // RTP or an RTCP report was received: it was connected
	carried     bool // the candidate pair carried payload
}

type ending struct {
	at        int64
	reason    string
	arrivedMs int64 // fabric.arrivedMs at that event
	measured  bool  // a last measurement follows
}

// toggle switches a mute, a hold or a screen share on or off.
type toggle struct {
	rank uint64
	at   int64
	ssrc int64 // of the stream that is paused or limited; 0: all that this end sends
	kind string
	on   bool // for limits: capped
	few  bool // for limits: slowed
}

// switches returns the kinds that a toggle switches on or off.
func (t toggle) switches() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		if t.kind != limits {
			yield(t.kind, t.on)
			return
		}
		_ = yield(slowed, t.few) && yield(capped, t.on)
	}
}

// endedTrack is a track of a sent stream that had ended when the stream was added.
type endedTrack struct {
	rank      uint64
	at        int64
	ssrc      int64
	mediaType string
}

// ownership is an associateMstWithUserID.
type ownership struct {
	rank        uint64
	ssrc        int64
	user, label string
}

var toggles = map[string]toggle{
	"audioMute": {kind: "audio", on: true}, "audioUnmute": {kind: "audio"},
	"videoPause": {kind: "video", on: true}, "videoResume": {kind: "video"},
	"fabricHold": {kind: "hold", on: true}, "fabricResume": {kind: "hold"},
	"screenShareStart": {kind: "screen", on: true}, "screenShareStop": {kind: "screen"},
	"limitsChange": {kind: limits}, // on by its data
}

// oldest keeps the value with the lowest rank.
type oldest[T any] struct {
	rank  uint64
	value T
}

func (o *oldest[T]) put(rank uint64, v T) {
	if o.rank == 0 || rank < o.rank {
		*o = oldest[T]{rank, v}
	}
}

func (o *oldest[T]) merge(other oldest[T]) {
	if other.rank != 0 {
		o.put(other.rank, other.value)
	}
}

// apply applies a record of the fabric that was not applied before. It returns the number of
// facts beyond the limits.
func (f *fabric) apply(e *event.Event, arrivedMs int64) (truncated int) {
	f.describe(e)
	if f.arrivedMs = max(f.arrivedMs, arrivedMs); arrivedMs != math.MinInt64 {
		f.ownLastMs = max(f.ownLastMs, e.AtMs)
	}
	switch e.Kind {
	case event.KindStats:
		return f.applyStats(e)
	case event.KindEvent:
		return f.applyEvent(e)
	case event.KindSkip:
		f.lost.Stats += e.Lost.Stats
		f.lost.Events += e.Lost.Events
	case event.KindError, event.KindFeedback, event.KindLog: // no activity: session records of the Conference
	}
	return 0
}

// describe applies the attributes that every record of a fabric carries.
func (f *fabric) describe(e *event.Event) {
	if f.first == 0 {
		f.usage, f.addedAt = event.Clip(e.Usage, event.MaxText), e.ConferenceAtMs
		f.remoteUser, f.remoteAlias = event.Clip(e.RemoteUser, event.MaxUserIDBytes), event.Clip(e.RemoteAlias, event.MaxUserIDBytes)
		f.direction = event.Clip(e.Direction, event.MaxText)
		f.first, f.last = e.AtMs, e.AtMs
		f.declaredServer = e.RemoteType == "server"
		f.server = f.declaredServer
	}
	f.addedAt = min(f.addedAt, e.ConferenceAtMs)
	f.first, f.last = min(f.first, e.AtMs), max(f.last, e.AtMs)
}

func (f *fabric) applyStats(e *event.Event) (truncated int) {
	m := e.Measured
	if m == nil {
		return 0 // activity without a measurement
	}
	key, ok := keyOf(m)
	if !ok {
		return 0 // activity; a type from a later version of the protocol
	}
	s := f.streams[key]
	if s == nil {
		if len(f.streams) >= maxStreams || f.criteria.full {
			return 1
		}
		if f.streams == nil {
			f.streams = make(map[streamKey]*stream, 5)
		}
		s = new(stream)
		f.streams[key] = s
	}
	f.outOfRange += m.OutOfRange.Len()
	s.add(e)
	f.applyDetectors(s, e)
	f.noteTraffic(m)
	s.addCauseFacts(e)
	return 0
}

func (f *fabric) noteTraffic(m *event.Measurement) {
	switch m.StatsType {
	case inboundRTP:
		f.received = f.received || m.Get(protocol.Packets) > 0
	case outboundRTP:
		f.received = f.received || m.Known(protocol.RTTMs) || m.Known(protocol.RemotePacketsLost) || m.Known(protocol.RemoteJitterMs)
	case candidatePair: // each measurement of a page has one
		f.carried = f.carried || m.Get(protocol.BytesReceived) > 0
		f.measured++
		f.offBeat += btoi(isOffBeat(m.IntervalMs))
	}
}

var noData event.Data

func (f *fabric) applyEvent(e *event.Event) (truncated int) {
	d := e.Data
	if d == nil {
		d = &noData
	}
	f.criteria.dirty = true // it may add or end an excuse
	truncated = f.note(e, d)
	if t, ok := toggles[e.Name]; ok {
		t.rank, t.at, t.ssrc = e.Rank(), e.AtMs, d.SSRC
		if t.kind == limits {
			t.few, t.on = d.MaxFramerate.Known && d.MaxFramerate.V <= fewFrames, d.MaxBitrate.Known && d.MaxBitrate.V <= littleBps
		}
		return truncated + insertByRank(&f.toggles, t, maxToggles, func(t toggle) uint64 { return t.rank })
	}
	switch e.Name {
	case "fabricAdded":
		f.added = true
		f.alreadyConnected = f.alreadyConnected || d.AlreadyConnected
	case "remoteDescriptionSet":
		f.remoteDescription = true
	case "fabricSetup":
		f.setup.put(e.Rank(), d)
		f.pair.put(e.Rank(), d)
	case "fabricSetupFailed":
		f.setupFailed.put(e.Rank(), d)
		f.iceFailure = f.iceFailure || d.Reason == "failed"
		f.remoteDescription = f.remoteDescription || describedStages[d.Stage]
		if d.Reason != "failed" {
			f.ended.put(e.Rank(), ending{at: e.AtMs, reason: cmp.Or(d.Reason, "terminated")})
		}
	case "fabricTerminated":
		f.ended.put(e.Rank(), ending{e.AtMs, cmp.Or(d.Reason, "application"), f.arrivedMs, d.MeasurementFollows})
	case "selectedCandidatePairChange":
		f.pairChanges++
		f.pair.put(e.Rank(), d)
	default:
		return truncated + f.applyRest(e, d)
	}
	return truncated
}

func (f *fabric) applyRest(e *event.Event, d *event.Data) (truncated int) {
	switch e.Name {
	case "iceDisruptionStart":
		f.disruptions++
		f.disruption.put(e.Rank(), true)
	case "iceDisruptionEnd":
		f.disruptionMs.add(d.DurationMs.V)
		f.disruption.put(e.Rank(), false)
	case "iceRestart":
		f.restarts++
	case "playoutChange":
		return f.addPlayout(playout{e.Rank(), e.AtMs, d.SSRC, d.Playout})
	case "userIDChange":
		return f.renames.apply(e, "remote")
	case "streamAdded":
		return f.addTrack(e, d)
	case "associateMstWithUserID":
		o := ownership{e.Rank(), d.SSRC, d.UserID, d.UsageLabel}
		return insertByRank(&f.owners, o, maxStreams, func(o ownership) uint64 { return o.rank })
	}
	return 0
}

// addTrack adds a track that had ended when its stream was added.
func (f *fabric) addTrack(e *event.Event, d *event.Data) (truncated int) {
	if d.StatsType != outboundRTP || d.TrackState != "ended" {
		return 0
	}
	for _, media := range [...]string{audio, video} {
		if d.MediaType == media {
			return insertByRank(&f.endedTracks, endedTrack{e.Rank(), e.AtMs, d.SSRC, media}, maxStreams, func(t endedTrack) uint64 { return t.rank })
		}
	}
	return 0
}

// insertByRank keeps the limit facts with the lowest ranks, ascending. The list is a function
// of the set of facts.
func insertByRank[T any](list *[]T, v T, limit int, rank func(T) uint64) (truncated int) {
	_, over := keepLowest(list, v, limit, rank)
	return btoi(over)
}

// keepLowest is insertByRank that returns the removed fact, with the highest rank, if over is true.
func keepLowest[T any](list *[]T, v T, limit int, rank func(T) uint64) (last T, over bool) {
	i, _ := slices.BinarySearchFunc(*list, v, func(a, b T) int { return cmp.Compare(rank(a), rank(b)) })
	*list = slices.Insert(*list, i, v)
	if over = len(*list) > limit; over {
		last, *list = (*list)[limit], (*list)[:limit]
	}
	return last, over
}

// merge adds the facts of the same fabric in another conference that is merged into this one.
func (f *fabric) merge(o *fabric) (truncated int) {
	f.addedAt = min(f.addedAt, o.addedAt)
	f.first, f.last = min(f.first, o.first), max(f.last, o.last)
	f.arrivedMs, f.ownLastMs = max(f.arrivedMs, o.arrivedMs), max(f.ownLastMs, o.ownLastMs)
	f.added = f.added || o.added
	f.alreadyConnected = f.alreadyConnected || o.alreadyConnected
	f.remoteDescription = f.remoteDescription || o.remoteDescription
	f.iceFailure = f.iceFailure || o.iceFailure
	f.received, f.carried = f.received || o.received, f.carried || o.carried
	f.setup.merge(o.setup)
	f.setupFailed.merge(o.setupFailed)
	f.ended.merge(o.ended)
	f.pair.merge(o.pair)
	f.disruption.merge(o.disruption)
	f.pairChanges += o.pairChanges
	f.disruptions += o.disruptions
	f.disruptionMs += o.disruptionMs
	f.restarts += o.restarts
	f.outOfRange += o.outOfRange
	f.measured += o.measured
	f.offBeat += o.offBeat
	f.lost.Stats += o.lost.Stats
	f.lost.Events += o.lost.Events
	for _, t := range o.toggles {
		truncated += insertByRank(&f.toggles, t, maxToggles, func(t toggle) uint64 { return t.rank })
	}
	truncated += f.renames.merge(o.renames)
	for _, w := range o.owners {
		truncated += insertByRank(&f.owners, w, maxStreams, func(w ownership) uint64 { return w.rank })
	}
	for _, t := range o.endedTracks {
		truncated += insertByRank(&f.endedTracks, t, maxStreams, func(t endedTrack) uint64 { return t.rank })
	}
	for _, p := range o.playouts {
		truncated += f.addPlayout(p)
	}
	return truncated + f.mergeDetectors(o) + f.mergeStreams(o)
}

func (f *fabric) mergeStreams(o *fabric) (truncated int) {
	for key, s := range o.streams {
		switch have := f.streams[key]; {
		case have != nil:
			have.merge(s)
		case len(f.streams) >= maxStreams:
			truncated += s.count
		case f.streams == nil:
			f.streams = map[streamKey]*stream{key: s}
		default:
			f.streams[key] = s
		}
	}
	return truncated
}

// twoKinds counts the SSRCs that carried audio and video, in one direction. Each kind is a
// stream of its own.
func (f *fabric) twoKinds() (n int) {
	for key := range f.streams {
		if _, also := f.streams[streamKey{key.statsType, video, key.ssrc}]; also && key.mediaType == audio {
			n++
		}
	}
	return n
}

// connected reports whether the fabric was ever connected. If the events were lost, received media
// prove it. A pair carries payload before DTLS is complete, so payload proves it only for a fabric
// whose beginning is not in this conference.
func (f *fabric) connected() bool {
	return f.setup.rank != 0 || f.alreadyConnected || f.received ||
		f.carried && !f.added && f.setupFailed.rank == 0
}

// describedStages are the stages of fabricSetupFailed after the remote description: its own event
// may have been lost.
var describedStages = map[string]bool{"gathering": true, "connectivity": true, "dtls": true}

func (f *fabric) hadRemoteDescription() bool { return f.remoteDescription || f.connected() }

// hadDescription reports whether a description was set. It is false only if a set-up failed without a remote description and
// without candidates, which a library reports only with a local description: clients of media servers create unused transports.
func (f *fabric) hadDescription() bool {
	d := f.setupFailed.value
	return f.hadRemoteDescription() || d == nil || d.Stage != "noRemoteDescription" || d.LocalCandidates.Known
}

// iceFailed reports whether ICE failed before the fabric was connected.
func (f *fabric) iceFailed() bool {
	return !f.connected() && f.iceFailure
}

// end returns the time and the reason of the fabric's end. Without a reported end the time is that
// of its last activity. The reason is empty if the fabric may not have ended.
func (f *fabric) end(now moment) (at int64, reason string) {
	if f.ended.rank == 0 {
		if now.isInGap(f.last) {
			return f.last, ""
		}
		return f.last, EndSilence
	}
	reason = f.ended.value.reason
	if reason == "closed" && f.disruption.value { // the library reports the disruption, not the failure of ICE
		reason = EndICEFailed
	}
	return f.ended.value.at, reason
}

// deadlineMs returns the time after which the fabric has ended if no further record arrives.
// Silence is measured in event time and from the last arrival, so that the backlog of a client
// is not divided. It includes lastReadingMs if a measurement follows the fabricTerminated.
func (f *fabric) deadlineMs() int64 {
	switch {
	case f.ended.rank == 0:
		return max(f.last, f.arrivedMs) + instance.Gap
	case f.ended.value.measured:
		return f.ended.value.arrivedMs + lastReadingMs
	}
	return math.MinInt64
}
