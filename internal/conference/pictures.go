package conference

import (
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// Firefox has no quantiser of received video, so its scores rest on the bit rate, and a still picture
// needs few bits. The sender of the stream knows the quantiser.

// pictures is what a stream of video says of its pictures.
type pictures struct {
	measured scored // of received video whose quantiser is unknown, by its bit rate
	shown    dist   // of the same: what of a perfectly coded picture was shown, 0 to 1
	coding   dist   // of sent video, by its quantiser, 0 to 1
}

func (d *pictures) merge(o *pictures) {
	d.measured.merge(&o.measured)
	d.shown.merge(&o.shown)
	d.coding.merge(&o.coding)
}

// ofPictures returns the stream's pictures.
func (s *stream) ofPictures() *pictures {
	if s.pictures == nil {
		s.pictures = new(pictures)
	}
	return s.pictures
}

// addPicture adds the score of an interval of video, or of what was sent its coding. It reports
// whether the score was added.
func (s *stream) addPicture(e *event.Event, ms int64) bool {
	m := e.Measured
	if !m.Video() {
		return false
	}
	if m.Outbound() {
		if !m.Known(protocol.QP) {
			return false
		}
		if coding, ok := quality.Coding(m.Codec, m.Get(protocol.QP)); ok {
			s.ofPictures().coding.add(coding, ms)
		}
		return false
	}
	if m.Known(protocol.QP) || m.Screen || !m.Score.MOS.Known {
		return false
	}
	shown, ok := quality.Shown(m, quality.DefaultVideoParams())
	if !ok {
		return false
	}
	s.ofPictures().measured.add(m.Score.MOS.V, ms, m.Score.Label)
	s.pictures.shown.add(shown, ms)
	return true
}

// addPictures adds the scores of pictures whose quantiser is unknown: by their sender's coding, or as
// measured if that is unknown too.
func (d *scored) addPictures(own, sent *pictures, labels quality.Bounds) {
	switch {
	case own == nil:
		return
	case sent == nil:
		d.merge(&own.measured)
		return
	}
	coding := sent.coding.mean()
	for _, b := range own.shown.buckets {
		mos := quality.VideoMOS(coding, own.shown.value(b))
		d.add(mos, b.weight(), quality.Label(mos, labels))
	}
}

// sentVideo has the pictures of sent video. A media server forwards it under another SSRC.
type sentVideo struct {
	bySSRC   map[int64]*pictures
	toServer map[string]*pictures // by user: of those who send a single video to a server
}

// of returns the pictures of a received stream as its sender knows them, nil if it is unknown.
func (v *sentVideo) of(f *fabric, ssrc int64) *pictures {
	if !f.server {
		return v.bySSRC[ssrc]
	}
	return v.toServer[f.ownerOf(ssrc)]
}

func (c *Conference) sentVideo() *sentVideo {
	return &sentVideo{bySSRC: c.sentBySSRC(), toServer: c.sentToServer()}
}

func (c *Conference) sentToServer() map[string]*pictures {
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
	single := map[string]*pictures{}
	for user, videos := range all {
		if len(videos) == 1 {
			single[user] = videos[0]
		}
	}
	return single
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
