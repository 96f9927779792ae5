package conferencetest

import (
	"github.com/qosrtc/qos/internal/call/event"
	"github.com/qosrtc/qos/internal/call/event/eventtest"
	"github.com/qosrtc/qos/protocol"
)

// Call builds the records of a call of a and b, which measure every 2 s.
type Call struct {
	Events []event.Event // in the order in which they were added
	seqs   map[string]uint64
}

// Add adds a record of fabric 1 of a session.
func (c *Call) Add(session string, second float64, e event.Event) {
	if c.seqs == nil {
		c.seqs = map[string]uint64{}
	}
	c.seqs[session]++
	e.AppID, e.ConferenceID, e.Session, e.UserID, e.Seq = "app", "c", session, session, c.seqs[session]
	e.Fabric, e.ConferenceAtMs, e.AtMs = 1, Base, Base+int64(second*1000)
	c.Events = append(c.Events, e)
}

// Event adds a fabric event.
func (c *Call) Event(session string, second float64, name string, data string) {
	c.Add(session, second, event.Event{Kind: event.KindEvent, Name: name, Data: event.ParseData(name, []byte(data))})
}

// Sound adds measurements of received and sent audio, every 2 s until the given second.
func (c *Call) Sound(session string, from, to float64, came, lost float64) {
	for at := from + 2; at <= to; at += 2 {
		for i, statsType := range []string{"inbound-rtp", "outbound-rtp"} {
			e := event.Event{Kind: event.KindStats, Index: i, Measured: new(eventtest.With(event.Measurement{StatsType: statsType, MediaType: "audio", SSRC: int64(i + 1), IntervalMs: 2000}, eventtest.Values{
				protocol.Packets: 100, protocol.RTTMs: 20, protocol.PacketsLost: 0,
			}))}
			if i == 0 {
				e.Measured.Set(protocol.Packets, came)
				e.Measured.Set(protocol.PacketsLost, lost)
			}
			c.seqs[session] -= uint64(i)
			c.Add(session, at, e)
		}
	}
}

// Rows returns the measurements of a session's streams of a type, in the order in which they were added.
func (c *Call) Rows(session, statsType string) (rows []*event.Measurement) {
	for i := range c.Events {
		if e := &c.Events[i]; e.Session == session && e.Measured != nil && e.Measured.StatsType == statsType {
			rows = append(rows, e.Measured)
		}
	}
	return rows
}

// NewCall returns a call that is set up at second 0.
func NewCall() *Call {
	c := &Call{}
	for _, session := range []string{"a", "b"} {
		c.Event(session, 0, "fabricAdded", `{}`)
		c.Event(session, 0, "remoteDescriptionSet", `{}`)
		c.Event(session, 0, "fabricSetup", `{"setupMs":100}`)
	}
	return c
}
