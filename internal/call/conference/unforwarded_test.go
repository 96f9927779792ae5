package conference_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/cause"
	"github.com/qosrtc/qos/internal/call/conference"
	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// has reports whether a conference has an issue of a kind.
func has(s *conference.Summary, kind detect.Kind) bool {
	return slices.ContainsFunc(s.Issues, func(i conference.Issue) bool { return i.Kind == string(kind) })
}

// TestFirstPictureEndsNoFreeze: a media server forwards no video for a time, which the browser counts as frozen when the next picture
// arrives. It was not watched. Pictures that are frozen at another time are, and between two participants all are.
//
// spec: CONF-03, QUAL-01
func TestFirstPictureEndsNoFreeze(t *testing.T) {
	f := func(want bool, remote string, unforwarded float64, frozenAt float64) {
		t.Helper()
		c := &conferencetest.Call{}
		for _, who := range []string{"a", "b"} {
			c.Event(who, 0, "fabricAdded", `{}`)
			c.Event(who, 1, "fabricSetup", `{"setupMs":1000}`)
		}
		for at := 5.0; at <= 60; at += 5 {
			values := eventtest.Values{protocol.Packets: 500, protocol.Bytes: 500_000, protocol.Frames: 150, protocol.FramesDecoded: 150, protocol.FPS: 30}
			if at > 20 && at <= 20+unforwarded {
				values = eventtest.Values{protocol.Packets: 0, protocol.Bytes: 0, protocol.Frames: 0, protocol.FramesDecoded: 0}
			}
			if at == frozenAt {
				values[protocol.Freezes], values[protocol.FreezeMs] = 1, 20_000
			}
			sound := eventtest.Values{protocol.Packets: 250, protocol.Bytes: 20_000, protocol.PacketsLost: 0}
			for media, values := range map[string]eventtest.Values{protocol.Audio: sound, protocol.Video: values} {
				m := eventtest.With(event.Measurement{StatsType: protocol.InboundRTP, MediaType: media, SSRC: int64(len(media)), IntervalMs: 5000}, values)
				m.Score = event.Score{MOS: event.Known(4.1), Label: quality.Good}
				c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
				sent := eventtest.With(event.Measurement{StatsType: protocol.OutboundRTP, MediaType: media, SSRC: int64(len(media)), IntervalMs: 5000},
					eventtest.Values{protocol.Packets: 500, protocol.Bytes: 500_000, protocol.RTTMs: 20, protocol.RemotePacketsLost: 0})
				c.Add("b", at, event.Event{Kind: event.KindStats, Measured: &sent})
			}
		}
		for i := range c.Events {
			c.Events[i].RemoteType = remote
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, want, has(&s, detect.FrozenVideo))
		if !want {
			require.Equal(t, cause.None, s.LikelyCause.Cause)
		}
	}
	f(false, "server", 20, 45)
	f(true, "server", 20, 55)
	f(true, "server", 0, 45)
	f(true, "peer", 20, 45)
}

// TestDirectMediaLeaveTheServerIdle: while media go both ways between two people, the connection to their server may carry none.
//
// spec: CONF-03
func TestDirectMediaLeaveTheServerIdle(t *testing.T) {
	const idle, direct = 1, 2
	f := func(want bool, remoteType string, until float64, ways ...string) {
		t.Helper()
		c := &conferencetest.Call{}
		add := func(connection int, remoteType string, act func()) {
			from := len(c.Events)
			act()
			for i := range c.Events[from:] {
				c.Events[from+i].Fabric, c.Events[from+i].RemoteType = connection, remoteType
			}
		}
		measure := func(at float64, statsType string, moves bool) {
			about := event.Measurement{StatsType: statsType, MediaType: protocol.Audio, SSRC: int64(len(statsType)), IntervalMs: 2000}
			m := eventtest.With(about, flowing(&about))
			if !moves {
				gone(&m)
			}
			c.Add("a", at, event.Event{Kind: event.KindStats, Measured: &m})
		}
		both := []string{protocol.OutboundRTP, protocol.InboundRTP}
		add(idle, "server", func() {
			c.Event("a", 0, "fabricAdded", `{}`)
			c.Event("a", 1, "fabricSetup", `{"setupMs":1000}`)
		})
		add(direct, remoteType, func() { c.Event("a", 1, "fabricAdded", `{}`) })
		for at := 4.0; at <= 60; at += 2 {
			for _, statsType := range both {
				add(idle, "server", func() { measure(at, statsType, at <= 10) })
				add(direct, remoteType, func() { measure(at, statsType, at <= until && slices.Contains(ways, statsType)) })
			}
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, want, slices.ContainsFunc(s.Issues, func(i conference.Issue) bool { return i.Fabric == idle }), s.Issues)
	}
	both := []string{protocol.OutboundRTP, protocol.InboundRTP}
	f(false, "peer", 60, both...)
	f(true, "peer", 40, both...)
	f(true, "server", 60, both...)
	f(true, "peer", 60, protocol.InboundRTP)
	f(true, "peer", 60, protocol.OutboundRTP)
}
