package fleet

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/protocol"
)

// path is the state of a connection's network, as one end measures it in one interval.
type path struct {
	lossIn, lossOut, jitterMs, rttMs float64
}

// measure adds the measurements of one end of a connection.
func (s *script) measure(n *connection, end int, startMs, endMs int64) {
	if s.every == 0 {
		return
	}
	every := s.every.Milliseconds()
	for at := startMs + every; at <= endMs; at += every {
		step := s.add(n.ends[end], n.fabs[end], at)
		step.Stats = &Stats{IntervalMs: float64(every), Rows: s.rows(s.path(n, end, at), end, float64(every)/1000)}
	}
}

// path adds up the networks of both ends. A server has a good one.
func (s *script) path(n *connection, end int, atMs int64) path {
	own := s.access(n.ends[end], atMs)
	p := path{own.lossFraction, own.lossFraction / 2, own.jitterMs, own.rttMs}
	if other := n.others[end]; other != nil {
		far := s.access(other, atMs)
		p.lossIn, p.lossOut = own.lossFraction+far.lossFraction/2, far.lossFraction+own.lossFraction/2
		p.jitterMs, p.rttMs = own.jitterMs+far.jitterMs, own.rttMs+far.rttMs
	}
	wobble := func(v float64) float64 { return v * (0.7 + 0.6*s.noise.Float64()) }
	return path{wobble(p.lossIn), wobble(p.lossOut), wobble(p.jitterMs), wobble(p.rttMs)}
}

// access is the access network of a session at a time, with all that was planted.
func (s *script) access(p *Session, atMs int64) network {
	n := p.network
	effect, _ := s.day.effect(p, atMs)
	n.lossFraction += effect.LossFraction
	n.jitterMs += effect.JitterMs
	n.rttMs += effect.RTTMs
	if atMs >= n.badFromMs && atMs < n.badToMs {
		n.lossFraction += 0.1
		n.jitterMs += 40
		n.rttMs += 150
	}
	return n
}

const (
	audioPackets, audioBps = 50.0, 40_000.0
	videoPackets, videoBps = 120.0, 1_200_000.0
	fps                    = 30.0
)

// rows are the measurements of one interval: what is received, what is sent, and the pair.
func (s *script) rows(p path, end int, seconds float64) []event.Measurement {
	rows := []event.Measurement{audioIn(p, end, seconds), audioOut(p, end, seconds)}
	if s.c.app.Video {
		rows = append(rows, videoIn(p, end, seconds), videoOut(p, end, seconds))
	}
	return append(rows, pair(p, seconds, s.c.app.Video))
}

func row(statsType, media string, ssrc int64, codec string, seconds float64, values map[protocol.Measure]float64) event.Measurement {
	m := event.Measurement{StatsType: statsType, MediaType: media, SSRC: ssrc, Codec: codec, IntervalMs: seconds * 1000}
	for k, v := range values {
		if k.Info().Type == protocol.Int {
			v = float64(int64(v))
		}
		m.Set(k, v)
	}
	return m
}

func ssrc(end int, video bool, inbound bool) int64 {
	n := int64(1000 + 100*end)
	if inbound {
		n = int64(1000 + 100*(1-end))
	}
	if video {
		n++
	}
	return n
}

func audioIn(p path, end int, seconds float64) event.Measurement {
	sent := audioPackets * seconds
	lost := float64(int64(sent * p.lossIn))
	samples := 48_000 * seconds
	return row(protocol.InboundRTP, protocol.Audio, ssrc(end, false, true), "opus", seconds, map[protocol.Measure]float64{
		protocol.Packets: sent - lost, protocol.PacketsLost: lost, protocol.Bytes: audioBps / 8 * seconds * (1 - p.lossIn),
		protocol.JitterMs: p.jitterMs, protocol.JitterBufferDelayMs: 30 + 2*p.jitterMs,
		protocol.Samples: samples, protocol.ConcealedSamples: samples * p.lossIn * 0.8, protocol.SilentConcealedSamples: 0,
		protocol.ConcealmentEvents: 0.7 * lost, protocol.AudioLevel: 0.05,
	})
}

func audioOut(p path, end int, seconds float64) event.Measurement {
	sent := audioPackets * seconds
	return row(protocol.OutboundRTP, protocol.Audio, ssrc(end, false, false), "opus", seconds, map[protocol.Measure]float64{
		protocol.Packets: sent, protocol.Bytes: audioBps / 8 * seconds, protocol.TargetBitrateBps: audioBps, protocol.RTTMs: p.rttMs,
		protocol.RemotePacketsLost: sent * p.lossOut, protocol.RemoteLossFraction: p.lossOut, protocol.RemoteJitterMs: p.jitterMs, protocol.AudioLevel: 0.05,
	})
}

func videoIn(p path, end int, seconds float64) event.Measurement {
	sent := videoPackets * seconds
	lost := float64(int64(sent * p.lossIn))
	freezes := float64(int64(100 * max(0, p.lossIn-0.03)))
	return row(protocol.InboundRTP, protocol.Video, ssrc(end, true, true), "VP8", seconds, map[protocol.Measure]float64{
		protocol.Packets: sent - lost, protocol.PacketsLost: lost, protocol.Bytes: videoBps / 8 * seconds * (1 - p.lossIn),
		protocol.JitterMs: p.jitterMs, protocol.JitterBufferDelayMs: 40 + 2*p.jitterMs,
		protocol.Frames: fps * seconds, protocol.FramesDecoded: fps * seconds, protocol.FramesDropped: 0, protocol.KeyFrames: 1,
		protocol.Width: 1280, protocol.Height: 720, protocol.FPS: fps, protocol.Freezes: freezes, protocol.FreezeMs: 400 * freezes,
		protocol.Freezes60s: freezes * min(1, 60/seconds), protocol.PLIs: freezes, protocol.NACKs: lost, protocol.DecodeMs: 4 * fps * seconds, protocol.QP: 30,
	})
}

func videoOut(p path, end int, seconds float64) event.Measurement {
	sent := videoPackets * seconds
	m := row(protocol.OutboundRTP, protocol.Video, ssrc(end, true, false), "VP8", seconds, map[protocol.Measure]float64{
		protocol.Packets: sent, protocol.Bytes: videoBps / 8 * seconds, protocol.TargetBitrateBps: videoBps, protocol.RTTMs: p.rttMs,
		protocol.RemotePacketsLost: sent * p.lossOut, protocol.RemoteLossFraction: p.lossOut, protocol.RemoteJitterMs: p.jitterMs,
		protocol.Frames: fps * seconds, protocol.FramesEncoded: fps * seconds, protocol.KeyFrames: 1,
		protocol.Width: 1280, protocol.Height: 720, protocol.FPS: fps, protocol.EncodeMs: 6 * fps * seconds, protocol.QP: 30,
		protocol.CPULimitedMs: 0, protocol.BandwidthLimitedMs: 0,
	})
	m.Limitation = "none"
	return m
}

func pair(p path, seconds float64, withVideo bool) event.Measurement {
	bps := audioBps
	if withVideo {
		bps += videoBps
	}
	return row(protocol.CandidatePair, "", 0, "", seconds, map[protocol.Measure]float64{
		protocol.BytesSent: bps / 8 * seconds, protocol.BytesReceived: bps / 8 * seconds * (1 - p.lossIn),
		protocol.RTTMs: p.rttMs, protocol.AvailableOutgoingBps: 2 * bps,
	})
}
