package storagetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/internal/record/semconv"
	"github.com/qosrtc/qos/protocol"
	"github.com/qosrtc/qos/storage"
)

// Call returns the measurements of a call through a media server, one batch a frame, in
// order of time: the data that the library sends every ten seconds, with its rounding, and the
// scores with their inputs that the quality processor adds. Networks are noisy, and sometimes
// bad. The result depends on the arguments only.
func Call(people, frames int, start time.Time) (out []storage.Batch) {
	c := &caller{Rand: rand.New(rand.NewPCG(1, 2))}
	for who := range people {
		for range people - 1 {
			c.add(who, "inbound-rtp", "audio")
			c.add(who, "inbound-rtp", "video")
		}
		c.add(who, "outbound-rtp", "audio")
		c.add(who, "outbound-rtp", "video")
		c.add(who, "candidate-pair", "")
	}
	for seq := range frames {
		for who := range people {
			out = append(out, c.frame(who, uint64(seq+1), start))
		}
	}
	return out
}

type caller struct {
	*rand.Rand
	streams []*stream
}

// stream is one row of each frame of a participant. Its trouble varies between 0 and 1.
type stream struct {
	who         int
	kind, media string
	ssrc        int64
	trouble     float64
}

func (c *caller) add(who int, kind, media string) {
	c.streams = append(c.streams, &stream{who, kind, media, int64(c.Uint32()), c.Float64() / 3})
}

func (c *caller) frame(who int, seq uint64, start time.Time) storage.Batch {
	id := sessionID(who)
	at := start.Add(time.Duration(who)*1700*time.Millisecond + time.Duration(seq)*10*time.Second + time.Duration(c.IntN(20))*time.Millisecond)
	b := storage.Batch{Session: storage.Session{ID: id, AppID: app, UserID: fmt.Sprint("user ", who), UserAlias: fmt.Sprint("alias ", who)}}
	interval := 10_000 + float64(c.IntN(20))
	for _, s := range c.streams {
		if s.who != who {
			continue
		}
		b.Records = append(b.Records, storage.Record{
			Seq: seq, Index: len(b.Records), ConferenceID: call, ConferenceAt: start.Add(time.Duration(who) * 1700 * time.Millisecond), Fabric: 1,
			Name: "qos.stats", At: at, ObservedAt: at.Add(time.Duration(20+c.IntN(30)) * time.Millisecond), Activity: true,
			Attributes: c.measure(s, interval),
		})
	}
	for i := range b.Records {
		b.Records[i].ObservedAt = b.Records[0].ObservedAt
	}
	return b
}

// measured builds a row.
type measured struct {
	*caller
	*stream
	a map[string]any
}

func (c *caller) measure(s *stream, interval float64) map[string]any {
	s.trouble = min(1, max(0, s.trouble+(c.Float64()-0.52)/10))
	if c.IntN(200) == 0 {
		s.trouble = 1
	}
	m := &measured{c, s, map[string]any{
		"qos.interval_ms": interval, "qos.stats.type": s.kind, "qos.fabric.usage": "multiplex", "qos.fabric.direction": "sendrecv",
		"qos.remote.endpoint_type": "server", "qos.remote.user.id": "room", "qos.remote.user.alias": "room",
	}}
	m.value("rtt_ms", m.about(38+40*s.trouble, 0.05), 1)
	switch s.kind + s.media {
	case "inbound-rtpaudio":
		m.audioIn()
	case "inbound-rtpvideo":
		m.videoIn()
	case "outbound-rtpaudio":
		m.audioOut()
	case "outbound-rtpvideo":
		m.videoOut()
	default:
		m.count("bytes_sent", int64(m.about(2_000_000, 0.1)))
		m.count("bytes_received", int64(m.about(2_000_000, 0.1)))
		m.value("available_outgoing_bps", m.about(2_500_000, 0.1), 0)
	}
	return m.a
}

func (m *measured) count(name string, v int64) { m.a["qos.stats."+name] = v }

func (m *measured) value(name string, v float64, decimals int) {
	scale := math.Pow10(decimals)
	m.a["qos.stats."+name] = math.Round(v*scale) / scale
}

// about returns a random number near v, at most share away from it.
func (m *measured) about(v, share float64) float64 { return v * (1 + share*(2*m.Float64()-1)) }

// rarely returns a small random count; 0 without trouble.
func (m *measured) rarely(limit float64) int64 {
	return int64(limit * m.trouble * m.trouble * m.trouble * m.Float64())
}

func (m *measured) rtp(codec string, packets, bytes int64) {
	m.a["qos.media.type"], m.a["qos.stats.codec"] = m.media, codec
	m.count("ssrc", m.ssrc)
	m.count("packets", packets)
	m.count("bytes", bytes)
}

func (m *measured) opus() {
	packets := int64(m.about(500, 0.004))
	m.rtp("opus", packets, int64(m.about(80, 0.15)*float64(packets)))
	m.value("audio_level", m.about(0.03, 0.9), 4)
}

func (m *measured) audioIn() {
	m.opus()
	lost := m.rarely(60)
	m.count("packets_lost", lost)
	m.count("packets_discarded", m.rarely(9))
	m.count("fec_packets", 0)
	m.value("jitter_ms", m.about(3+20*m.trouble, 0.3), 1)
	m.value("jitter_buffer_delay_ms", m.about(45+60*m.trouble, 0.1), 1)
	m.count("samples", 480_000+960*m.rarely(9))
	m.count("concealed_samples", 960*lost+m.rarely(900))
	m.count("silent_concealed_samples", 96*lost)
	m.count("concealment_events", lost)
	m.scoreAudio(false)
}

func (m *measured) audioOut() {
	m.opus()
	m.value("target_bitrate_bps", 32_000, 0)
	m.count("nacks", 0)
	m.count("retransmitted_packets", 0)
	m.remote()
	m.scoreAudio(true)
}

func (m *measured) vp8() (frames int64) {
	bytes := m.about(1_900_000*(1-m.trouble/2), 0.1)
	frames = int64(m.about(300, 0.01))
	m.rtp("VP8", int64(bytes/1100), int64(bytes))
	m.count("frames", frames)
	m.count("key_frames", m.rarely(2))
	m.count("width", 1280)
	m.count("height", 720)
	m.value("fps", float64(frames)*1000/m.a["qos.interval_ms"].(float64), 2)
	m.value("qp", m.about(22+20*m.trouble, 0.1), 1)
	m.count("plis", m.rarely(3))
	m.count("firs", 0)
	m.count("nacks", m.rarely(40))
	again := m.rarely(40)
	m.count("retransmitted_packets", again)
	m.count("retransmitted_bytes", again*1100)
	return frames
}

func (m *measured) videoIn() {
	frames := m.vp8()
	m.count("packets_lost", m.rarely(80))
	m.value("jitter_ms", m.about(5+30*m.trouble, 0.3), 1)
	m.value("jitter_buffer_delay_ms", m.about(60+80*m.trouble, 0.1), 1)
	m.count("frames_decoded", frames-m.rarely(4))
	m.count("frames_dropped", m.rarely(4))
	m.value("harmonic_fps", m.about(float64(frames)/10-2*m.trouble, 0.01), 2)
	freezes := m.rarely(3)
	m.count("freezes", freezes)
	m.count("freezes60s", freezes)
	m.value("freeze_ms", float64(freezes)*m.about(400, 0.5), 1)
	m.count("pauses", 0)
	m.value("pause_ms", 0, 1)
	m.value("decode_ms", m.about(900, 0.1), 1)
	m.count("displayed_pixels", 640*360)
	m.scoreVideo(false)
}

func (m *measured) videoOut() {
	m.count("frames_encoded", m.vp8())
	m.value("encode_ms", m.about(2100, 0.1), 1)
	m.value("target_bitrate_bps", m.about(1_700_000*(1-m.trouble/2), 0.05), 0)
	m.value("cpu_limited_ms", 0, 1)
	m.value("bandwidth_limited_ms", 0, 1)
	m.a["qos.stats.limitation"] = "none"
	m.remote()
	m.scoreVideo(true)
}

func (m *measured) remote() {
	lost := m.rarely(60)
	m.count("remote_packets_lost", lost)
	m.value("remote_loss_fraction", float64(lost)/500, 4)
	m.value("remote_jitter_ms", m.about(3+20*m.trouble, 0.3), 1)
}

// measurement is the input of a score.
func (m *measured) measurement(outbound bool, mediaType, codec string) *event.Measurement {
	out := &event.Measurement{StatsType: protocol.InboundRTP, MediaType: mediaType, Codec: codec, IntervalMs: m.a["qos.interval_ms"].(float64)}
	if outbound {
		out.StatsType = protocol.OutboundRTP
	}
	for k := range protocol.NumMeasures {
		switch v := m.a[semconv.Measure(k)].(type) {
		case int64:
			out.Set(k, float64(v))
		case float64:
			out.Set(k, v)
		}
	}
	return out
}

func (m *measured) scoreAudio(outbound bool) {
	res := quality.ScoreAudio(m.measurement(outbound, protocol.Audio, "opus"))
	res.Round()
	m.a["qos.quality.mos_listening"], m.a["qos.quality.r"] = res.MOSListening, res.R
	m.score(&res)
}

func (m *measured) scoreVideo(outbound bool) {
	res := quality.ScoreVideo(m.measurement(outbound, protocol.Video, "VP8"), quality.DefaultVideoParams())
	res.Round()
	m.score(&res)
}

func (m *measured) score(res *quality.Result) {
	m.a["qos.quality.mos"], m.a["qos.quality.model"] = res.MOS, res.Model
	m.a["qos.quality.label"] = quality.Label(res.MOS, quality.Bounds{4.2, 3.8, 3.2, 2.6})
	if res.Assumed != 0 {
		m.a["qos.quality.assumed"] = res.Assumed.String()
	}
	for _, in := range res.Inputs() {
		m.a["qos.quality.input."+in.Name.String()] = in.Value
	}
}
