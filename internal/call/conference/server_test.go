package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/call/conference/conferencetest"
	"github.com/qosrtc/qos/internal/call/detect"
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/internal/call/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestServersWithoutAnAttribute: a remote end that all connections of several participants have, and that is no participant, is a media
// server: it need not forward a picture. A participant, or the end of one user alone, is none.
//
// spec: CONF-03, CONF-06
func TestServersWithoutAnAttribute(t *testing.T) {
	f := func(isFault, isOneUser bool, remotes ...string) {
		t.Helper()
		c := &conferencetest.Call{}
		for i, remote := range remotes {
			session := string(rune('a' + i))
			user := session
			if isOneUser {
				user = "a"
			}
			from := len(c.Events)
			c.Event(session, 0, "fabricAdded", `{}`)
			c.Event(session, 1, "fabricSetup", `{"setupMs":1000}`)
			for at := 2.0; at <= 80; at += 2 {
				for _, statsType := range []string{protocol.OutboundRTP, protocol.InboundRTP} {
					for _, media := range []string{protocol.Audio, protocol.Video} {
						about := event.Measurement{StatsType: statsType, MediaType: media, SSRC: int64(10*i + len(statsType) + len(media)), IntervalMs: 2000}
						m := eventtest.With(about, flowing(&about))
						if i == 0 && statsType == protocol.InboundRTP && media == protocol.Video && at > 20 {
							gone(&m)
						}
						c.Add(session, at, event.Event{Kind: event.KindStats, Measured: &m})
					}
				}
			}
			for k := range c.Events[from:] {
				c.Events[from+k].UserID, c.Events[from+k].RemoteUser = user, remote
			}
		}
		s := conferencetest.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, isFault, has(&s, detect.OneWayMedia), "%v: %v", remotes, s.Issues)
	}
	f(false, false, "sfu", "sfu")
	f(false, false, "sfu", "sfu", "sfu")
	f(true, false, "b", "a")
	f(true, false, "sfu", "mixer")
	f(true, false, "b", "c", "b")
	f(true, true, "ben", "ben") // a comes back
}
