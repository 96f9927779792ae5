package dashboardextension

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/qosrtc/qos/internal/semconv"
	"github.com/qosrtc/qos/storage"
)

// maxStreams bounds the streams of one answer; with maxPoints it bounds its memory.
const maxStreams = 400

// stream is the measurements of one RTP stream, or of a fabric's candidate pair.
type stream struct {
	streamHead
	series
}

// streamHead says which stream it is.
type streamHead struct {
	Session    string `json:"session"`
	Fabric     int    `json:"fabric"`
	SSRC       int64  `json:"ssrc"` // 0: the candidate pair
	StatsType  string `json:"statsType"`
	MediaType  string `json:"mediaType,omitempty"`
	RID        string `json:"rid,omitempty"`
	Codec      string `json:"codec,omitempty"`
	User       string `json:"user,omitempty"`       // whose media it is, where that is known
	UsageLabel string `json:"usageLabel,omitempty"` // of associateMstWithUserID
	Label      string `json:"label,omitempty"`      // the newest quality label
	NoScore    string `json:"noScore,omitempty"`    // why the newest interval has no score

	Lowest *lowest `json:"lowest,omitempty"` // absent where nothing was scored
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
func (s *streams) add(session string, r storage.Record) {
	attrs := attributes(r.Attributes)
	key := streamKey{
		fabricKey: fabricKey{session, r.Fabric},
		statsType: attrs.text(semconv.StatsType),
		mediaType: attrs.text(semconv.MediaType),
		rid:       attrs.text(semconv.Stats("rid")),
		ssrc:      attrs.integer(semconv.Stats("ssrc")),
	}
	if key.statsType == "" { // a frame without rows says only "alive"
		return
	}
	one := s.byKey[key]
	if one == nil {
		if len(s.byKey) == maxStreams {
			s.leftOut++
			return
		}
		one = &stream{streamHead: streamHead{
			Session: session, Fabric: r.Fabric, SSRC: key.ssrc,
			StatsType: key.statsType, MediaType: key.mediaType, RID: key.rid,
		}}
		s.byKey[key] = one
	}
	attrs.keep(semconv.Stats("codec"), &one.Codec)
	attrs.keep(semconv.QualityLabel, &one.Label)
	one.NoScore = attrs.text(semconv.QualityReason)
	one.noteScore(r, attrs)
	one.add(r.At.UnixMilli(), measure(key.statsType, attrs))
}

// associate remembers whose media an SSRC carries.
func (s *streams) associate(session string, r storage.Record) {
	attrs := attributes(r.Attributes)
	if attrs.text(semconv.EventName) != "associateMstWithUserID" || len(s.owners) == maxStreams {
		return
	}
	data, ok := s.names.document(attrs.text(semconv.EventData), hiddenInEvents).(map[string]any)
	if !ok {
		return
	}
	ssrc := attributes(data).integer("ssrc")
	s.owners[ssrcKey{fabricKey{session, r.Fabric}, ssrc}] = association{
		user:       s.names.user(data["userID"]),
		usageLabel: attributes(data).text("usageLabel"),
	}
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
