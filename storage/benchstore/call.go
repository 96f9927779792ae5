package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/qosrtc/qos/internal/semconv"
)

const (
	interval  = 10 * time.Second // between two measurements
	jitter    = 20               // ms by which a browser's timer misses it
	wayMs     = 35               // from a browser to the receiver
	joinMs    = 1700             // between two people who join
	firstSSRC = 1 << 31
	oneApp    = "app" // of all calls that are made here
)

// What sessions say of themselves.
const (
	applicationVersion = "4.2.0"
	libraryVersion     = "0.1.0"
	userAgent          = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
)

// person is one session in a conference, as its browser measures it: a fabric with audio
// and video to it from each of the others, audio and video from it, and the candidate pair.
type person struct {
	conference, session, name string
	joined                    time.Time
	streams                   []stream
	random                    *rand.Rand
	seq                       uint64
}

// stream is one row of each frame; mood says how its network does at present, 0 to 1.
type stream struct {
	kind, media string
	ssrc        int64
	mood        float64
	write       func(*row)
}

// meeting makes the people of one conference. The same seed makes the same people.
func meeting(conference string, people int, start time.Time, seed uint64) []*person {
	random := rand.New(rand.NewPCG(seed, 0x716f73)) //nolint:gosec // a model of noise, no secret
	out := make([]*person, people)
	for i := range out {
		joined := start.Add(time.Duration(i*joinMs) * time.Millisecond)
		p := &person{
			conference: conference, session: sessionID(joined, random), name: fmt.Sprintf("person-%d-%d", seed, i),
			joined: joined, random: rand.New(rand.NewPCG(seed, uint64(i))), //nolint:gosec // as above
		}
		for range people - 1 {
			p.add("inbound-rtp", "audio", audioIn)
			p.add("inbound-rtp", "video", videoIn)
		}
		p.add("outbound-rtp", "audio", audioOut)
		p.add("outbound-rtp", "video", videoOut)
		p.add("candidate-pair", "", pair)
		out[i] = p
	}
	return out
}

func (p *person) add(kind, media string, write func(*row)) {
	p.streams = append(p.streams, stream{kind, media, firstSSRC + p.random.Int64N(firstSSRC), p.random.Float64() / 3, write})
}

// newSessionID is a UUID version 7 of a time.
func newSessionID(at time.Time, random *rand.Rand) (id [16]byte) {
	binary.BigEndian.PutUint64(id[:], uint64(at.UnixMilli())<<16|0x7000|random.Uint64N(1<<12))
	binary.BigEndian.PutUint64(id[8:], 1<<63|random.Uint64N(1<<62))
	return id
}

func sessionID(at time.Time, random *rand.Rand) string {
	id := newSessionID(at, random)
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// measure returns the next measurement as the receiver passes it on.
func (p *person) measure() plog.Logs {
	p.seq++
	at := p.joined.Add(time.Duration(p.seq)*interval + time.Duration(p.random.IntN(jitter))*time.Millisecond)
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	p.describe(resource.Resource().Attributes())
	scope := resource.ScopeLogs().AppendEmpty()
	scope.Scope().SetName(semconv.ScopeName)
	p.describeFabric(scope.Scope().Attributes())
	for i := range p.streams {
		r := scope.LogRecords().AppendEmpty()
		r.SetEventName(semconv.EventStats)
		r.SetTimestamp(pcommon.NewTimestampFromTime(at))
		r.SetObservedTimestamp(pcommon.NewTimestampFromTime(at.Add(wayMs * time.Millisecond)))
		r.Attributes().PutInt(semconv.FrameSeq, int64(p.seq))
		r.Attributes().PutInt(semconv.FrameIndex, int64(i))
		p.measureStream(&p.streams[i], r.Attributes())
	}
	return logs
}

func (p *person) describe(a pcommon.Map) {
	a.PutStr(semconv.AppID, oneApp)
	a.PutStr(semconv.SessionID, p.session)
	a.PutStr(semconv.UserID, p.name)
	a.PutStr(semconv.UserAlias, p.name)
	a.PutStr(semconv.ApplicationVersion, applicationVersion)
	a.PutStr(semconv.LibraryVersion, libraryVersion)
	a.PutStr(semconv.UserAgent, userAgent)
}

func (p *person) describeFabric(a pcommon.Map) {
	a.PutStr(semconv.ConferenceID, p.conference)
	a.PutInt(semconv.ConferenceAt, p.joined.UnixMilli())
	a.PutInt(semconv.FabricID, 1)
	a.PutStr(semconv.FabricUsage, "multiplex")
	a.PutStr(semconv.FabricDirection, "sendrecv")
	a.PutStr(semconv.RemoteEndpointType, "peer")
	a.PutStr(semconv.RemoteUserID, p.name+"-remote")
	a.PutStr(semconv.RemoteUserAlias, p.name+"-remote")
}

// measureStream writes a row. The mood wanders, and falls now and then: measurements that
// follow each other are alike, as those of a call are.
func (p *person) measureStream(s *stream, a pcommon.Map) {
	s.mood = min(1, max(0, s.mood+(p.random.Float64()-0.52)/10))
	if p.random.IntN(200) == 0 {
		s.mood = 1
	}
	a.PutDouble(semconv.IntervalMs, 10_000+float64(p.random.IntN(jitter)))
	a.PutStr(semconv.StatsType, s.kind)
	if s.media != "" {
		a.PutStr(semconv.MediaType, s.media)
	}
	r := &row{stream: s, random: p.random, out: a}
	if s.media != "" {
		r.count("ssrc", s.ssrc)
		r.text("codec", map[string]string{"audio": "opus", "video": "VP8"}[s.media])
	}
	s.write(r)
}

// row is one measurement of a stream that is being written.
type row struct {
	*stream
	random *rand.Rand
	out    pcommon.Map
}

func (r *row) count(name string, v int64) { r.out.PutInt(semconv.Stats(name), v) }

func (r *row) text(name, v string) { r.out.PutStr(semconv.Stats(name), v) }

// value is rounded as the library rounds.
func (r *row) value(name string, v float64, decimals int) {
	scale := math.Pow10(decimals)
	r.out.PutDouble(semconv.Stats(name), math.Round(v*scale)/scale)
}

// about returns a number near v, at most share away from it.
func (r *row) about(v, share float64) float64 { return v * (1 + share*(2*r.random.Float64()-1)) }

// rarely returns a small count that is 0 as long as the mood is good.
func (r *row) rarely(limit float64) int64 {
	return int64(limit * r.mood * r.mood * r.mood * r.random.Float64())
}

func (r *row) zero(names ...string) {
	for _, name := range names {
		r.count(name, 0)
	}
}

func audioIn(r *row) {
	lost := r.rarely(60)
	packets := int64(r.about(500, 0.004)) - lost
	r.count("packets", packets)
	r.count("bytes", int64(r.about(80, 0.15)*float64(packets)))
	r.count("packetsLost", lost)
	r.count("packetsDiscarded", r.rarely(9))
	r.zero("fecPackets")
	r.value("jitterMs", r.about(3+20*r.mood, 0.3), 1)
	r.value("jitterBufferDelayMs", r.about(45+60*r.mood, 0.1), 1)
	r.value("rttMs", r.about(38+40*r.mood, 0.05), 1)
	concealed := lost * 960
	r.count("samples", 480_000+concealed)
	r.count("concealedSamples", concealed)
	r.count("silentConcealedSamples", concealed/10)
	r.count("concealmentEvents", lost)
	r.value("audioLevel", r.about(0.03, 0.9), 4)
}

func videoIn(r *row) {
	bytes := r.about(1_900_000*(1-r.mood/2), 0.1)
	frames := int64(r.about(300, 0.01))
	r.count("bytes", int64(bytes))
	r.count("packets", int64(bytes/1100))
	r.count("packetsLost", r.rarely(80))
	r.value("jitterMs", r.about(5+30*r.mood, 0.3), 1)
	r.value("jitterBufferDelayMs", r.about(60+80*r.mood, 0.1), 1)
	r.count("frames", frames)
	r.count("framesDecoded", frames-r.rarely(4))
	r.count("framesDropped", r.rarely(4))
	r.count("keyFrames", r.rarely(2))
	r.count("width", 1280)
	r.count("height", 720)
	r.value("fps", float64(frames)/10, 2)
	r.value("harmonicFps", r.about(float64(frames)/10-2*r.mood, 0.01), 2)
	freezes := r.rarely(3)
	r.count("freezes", freezes)
	r.value("freezeMs", float64(freezes)*r.about(400, 0.5), 1)
	r.count("freezes60s", freezes)
	r.zero("pauses")
	r.value("pauseMs", 0, 1)
	r.value("decodeMs", r.about(900, 0.1), 1)
	r.value("qp", r.about(22+20*r.mood, 0.1), 1)
	r.count("plis", r.rarely(3))
	r.zero("firs")
	r.count("nacks", r.rarely(40))
	r.count("retransmittedPackets", r.rarely(40))
	r.count("displayedPixels", 640*360)
}

func audioOut(r *row) {
	packets := int64(r.about(500, 0.002))
	r.count("packets", packets)
	r.count("bytes", int64(r.about(80, 0.15)*float64(packets)))
	r.value("rttMs", r.about(38+40*r.mood, 0.05), 1)
	r.value("audioLevel", r.about(0.03, 0.9), 4)
	r.value("targetBitrateBps", 32_000, 0)
	r.zero("nacks", "retransmittedPackets")
	r.remote()
}

func videoOut(r *row) {
	bytes := r.about(1_900_000*(1-r.mood/2), 0.1)
	frames := int64(r.about(300, 0.01))
	r.count("bytes", int64(bytes))
	r.count("packets", int64(bytes/1100))
	r.value("rttMs", r.about(38+40*r.mood, 0.05), 1)
	r.count("frames", frames)
	r.count("framesEncoded", frames)
	r.count("keyFrames", r.rarely(2))
	r.count("width", 1280)
	r.count("height", 720)
	r.value("fps", float64(frames)/10, 2)
	r.value("encodeMs", r.about(2100, 0.1), 1)
	r.value("qp", r.about(24+20*r.mood, 0.1), 1)
	r.count("plis", r.rarely(3))
	r.zero("firs")
	r.count("nacks", r.rarely(40))
	r.count("retransmittedPackets", r.rarely(40))
	r.count("retransmittedBytes", r.rarely(44_000))
	r.value("targetBitrateBps", r.about(1_700_000*(1-r.mood/2), 0.05), 0)
	r.remote()
	r.text("limitation", "none")
	r.value("cpuLimitedMs", 0, 1)
	r.value("bandwidthLimitedMs", 0, 1)
	r.count("displayedPixels", 320*180)
}

func (r *row) remote() {
	lost := r.rarely(60)
	r.count("remotePacketsLost", lost)
	r.value("remoteLossFraction", float64(lost)/500, 4)
	r.value("remoteJitterMs", r.about(3+20*r.mood, 0.3), 1)
}

func pair(r *row) {
	r.count("bytesSent", int64(r.about(2_000_000, 0.1)))
	r.count("bytesReceived", int64(r.about(2_000_000, 0.1)))
	r.value("rttMs", r.about(38+40*r.mood, 0.05), 1)
	r.value("availableOutgoingBps", r.about(2_500_000, 0.1), 0)
}
