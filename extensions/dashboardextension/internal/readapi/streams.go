package readapi

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// maxStreams bounds the streams of one answer; with maxPoints it bounds its memory.
const maxStreams = 400

// stream is the measurements of one RTP stream, or of a fabric's candidate pair.
type stream struct {
	streamHead
	series
	newest event.Measurement
}

// streamHead says which stream it is.
type streamHead struct {
	Session    string `json:"session" mask:"-"`             // ID of the session that measured it
	Fabric     int    `json:"fabric"`                       // number of the fabric in the session
	SSRC       int64  `json:"ssrc"`                         // 0: the candidate pair
	StatsType  string `json:"statsType" mask:"-"`           // inbound-rtp, outbound-rtp or candidate-pair
	MediaType  string `json:"mediaType,omitempty" mask:"-"` // audio or video
	RID        string `json:"rid,omitempty"`                // of a layer of simulcast
	Codec      string `json:"codec,omitempty"`              // the newest
	User       string `json:"user,omitempty" mask:"alias"`  // whose media it is, where that is known
	UsageLabel string `json:"usageLabel,omitempty"`         // of associateMstWithUserID
	Label      string `json:"label,omitempty" mask:"-"`     // the newest quality label
	NoScore    string `json:"noScore,omitempty" mask:"-"`   // why the newest interval has no score

	Lowest *lowest `json:"lowest,omitempty" mask:"-"` // absent where nothing was scored
	Latest latest  `json:"latest"`                    // the newest measurement
}

// latest is the newest measurement of a stream, whatever was measured.
type latest struct {
	At         int64              `json:"at"`                   // ms since the Unix epoch, the interval's end
	IntervalMs float64            `json:"intervalMs,omitempty"` // 0: unknown
	Values     map[string]float64 `json:"values"`               // numbers, by the measures' column names
	Texts      map[string]string  `json:"texts,omitempty"`      // the others, likewise
}

// has reports whether the measure is known.
func (l *latest) has(name string) bool {
	_, number := l.Values[name]
	_, text := l.Texts[name]
	return number || text
}

// read makes m the newest measurement.
func (l *latest) read(m *event.Measurement) {
	l.IntervalMs, l.Values, l.Texts = m.IntervalMs, map[string]float64{}, map[string]string{}
	for k, v := range m.All() {
		l.Values[k.String()] = v
	}
	for k, text := range map[protocol.Measure]string{
		protocol.Codec: m.Codec, protocol.RID: m.RID, protocol.ContentType: m.Content, protocol.Limitation: m.Limitation,
	} {
		if text != "" {
			l.Texts[k.String()] = text
		}
	}
}

// measure describes a measure, so that the page can draw one that it has no code for.
type measure struct {
	Name string  `json:"name"`           // name of the measure
	Unit string  `json:"unit,omitempty"` // UCUM; empty for text
	Max  float64 `json:"max,omitempty"`  // largest value that is in range; absent: none
	Note string  `json:"note"`           // meaning of the measure
}

// measuresOf describes the measures of the streams' newest measurements, in the protocol's order.
func measuresOf(all []*stream) []measure {
	out := []measure{}
	for k := range protocol.NumMeasures {
		info := k.Info()
		if slices.ContainsFunc(all, func(s *stream) bool { return s.Latest.has(info.Name) }) {
			out = append(out, measure{Name: info.Name, Unit: info.Unit, Max: info.Max, Note: info.Note})
		}
	}
	return out
}

// MarshalJSON puts the columns beside the head, as arrays.
func (s *stream) MarshalJSON() ([]byte, error) {
	b, err := json.Marshal(s.streamHead)
	if err != nil {
		return nil, err
	}
	b[len(b)-1] = ','
	return append(s.appendJSON(b), '}'), nil
}

type streamKey struct {
	fabricKey
	statsType, mediaType, rid string
	ssrc                      int64
}

// association is what associateMstWithUserID said about an SSRC.
type association struct{ user, usageLabel string }

type ssrcKey struct {
	fabricKey
	ssrc int64
}

type streams struct {
	names   names
	byKey   map[streamKey]*stream
	owners  map[ssrcKey]association
	leftOut int
}

func newStreams(n names) streams {
	return streams{names: n, byKey: map[streamKey]*stream{}, owners: map[ssrcKey]association{}}
}

// add takes one row of a measurement.
func (s *streams) add(e *event.Event, r *storage.Record) {
	m := e.Measured
	if m == nil { // a frame without rows says only "alive"
		return
	}
	key := streamKey{fabricKey: fabricKey{e.Session, e.Fabric}, statsType: m.StatsType, mediaType: m.MediaType, rid: m.RID, ssrc: m.SSRC}
	one := s.byKey[key]
	if one == nil {
		if len(s.byKey) == maxStreams {
			s.leftOut++
			return
		}
		one = &stream{streamHead: streamHead{
			Session: e.Session, Fabric: e.Fabric, SSRC: key.ssrc,
			StatsType: key.statsType, MediaType: key.mediaType, RID: key.rid,
		}}
		s.byKey[key] = one
	}
	keep(m.Codec, &one.Codec)
	keep(m.Score.Label, &one.Label)
	one.NoScore = m.Score.Reason
	one.noteScore(e, r)
	one.add(e.AtMs, pointOf(m))
	one.newest = *m
	one.Latest.At = e.AtMs
}

// associate remembers whose media an SSRC carries.
func (s *streams) associate(e *event.Event) {
	if e.Name != "associateMstWithUserID" || e.Data == nil || len(s.owners) == maxStreams {
		return
	}
	s.owners[ssrcKey{fabricKey{e.Session, e.Fabric}, e.Data.SSRC}] = association{user: e.Data.Alias, usageLabel: e.Data.UsageLabel}
}

// list returns the streams by session, fabric, direction, media and SSRC.
func (s *streams) list(fabrics map[fabricKey]*fabric) []*stream {
	out := make([]*stream, 0, len(s.byKey))
	for key, one := range s.byKey {
		owner := s.owners[ssrcKey{key.fabricKey, key.ssrc}]
		one.User, one.UsageLabel = owner.user, owner.usageLabel
		if f := fabrics[key.fabricKey]; one.User == "" && f != nil && key.statsType == "inbound-rtp" {
			one.User = f.RemoteUser
		}
		one.Latest.read(&one.newest)
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b *stream) int {
		return cmp.Or(
			cmp.Compare(a.Session, b.Session), cmp.Compare(a.Fabric, b.Fabric),
			cmp.Compare(a.StatsType, b.StatsType), cmp.Compare(a.MediaType, b.MediaType),
			cmp.Compare(a.SSRC, b.SSRC), cmp.Compare(a.RID, b.RID),
		)
	})
	return out
}
