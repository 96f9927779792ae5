package conference_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/qosrtc/qos/internal/conference"
	"github.com/qosrtc/qos/internal/conference/conferencetest"
	"github.com/qosrtc/qos/internal/detect"
	"github.com/qosrtc/qos/internal/event"
	"github.com/qosrtc/qos/internal/event/eventtest"
	"github.com/qosrtc/qos/internal/quality"
	"github.com/qosrtc/qos/protocol"
)

// TestServersWithoutAnAttribute: a remote end that all connections of several participants have, and that is no participant, is a media
// server: it need not forward a picture. A participant, or the end of one participant alone, is none.
//
// spec: CONF-03, CONF-06
func TestServersWithoutAnAttribute(t *testing.T) {
	f := func(isFault bool, remotes ...string) {
		t.Helper()
		c := &conferencetest.Call{}
		for i, remote := range remotes {
			user := string(rune('a' + i))
			from := len(c.Events)
			c.Event(user, 0, "fabricAdded", `{}`)
			c.Event(user, 1, "fabricSetup", `{"setupMs":1000}`)
			for at := 2.0; at <= 80; at += 2 {
				for _, statsType := range []string{protocol.OutboundRTP, protocol.InboundRTP} {
					for _, media := range []string{protocol.Audio, protocol.Video} {
						about := event.Measurement{StatsType: statsType, MediaType: media, SSRC: int64(10*i + len(statsType) + len(media)), IntervalMs: 2000}
						m := eventtest.With(about, flowing(&about))
						if i == 0 && statsType == protocol.InboundRTP && media == protocol.Video && at > 20 {
							gone(&m)
						}
						c.Add(user, at, event.Event{Kind: event.KindStats, Measured: &m})
					}
				}
			}
			for k := range c.Events[from:] {
				c.Events[from+k].UserID, c.Events[from+k].RemoteUser = user, remote
			}
		}
		s := conference.Fold(c.Events, quality.DefaultBounds())
		require.Equal(t, isFault, has(&s, detect.OneWayMedia), "%v: %v", remotes, s.Issues)
	}
	f(false, "sfu", "sfu")
	f(false, "sfu", "sfu", "sfu")
	f(true, "b", "a")
	f(true, "sfu", "mixer")
	f(true, "b", "c", "b")
}
