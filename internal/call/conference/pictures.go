package conference

import (
	"math"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// Firefox, and decoders in hardware, report no quantiser of received video, so that its scores assume one. The sender of the stream
// reports it.

// pictures are the sizes of a stream's pictures and how well they are coded.
type pictures struct {
	pixels  newest[float64] // of a picture
	assumed scored          // of received video: scores that assume a quantiser
	coding  dist            // of sent video, by its quantiser, 0 to 1
}

func (d *pictures) merge(o *pictures) {
	d.pixels.merge(o.pixels)
	d.assumed.merge(&o.assumed)
	d.coding.merge(&o.coding)
}

// ofPictures returns the stream's pictures.
func (s *stream) ofPictures() *pictures {
	if s.pictures == nil {
		s.pictures = new(pictures)
	}
	return s.pictures
}

// scoredWith returns the stream's scores, those that assume a quantiser or the others.
func (s *stream) scoredWith(assumed bool) *scored {
	if assumed {
		return &s.ofPictures().assumed
	}
	return &s.scored
}

// addPicture adds an interval of video: of sent video its coding, of received video without a quantiser its size. It reports whether
// the score assumes a quantiser.
func (s *stream) addPicture(e *event.Event, ms int64) (assumed bool) {
	m := e.Measured
	if !m.Video() {
		return false
	}
	coding, known := quality.Coding(m)
	switch {
	case m.Outbound() && known: // a lower layer, which has no score, too
		s.ofPictures().coding.add(coding, ms)
	case m.Inbound() && !known && m.Score.MOS.Known:
		assumed = true
	default:
		return false
	}
	if pixels := m.Get(protocol.Width) * m.Get(protocol.Height); pixels > 0 {
		s.ofPictures().pixels.put(e.Rank(), pixels)
	}
	return assumed
}

// addAssumed adds scores that assume a quantiser, with that of the sender if it is known.
func (d *scored) addAssumed(own, sent *pictures, labels quality.Bounds) {
	if own == nil {
		return
	}
	if sent == nil {
		d.merge(&own.assumed)
		return
	}
	for _, b := range own.assumed.mos.buckets {
		mos := sent.score(own.assumed.mos.value(b))
		d.add(mos, b.weight(), quality.Label(mos, labels))
	}
}

// score returns a score that assumed a quantiser with that of these pictures, which were sent.
func (d *pictures) score(mos float64) float64 { return quality.WithCoding(mos, d.coding.mean()) }

// sentVideo has the pictures of sent video. A media server forwards it under another SSRC.
type sentVideo struct {
	bySSRC   map[int64]*pictures
	toServer map[string][]*pictures // by user: of the videos to a server
}

// of returns the pictures of a received stream as its sender reports them, nil if it is unknown: behind a media server those of its owner whose
// size is the nearest, since a server forwards one layer or video of several as it is.
func (v *sentVideo) of(f *fabric, ssrc int64, received *pictures) (sent *pictures) {
	if received == nil {
		return nil
	}
	if !f.server {
		return v.bySSRC[ssrc]
	}
	videos := v.toServer[f.ownerOf(ssrc)]
	if len(videos) == 1 {
		return videos[0]
	}
	nearest := math.Inf(1)
	for _, one := range videos {
		switch distance := math.Abs(math.Log(one.pixels.value / received.pixels.value)); {
		case distance < nearest:
			sent, nearest = one, distance
		case distance == nearest:
			sent = nil // two videos of one size
		}
	}
	return sent
}

func (c *Conference) sentVideo() *sentVideo {
	return &sentVideo{bySSRC: c.sentBySSRC(), toServer: c.sentToServer()}
}

func (c *Conference) sentToServer() map[string][]*pictures {
	all := map[string][]*pictures{}
	for _, p := range c.participants {
		for _, f := range p.fabrics {
			for key, s := range f.streams {
				if f.server && key.statsType == outboundRTP && s.pictures != nil {
					all[p.user] = append(all[p.user], s.pictures)
				}
			}
		}
	}
	return all
}

// sentBySSRC returns the pictures of sent video by SSRC. Of several streams with the same SSRC it has the
// one with most evidence, of equal ones that of the first session.
func (c *Conference) sentBySSRC() map[int64]*pictures {
	type origin struct {
		session string
		sent    *pictures
	}
	best := map[int64]origin{}
	for session, p := range c.participants {
		for _, f := range p.fabrics {
			for key, s := range f.streams {
				if key.statsType != outboundRTP || s.pictures == nil {
					continue
				}
				have, ok := best[key.ssrc]
				more := !ok || s.pictures.coding.weight > have.sent.coding.weight
				if more || s.pictures.coding.weight == have.sent.coding.weight && session < have.session {
					best[key.ssrc] = origin{session, s.pictures}
				}
			}
		}
	}
	sent := make(map[int64]*pictures, len(best))
	for ssrc, o := range best {
		sent[ssrc] = o.sent
	}
	return sent
}
